package partition_test

import (
	"io"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/partition"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

var (
	hashed = filtertest.Subject{
		Name: "partition",
		New: func(items uint64, fpr float64) (filter.Filter, error) {
			return partition.New(partition.Config{Items: items, FPR: fpr})
		},
		Read: read,
	}
	// ids are numbers below 2^32.
	ids = filtertest.Subject{
		Name: "partition ids",
		New: func(items uint64, fpr float64) (filter.Filter, error) {
			return partition.New(partition.Config{Items: items, FPR: fpr, Universe: 1 << 32})
		},
		Read:    read,
		KeyBits: 32,
	}
	// small has units of 1024 ids and a universe that is no power of two.
	small = filtertest.Subject{
		Name: "partition small",
		New: func(items uint64, fpr float64) (filter.Filter, error) {
			return partition.New(partition.Config{Items: items, FPR: fpr, Universe: 5 << 20, Depth: 13, Salt: items})
		},
		Read:    read,
		KeyBits: 22,
	}
)

func read(r io.Reader) (filter.Filter, error) { return partition.Read(r) }

func TestConformance(t *testing.T)      { filtertest.Run(t, hashed) }
func TestIDConformance(t *testing.T)    { runAlone(t, ids) }
func TestSmallConformance(t *testing.T) { runAlone(t, small) }

// runAlone leaves it to the first subject to show that nothing is shared.
func runAlone(t *testing.T, s filtertest.Subject) {
	t.Helper()
	if effort.UnderRace {
		t.Skip("slow under the race detector")
	}
	filtertest.Run(t, s)
}
