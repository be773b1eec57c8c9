package filtertest

import (
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

func TestWanderAsksAfterEachStep(t *testing.T) {
	const steps = 300
	build := func() *Exact { return NewExact(ExactConfig{Items: 10}) }
	asked := 0
	Wander(t, 1, steps, build, func(*Exact) error { asked++; return nil })
	if asked != steps {
		t.Errorf("asked %d times in %d steps", asked, steps)
	}
	damaged := func(f *Exact) error {
		if f.set.Has((Stream{}).Present(7)) {
			return errPlanted
		}
		return nil
	}
	if notes := record(t, func(tb *recorder) { Wander(tb, 1, steps, build, damaged) }); !strings.HasSuffix(notes, "planted") {
		t.Errorf("the notes are %q", notes)
	}
}

// TestWanderGoesEverywhere counts what is done to a filter that can do all, and
// that both present and absent keys are deleted.
func TestWanderGoesEverywhere(t *testing.T) {
	done := make(map[string]int)
	h := hooks{
		add: func(f *Exact, k filter.Key) (bool, error) { done["add"]++; return f.Add(k) },
		delete: func(f *Exact, k filter.Key) error {
			err := f.Delete(k)
			if err == nil {
				done["delete"]++
			} else {
				done["delete absent"]++
			}
			return err
		},
		union:     func(f *Exact, other filter.Filter) error { done["union"]++; return f.Union(other) },
		intersect: func(f *Exact, other filter.Filter) error { done["intersect"]++; return f.Intersect(other) },
		grow:      func(f *Exact) error { done["grow"]++; return f.Grow() },
	}
	Wander(t, 2, 500, func() *faulty { return &faulty{NewExact(counted), h} }, func(*faulty) error { return nil })
	for _, what := range []string{"add", "delete", "delete absent", "union", "intersect", "grow"} {
		if done[what] < 10 {
			t.Errorf("%s: done %d times in 500 steps", what, done[what])
		}
	}
}
