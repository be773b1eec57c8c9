package scalable

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestInvariantsHoldThroughAnything(t *testing.T) {
	for _, s := range []Shape{{Items: 1, FPR: 0.01}, {Items: 5, FPR: 0.5}, {Items: 30, FPR: 1e-5}} {
		filtertest.Invariants(t, s.Items, 100, func() *Filter { return filtertest.Make(t, Build, s) }, (*Filter).check)
	}
}

func TestChecksFindDamage(t *testing.T) {
	for name, damage := range map[string]func(*Filter){
		"no units":          func(f *Filter) { f.units = nil },
		"keys of a full":    func(f *Filter) { f.units[0].keys-- },
		"keys of the last":  func(f *Filter) { f.units[1].keys += 500 },
		"capacity":          func(f *Filter) { f.units[1].capacity++ },
		"impossible shape":  func(f *Filter) { f.shape.FPR = 1 },
		"another salt":      func(f *Filter) { f.shape.Salt++ },
		"a stricter rate":   func(f *Filter) { f.shape.FPR /= 10 },
		"absurd first unit": func(f *Filter) { f.shape.Items = 1 << 44 },
	} {
		f := filtertest.Make(t, New, Config{Items: 100, FPR: 0.01})
		f.AddBatch(filtertest.Keys(1, 250))
		if err := f.check(); err != nil || len(f.units) != 2 {
			t.Fatalf("%d units: %v", len(f.units), err)
		}
		damage(f)
		if err := f.check(); err == nil {
			t.Errorf("%s: damage was not found", name)
		}
	}
}
