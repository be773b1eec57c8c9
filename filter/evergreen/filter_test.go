package evergreen_test

import (
	"io"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

var (
	subject = filtertest.Subject{
		Name: "evergreen",
		New: func(_ uint64, fpr float64) (filter.Filter, error) {
			return evergreen.New(evergreen.Config{FPR: fpr})
		},
		Read: read,
	}
	// presized has room for all keys from the start.
	presized = filtertest.Subject{
		Name: "evergreen presized",
		New: func(items uint64, fpr float64) (filter.Filter, error) {
			return evergreen.New(evergreen.Config{Items: items, FPR: fpr, Salt: 7})
		},
		Read: read,
	}
	compact = filtertest.Subject{
		Name: "evergreen compact",
		New: func(_ uint64, fpr float64) (filter.Filter, error) {
			return evergreen.New(evergreen.Config{FPR: fpr, Width: 32})
		},
		Read: read,
	}
)

func read(r io.Reader) (filter.Filter, error) { return evergreen.Read(r) }

func TestConformance(t *testing.T)        { filtertest.Run(t, subject) }
func TestCompactConformance(t *testing.T) { filtertest.Run(t, compact) }

func TestPresizedConformance(t *testing.T) {
	effort.PlainOnly(t) // it differs from the others in its size only
	filtertest.Run(t, presized)
}
