package filtertest

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

func TestCommandsFillAByte(t *testing.T) {
	total := 0
	for _, c := range commands() {
		if total += c.weight; c.weight < 1 {
			t.Errorf("%s has weight %d and is never run", c.name, c.weight)
		}
	}
	if total != 256 {
		t.Errorf("the weights add up to %d, want 256", total)
	}
	for value, c := range commandsByValue() {
		if c.run == nil {
			t.Fatalf("value %d stands for nothing", value)
		}
	}
}

// TestSeedScriptsReachEveryCommand takes away the commands one by one: a script
// that reaches it fails.
func TestSeedScriptsReachEveryCommand(t *testing.T) {
	for _, missing := range commands() {
		reached := false
		for _, script := range seedScripts() {
			notes := record(t, func(tb *recorder) {
				m := newModel(tb, exactSubjects["Ignored"], "seed", &tape{script: script})
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

// TestSeedScriptsFindFaults holds that the seeds are worth something before the
// fuzzer has run.
func TestSeedScriptsFindFaults(t *testing.T) {
	for name, h := range map[string]hooks{
		"union loses a key":     {union: func(f *Exact, o filter.Filter) error { err := f.Union(o); loseAny(f); return err }},
		"intersect loses a key": {intersect: func(f *Exact, o filter.Filter) error { err := f.Intersect(o); loseAny(f); return err }},
		"grow loses a key":      {grow: func(f *Exact) error { loseAny(f); return f.Grow() }},
		"delete does nothing":   {delete: func(*Exact, filter.Key) error { return nil }},
		"read loses a key": {read: func(r io.Reader) (*Exact, error) {
			f, err := ReadExact(r)
			if err == nil {
				loseAny(f)
			}
			return f, err
		}},
	} {
		found := slices.ContainsFunc(seedScripts(), func(script []byte) bool {
			return record(t, func(tb *recorder) {
				runModel(tb, h.subject(ExactConfig{}), "seed", &tape{script: script}, maxScript)
			}) != ""
		})
		if !found {
			t.Errorf("%s: no seed finds it", name)
		}
	}
}

func TestModelSaysWhereItFailed(t *testing.T) {
	h := hooks{has: func(*Exact, filter.Key) bool { return false }}
	notes := record(t, func(tb *recorder) { modelOn(tb, h.subject(ExactConfig{}), 42, 1000) })
	for _, part := range []string{"seed 42", "command ", "is in the set and was denied"} {
		if !strings.Contains(notes, part) {
			t.Errorf("notes %q do not tell %q", notes, part)
		}
	}
}

func TestScriptsEndQuietly(t *testing.T) {
	for _, script := range [][]byte{nil, {0}, {255}, bytes.Repeat([]byte{255}, 50), bytes.Repeat([]byte{0}, 5000)} {
		for name, s := range exactSubjects {
			if notes := record(t, func(tb *recorder) { runModel(tb, s, "script", &tape{script: script}, maxScript) }); notes != "" {
				t.Errorf("%s, script of %d: %s", name, len(script), notes)
			}
		}
	}
}
