package scalable_test

import (
	"io"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/scalable"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

var (
	subject = filtertest.Subject{
		Name: "scalable",
		New: func(items uint64, fpr float64) (filter.Filter, error) {
			return scalable.New(scalable.Config{Items: items, FPR: fpr})
		},
		Read: read,
	}
	// grown has eight units when it holds what it was made for.
	grown = filtertest.Subject{
		Name: "scalable/grown",
		New: func(items uint64, fpr float64) (filter.Filter, error) {
			return scalable.New(scalable.Config{Items: 1 + items/200, FPR: fpr, Salt: items})
		},
		Read: read,
	}
)

func read(r io.Reader) (filter.Filter, error) { return scalable.Read(r) }

func TestConformance(t *testing.T)      { filtertest.Run(t, subject) }
func TestGrownConformance(t *testing.T) { filtertest.Run(t, grown) }
