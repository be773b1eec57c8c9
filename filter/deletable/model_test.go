package deletable_test

import (
	"fmt"
	"testing"

	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestModel(t *testing.T) { filtertest.Model(t, subject, 1, effort.Operations(t)/4) }
func TestCollisionArrayModel(t *testing.T) {
	filtertest.Model(t, collisionArray, 2, effort.Operations(t)/4)
}

func FuzzModel(f *testing.F)               { filtertest.Fuzz(f, subject) }
func FuzzCollisionArrayModel(f *testing.F) { filtertest.Fuzz(f, collisionArray) }

// TestAddAndDelete has filters from tiny to large. Since marks only accumulate, it
// takes another filter after some operations.
func TestAddAndDelete(t *testing.T) {
	cases := []struct {
		shape deletable.Shape
		keys  int // at most in the set
	}{
		{deletable.Shape{Bits: 2, Hashes: 1, Regions: 1}, 2},
		{deletable.Shape{Bits: 32, Hashes: 3, Regions: 4}, 3},
		{deletable.Shape{Bits: 32, Hashes: 2, Regions: 16}, 6},
		{deletable.Shape{Bits: 33, Hashes: 5, Regions: 3}, 3},
		{deletable.Shape{Bits: 64, Hashes: 1, Regions: 32}, 20},
		{deletable.Shape{Bits: 240, Hashes: 5, Regions: 24}, 22},
		{deletable.Shape{Bits: 241, Hashes: 64, Regions: 100}, 2},
		{deletable.Shape{Bits: 11_490, Hashes: 5, Regions: 1641}, 1000},
		{deletable.Shape{Bits: 20_001, Hashes: 7, Regions: 10_000}, 1000},
		{deletable.Shape{Bits: 1 << 21, Hashes: 5, Regions: 1 << 18}, 150_000},
	}
	for i, c := range cases {
		t.Run(fmt.Sprintf("%+v", c.shape), func(t *testing.T) {
			each := 6*c.keys + 10
			for salt := range uint64(effort.Operations(t)/len(cases)/each + 1) {
				c.shape.Salt = salt
				f := build(t, c.shape)
				filtertest.AddAndDelete(t, f, func() error { return codec.Whole(f) }, c.keys, uint64(i)<<32|salt, min(each, effort.Operations(t)/len(cases)))
			}
		})
	}
}
