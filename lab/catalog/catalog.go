// Package catalog is the one list of all experiments.
package catalog

import (
	"slices"

	"github.com/everbloom-go/everbloom/lab"
	"github.com/everbloom-go/everbloom/lab/compare"
	"github.com/everbloom-go/everbloom/lab/dlbf10"
	"github.com/everbloom-go/everbloom/lab/dlcbf06"
	"github.com/everbloom-go/everbloom/lab/dpbf19"
	"github.com/everbloom-go/everbloom/lab/ebf21"
	"github.com/everbloom-go/everbloom/lab/evergreen"
	"github.com/everbloom-go/everbloom/lab/inpacket"
	"github.com/everbloom-go/everbloom/lab/sum"
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
		evergreen.Experiments(),
		compare.Experiments(),
	)
}
