package partition_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/partition"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// deep has units of 2 to 64 ids, so that few keys make a tree of many levels.
var deep = filtertest.Subject{
	Name: "partition deep",
	New: func(items uint64, fpr float64) (filter.Filter, error) {
		return partition.New(partition.Config{Items: items, FPR: fpr, Universe: 1 << 22, Depth: 16 + int(items%6)})
	},
	Read:    read,
	KeyBits: 22,
}

func TestModel(t *testing.T)     { filtertest.Model(t, hashed, 1, effort.Operations(t)/2) }
func TestIDModel(t *testing.T)   { filtertest.Model(t, ids, 2, effort.Operations(t)/4) }
func TestDeepModel(t *testing.T) { filtertest.Model(t, deep, 3, effort.Operations(t)/4) }

func FuzzModel(f *testing.F)     { filtertest.Fuzz(f, hashed) }
func FuzzDeepModel(f *testing.F) { filtertest.Fuzz(f, deep) }
