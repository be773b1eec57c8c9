package perennial_test

import (
	"io"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/perennial"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

var subject = filtertest.Subject{
	Name: "perennial",
	New: func(items uint64, fpr float64) (filter.Filter, error) {
		return perennial.New(perennial.Config{Items: items, FPR: fpr})
	},
	Read:      func(r io.Reader) (filter.Filter, error) { return perennial.Read(r) },
	BoundOnly: true,
}

// tiny begins with three lines.
var tiny = filtertest.Subject{
	Name: "perennial/tiny",
	New: func(_ uint64, fpr float64) (filter.Filter, error) {
		return perennial.New(perennial.Config{FPR: fpr})
	},
	Read:      subject.Read,
	BoundOnly: true,
}

func TestConformance(t *testing.T)     { filtertest.Run(t, subject) }
func TestTinyConformance(t *testing.T) { filtertest.Run(t, tiny) }
