package elastic_test

import (
	"io"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// kind returns the subject of filters that are made as the Config says, but for
// fewer keys than asked for: the smaller the part, the more they grow.
func kind(name string, part uint64, c elastic.Config) filtertest.Subject {
	return filtertest.Subject{
		Name: name,
		New: func(items uint64, fpr float64) (filter.Filter, error) {
			c := c
			c.Items, c.FPR = items/part+1, fpr
			return elastic.New(c)
		},
		Read: func(r io.Reader) (filter.Filter, error) { return elastic.Read(r) },
	}
}

var (
	subject = kind("elastic", 1, elastic.Config{})
	// tight grows, and has so few slots that trees overflow, in lazy phases, too.
	tight = kind("elastic tight", 8, elastic.Config{Slots: 3, Salt: 5})
)

// TestConformance has fewer hashes in variants, which are slower.
func TestConformance(t *testing.T) {
	if effort.Variant && !effort.Long() {
		filtertest.Run(t, kind("elastic", 1, elastic.Config{Hashes: 4, Slots: 4}))
		return
	}
	filtertest.Run(t, subject)
}

func TestTightConformance(t *testing.T) {
	effort.PlainOnly(t)
	filtertest.Run(t, tight)
}
