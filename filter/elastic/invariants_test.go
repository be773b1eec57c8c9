package elastic

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestInvariantsHoldThroughAnything(t *testing.T) {
	for i, s := range []Shape{
		{Bits: 16, Hashes: 3, HashBits: 40, Slots: 2, Branches: 3, Growth: 6, Threshold: 0.5},
		{Bits: 64, Hashes: 4, HashBits: 40, Slots: 4, Branches: 1, Growth: 4, Threshold: 0.4},
		{Bits: 32, Hashes: 5, HashBits: 40, Slots: 1, Branches: 7, Growth: 5, Threshold: 0.6},
		{Bits: 1, Hashes: 2, HashBits: 40, Slots: 3, Branches: 2, Growth: 8, Threshold: 0.7},
	} {
		build := func() *Filter {
			f := build1(t, s)
			f.pace = 1 // so that lazy phases last
			return f
		}
		filtertest.Invariants(t, uint64(i), scale(1000), build, (*Filter).check)
	}
}

func TestChecksFindDamage(t *testing.T) {
	for name, damage := range map[string]func(*Filter){
		"count of bits":         func(f *Filter) { f.table.set++ },
		"count of fingerprints": func(f *Filter) { f.table.prints-- },
		"count of keys":         func(f *Filter) { f.keys = 99 },
		"unsplit trees":         func(f *Filter) { f.table.slow.unsplit++ },
		"size":                  func(f *Filter) { f.table.slow.doublings-- },
		"lost bit":              func(f *Filter) { f.table.set -= f.fast.Load().clear(f.numbersOf(1)[0] & (f.Bits() - 1)) },
		"stray bit":             func(f *Filter) { f.table.set += f.fast.Load().set(5) },
		"fingerprint elsewhere": func(f *Filter) {
			x := f.numbersOf(1)[0]
			t, branch := f.table.treeOf(x)
			t.take(branch, x>>t.sizeBits)
			t.add(branch, x>>t.sizeBits^1)
		},
		"sign":             func(f *Filter) { f.table.slow.tree(0, 3).setSign(0) },
		"impossible shape": func(f *Filter) { f.shape.Slots = 0 },
		"hole in level 1": func(f *Filter) {
			t := f.table.slow.tree(0, 0)
			t.setCount(t.branches, 1)
			t.setCount(0, 0)
		},
	} {
		f := build1(t, Shape{Bits: 64, Hashes: 3, HashBits: 30, Slots: 2, Branches: 3, Growth: 4, Threshold: 1})
		add(t, f, 1, 2, 3)
		f.Grow()
		f.FinishResize()
		intact(t, f, "undamaged")
		damage(f)
		if err := f.check(); err == nil {
			t.Errorf("%s: damage was not found", name)
		}
	}
}
