package dynamic_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestModel(t *testing.T)          { filtertest.Model(t, subject, 1, effort.Operations(t)/4) }
func TestManyUnitsModel(t *testing.T) { filtertest.Model(t, many, 2, effort.Operations(t)/4) }
func TestCrowdModel(t *testing.T)     { filtertest.Model(t, crowd, 5, effort.Operations(t)/4) }
func TestPlainModel(t *testing.T)     { filtertest.Model(t, plain, 3, effort.Operations(t)/4) }
func TestParallelModel(t *testing.T)  { filtertest.Model(t, parallel, 4, effort.Operations(t)/4) }

func FuzzModel(f *testing.F)          { filtertest.Fuzz(f, subject) }
func FuzzManyUnitsModel(f *testing.F) { filtertest.Fuzz(f, many) }
func FuzzCrowdModel(f *testing.F)     { filtertest.Fuzz(f, crowd) }
func FuzzPlainModel(f *testing.F)     { filtertest.Fuzz(f, plain) }
func FuzzParallelModel(f *testing.F)  { filtertest.Fuzz(f, parallel) }

// TestAddAndDelete has lists of up to some hundred units.
func TestAddAndDelete(t *testing.T) {
	cases := []struct {
		shape dynamic.Shape
		keys  int // at most in the set
	}{
		{dynamic.Shape{Positions: 16, Hashes: 2, CounterBits: 2, Full: 6}, 30},
		{dynamic.Shape{Positions: 64, Hashes: 6, CounterBits: 4, Full: 32}, 100},
		{small, 300},
		{dynamic.Shape{Positions: 400, Hashes: 1, CounterBits: 8, Full: 100}, 1000},
		{dynamic.Shape{Positions: 2000, Hashes: 14, CounterBits: 4, Full: 1000}, 5000},
		{dynamic.Shape{Positions: 200, Hashes: 20, CounterBits: 2, Full: 100}, 1000},
	}
	for i, c := range cases {
		f := filtertest.Make(t, dynamic.Build, c.shape)
		filtertest.AddAndDelete(t, f, func() error { return codec.Whole(f) }, c.keys, uint64(i), effort.Operations(t)/2/len(cases))
		t.Logf("%+v: %d units, %d keys", c.shape, f.Units(), f.Len())
	}
}
