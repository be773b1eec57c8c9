// Package catalog is the one list of all experiments.
package catalog

import (
	"slices"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/cluster"
	"github.com/everbloom-go/everbloom/internal/lab/dlbf10"
	"github.com/everbloom-go/everbloom/internal/lab/dlcbf06"
	"github.com/everbloom-go/everbloom/internal/lab/dpbf19"
	"github.com/everbloom-go/everbloom/internal/lab/ebf21"
	"github.com/everbloom-go/everbloom/internal/lab/field"
	"github.com/everbloom-go/everbloom/internal/lab/growth"
	"github.com/everbloom-go/everbloom/internal/lab/inpacket"
	"github.com/everbloom-go/everbloom/internal/lab/sum"
)

// All returns every experiment, document by document, each in its own order.
func All() []lab.Experiment {
	return slices.Concat(
		dlbf10.Experiments(),
		inpacket.Experiments(),
		sum.Experiments(),
		dpbf19.Experiments(),
		dlcbf06.Experiments(),
		ebf21.Experiments(),
		growth.Experiments(),
		field.Experiments(),
		cluster.Experiments(),
	)
}
