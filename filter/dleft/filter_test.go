package dleft_test

import (
	"io"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

var (
	subject = filtertest.Subject{
		Name: "dleft",
		New: func(items uint64, fpr float64) (filter.Filter, error) {
			return dleft.New(dleft.Config{Items: items, FPR: fpr})
		},
		Read: read,
	}
	// odd takes the general path: cells that straddle words.
	odd = filtertest.Subject{
		Name: "dleft odd",
		New: func(items uint64, fpr float64) (filter.Filter, error) {
			return dleft.New(dleft.Config{Items: items, FPR: fpr, Subtables: 3, Cells: 7, Load: 4.5, Counter: 5, Salt: items})
		},
		Read: read,
	}
)

func read(r io.Reader) (filter.Filter, error) { return dleft.Read(r) }

func TestConformance(t *testing.T)    { filtertest.Run(t, subject) }
func TestOddConformance(t *testing.T) { filtertest.Run(t, odd) }
