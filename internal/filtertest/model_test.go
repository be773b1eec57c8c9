package filtertest

import (
	"errors"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

func TestCommandsFillAByte(t *testing.T) {
	for _, w := range []weighting{anyCommand, addAndDelete, invariants} {
		total := 0
		for _, c := range commands() {
			total += c.weights[w]
		}
		if total != 256 {
			t.Errorf("the weights add up to %d, want 256", total)
		}
	}
}

// TestSeedScriptsReachEveryCommand takes away the commands one by one: a script
// that reaches it fails.
func TestSeedScriptsReachEveryCommand(t *testing.T) {
	for _, missing := range commands() {
		reached := missing.weights[anyCommand] == 0
		for _, script := range seedScripts() {
			notes := record(t, func(tb *recorder) {
				m := newModel(tb, exactSubjects["Ignored"], anyCommand, scripted(script))
				for value := range m.commands {
					if m.commands[value].name == missing.name {
						m.commands[value].run = func(m *model) { m.fail("reached") }
					}
				}
				m.play(maxScript)
			})
			reached = reached || strings.Contains(notes, "reached")
		}
		if !reached {
			t.Errorf("no seed reaches %s", missing.name)
		}
	}
}

func TestModelSaysWhereItFailed(t *testing.T) {
	h := hooks{MayContain: func(*Exact, filter.Key) bool { return false }}
	notes := record(t, func(tb *recorder) { Model(tb, h.subject(ExactConfig{}), 43, 1000) })
	for _, part := range []string{"seed 43", "command ", "is in the set and was not found"} {
		if !strings.Contains(notes, part) {
			t.Errorf("notes %q do not tell %q", notes, part)
		}
	}
}

// TestWeightingsDoEverything counts what is done to filters that can do all: how often
// keys come, come again, go and come back, and the rest.
func TestWeightingsDoEverything(t *testing.T) {
	const keys = "add again back delete pinned"
	const others = keys + " absent union intersect grow clear"
	nothing := func() error { return nil }
	for _, config := range []ExactConfig{{}, counted, pinning} {
		done := make(map[string]int)
		AddAndDelete(t, counting(done).faulty(NewExact(config)), nothing, 20, 1, 3000)
		wantDone(t, config, done, keys)
		done = make(map[string]int)
		build := func() *faulty { return counting(done).faulty(NewExact(config)) }
		Invariants(t, 2, 3000, build, func(*faulty) error { return nil })
		wantDone(t, config, done, others)
	}
}

func wantDone(t *testing.T, config ExactConfig, done map[string]int, what string) {
	t.Helper()
	for what := range strings.FieldsSeq(what) {
		if done[what] < 3 && (what != "pinned" || config == pinning) {
			t.Errorf("%+v: %s was done %d times", config, what, done[what])
		}
	}
}

// counting counts operations by name.
func counting(done map[string]int) hooks {
	gone := make(map[filter.Key]bool)
	return hooks{
		Add: func(f *Exact, k filter.Key) (bool, error) {
			switch {
			case f.set.Has(k):
				done["again"]++
			case gone[k]:
				done["back"]++
			default:
				done["add"]++
			}
			return f.Add(k)
		},
		Delete: func(f *Exact, k filter.Key) error {
			err := f.Delete(k)
			switch {
			case err == nil:
				gone[k] = true
				done["delete"]++
			case errors.Is(err, filter.ErrPinned):
				done["pinned"]++
			default:
				done["absent"]++
			}
			return err
		},
		Union:     func(f *Exact, other filter.Filter) error { done["union"]++; return f.Union(other) },
		Intersect: func(f *Exact, other filter.Filter) error { done["intersect"]++; return f.Intersect(other) },
		Grow:      func(f *Exact) error { done["grow"]++; return f.Grow() },
		Clear:     func(f *Exact) error { done["clear"]++; return f.Clear() },
	}
}

func TestInvariantsAreAskedForAfterEachCommand(t *testing.T) {
	const steps = 300
	build := func() *Exact { return NewExact(ExactConfig{Items: 10}) }
	asked := 0
	Invariants(t, 1, steps, build, func(*Exact) error { asked++; return nil })
	if asked < steps {
		t.Errorf("asked %d times in %d steps", asked, steps)
	}
	damaged := func(f *Exact) error {
		if f.set.Has(Stream{Seed: 3}.Present(7)) {
			return errPlanted
		}
		return nil
	}
	if notes := record(t, func(tb *recorder) { Invariants(tb, 1, steps, build, damaged) }); !strings.HasSuffix(notes, "planted") {
		t.Errorf("the notes are %q", notes)
	}
	broken := func() error { return errPlanted }
	if notes := record(t, func(tb *recorder) { AddAndDelete(tb, build(), broken, 20, 1, 10) }); !strings.HasSuffix(notes, "planted") {
		t.Errorf("the notes are %q", notes)
	}
}
