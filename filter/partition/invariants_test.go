package partition

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// smallShapes split early, in several ways.
var smallShapes = []Shape{
	example(),
	{Universe: 1000, IDBits: 10, Depth: 10, UnitBits: 64, Hashes: 1, Full: 16},
	{Universe: 1, UnitBits: 1, Hashes: 1, Full: 1},
	{IDBits: 64, Depth: 60, UnitBits: 70, Hashes: 3, Full: 20, Salt: 5},
	{IDBits: 20, Depth: 12, UnitBits: 100, Hashes: 4, Full: 100, Count: 2},
	{IDBits: 9, Depth: 9, UnitBits: 16, Hashes: 9, Full: 4}, // one id is too much already
}

func TestInvariantsHoldThroughAnything(t *testing.T) {
	for i, s := range smallShapes {
		filtertest.Invariants(t, uint64(i), 150, func() *Filter { return build(t, s) }, (*Filter).check)
	}
}

func TestChecksFindDamage(t *testing.T) {
	for name, damage := range map[string]func(*Filter){
		"a set bit more":      func(f *Filter) { f.units.at(1)[0] ^= 1 << 40 },
		"tally":               func(f *Filter) { f.count++ },
		"count of set bits":   func(f *Filter) { f.leaves[0].set++; f.set++ },
		"depth":               func(f *Filter) { f.leaves[0].depth++ },
		"base":                func(f *Filter) { f.leaves[0].base ^= 1 << 19 },
		"lost leaf":           func(f *Filter) { f.tree.put(f.leaves[0].base, int(f.leaves[0].depth), none) },
		"wrong leaf":          func(f *Filter) { f.tree.put(f.leaves[0].base, int(f.leaves[0].depth), leafOf(1)) },
		"table":               func(f *Filter) { f.tree.top[0] = none },
		"small table":         func(f *Filter) { f.tree.topBits--; f.tree.top = f.tree.top[:1<<f.tree.topBits] },
		"order of offsets":    func(f *Filter) { d := f.leaves[0].data; d[0], d[3], d[1], d[4] = d[3], d[0], d[4], d[1] },
		"room for offsets":    func(f *Filter) { l := &f.leaves[0]; l.data = append(l.data, 0) },
		"room for units":      func(f *Filter) { f.units.slabs = append(f.units.slabs, make([]uint64, 1)) },
		"room for leaves":     func(f *Filter) { f.leaves = append(make([]leaf, 0, 1000), f.leaves...) },
		"shape":               func(f *Filter) { f.shape.Hashes = 0 },
		"split too late":      func(f *Filter) { f.shape.Full = 160 },
		"split too early":     func(f *Filter) { f.shape.Full = 640 },
		"inner node too deep": func(f *Filter) { f.shape.Depth = 1 },
	} {
		f := build(t, Shape{Universe: 1 << 20, IDBits: 20, Depth: 14, UnitBits: 640, Hashes: 7, Full: 320})
		addUniform(t, f, 300, 1)
		if err := f.check(); err != nil {
			t.Fatal(err)
		}
		damage(f)
		if err := f.check(); err == nil {
			t.Errorf("%s: damage was not found", name)
		}
	}
}
