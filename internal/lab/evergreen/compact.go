package evergreen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var compact = lab.Experiment{
	ID:       "evergreen/compact",
	Title:    "Compact filters and their limit",
	Question: "What do shorter fingerprints save, and what becomes less than exact?",
	Says: "Package comment: \"when they are a tenth of the rate the filter is full and Add answers ErrFull. Shape.Capacity and Info tell in advance when that is: 1.1e9 keys for 32 bits at 1 %, 4.3e6 for 24\"; " +
		"\"a key that was never added is refused but for the n of 2^(width+8) that look like one that was\"; \"as many Deletes are owed\".",
	Quick: lab.Params{
		lab.Float("rate", 0.001), lab.Int("width", 24), lab.Int("queries", 1_000_000), lab.Int("keys", 100_000), lab.Ints("widths", 24, 32, 40, 56),
	},
	Full: lab.Params{
		lab.Float("rate", 0.01), lab.Int("width", 24), lab.Int("queries", 20_000_000), lab.Int("keys", 4_000_000), lab.Ints("widths", 24, 32, 40, 56),
	},
	Run: runCompact,
}

func runCompact(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	result := &lab.Result{Checks: []lab.Check{
		lab.Exact("keys that 24 bits can hold at 1 %", "4.3e6", capacity(0.01, 24)),
		lab.Exact("keys that 32 bits can hold at 1 %", "1.1e9", capacity(0.01, 32)),
	}}
	e.Progress(0, 3)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	w, err := fill(e, result)
	if err != nil {
		return nil, err
	}
	e.Progress(1, 3)
	if err := strangers(e, w, result); err != nil || ctx.Err() != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	e.Progress(2, 3)
	table, err := widths(ctx, e)
	result.Tables = append(result.Tables, table)
	return result, err
}

func capacity(rate float64, width int) float64 {
	s, err := evergreen.Config{FPR: rate, Width: width}.Shape()
	if err != nil {
		return math.NaN()
	}
	return float64(s.Capacity())
}

// fill adds keys until one is refused.
func fill(e *lab.Env, result *lab.Result) (*walker, error) {
	f, err := evergreen.New(evergreen.Config{FPR: e.Float("rate"), Width: e.Int("width")})
	if err != nil {
		return nil, err
	}
	w := &walker{f: f, keys: newKeys(e.Rand(0))}
	told := f.Info().Capacity
	err = w.grow(math.MaxInt32)
	if !errors.Is(err, filter.ErrFull) {
		return nil, fmt.Errorf("the filter is not full with %d keys: %w", w.len(), err)
	}
	result.Checks = append(result.Checks,
		lab.Holds("keys until Add answers ErrFull", fmt.Sprintf("Info tells in advance: %d", told), fmt.Sprint(w.len()), uint64(w.len()) == told, "the same number"),
		savedAndRead(f),
		kept("rate of the full filter", "keeps the rate it was asked for at every size (package comment)", e.Float("rate"), []look{w.look(e.Int("queries"))}),
		noneOf("no member denied when full", "a key that is in the set is never denied (README)", w.denied(w.len()), w.len(), "members denied"))
	return w, nil
}

// savedAndRead checks that a filter can be had back from what it wrote.
func savedAndRead(f *evergreen.Filter) lab.Check {
	var file bytes.Buffer
	_, err := f.Snapshot().WriteTo(&file)
	ours := "the same number of keys"
	if err == nil {
		var again *evergreen.Filter
		if again, err = evergreen.Read(&file); err == nil && again.Len() != f.Len() {
			err = fmt.Errorf("%d keys of %d", again.Len(), f.Len())
		}
	}
	if err != nil {
		ours = err.Error()
	}
	return lab.Holds("the full filter, saved and read", "what is saved can be read again (README, the example)", ours, err == nil, "it can be read and has as many keys")
}

// strangers asks the full filter about keys that it never had, also to delete
// them, which harms: that is done to a copy.
func strangers(e *lab.Env, w *walker, result *lab.Result) error {
	f, n := w.f, e.Int("queries")
	alike := float64(w.len()) * math.Exp2(-float64(e.Int("width")+8))
	mistaken := 0
	for i := range n {
		if f.Contains(w.keys.stranger(i)) {
			mistaken++
		}
	}
	victim, err := f.Clone()
	if err != nil {
		return err
	}
	wrong, tries := 0, min(n, w.len())
	for i := range tries {
		if err := victim.Delete(w.keys.stranger(i)); err == nil {
			wrong++
		} else if !errors.Is(err, filter.ErrNotFound) {
			return err
		}
	}
	copies, err := owed(f, w.keys.member(0))
	if err != nil {
		return err
	}
	hurt := (&walker{f: victim, keys: w.keys, first: w.first, next: w.next}).denied(w.len())
	result.Checks = append(result.Checks,
		lab.PredictedRate("strangers that Contains mistakes for members", "n/2^(width+8)", alike, mistaken, n),
		// Each wrong delete takes a fingerprint away that the next could have met: far
		// fewer than the spread.
		lab.PredictedRate("strangers that Delete takes out", "n/2^(width+8)", alike, wrong, tries),
		lab.Show("members denied after that", fmt.Sprintf("%d of %d, for %d wrong deletes", hurt, w.len(), wrong)),
		lab.Holds("deletes owed by a key that is added three times more", "as many Deletes are owed (package comment)", fmt.Sprint(copies), copies == 3, "three"))
	return nil
}

// owed makes room, adds a key three times and counts how often it can be deleted
// until as many are left as before.
func owed(f *evergreen.Filter, k filter.Key) (deletes int, err error) {
	g, err := evergreen.Build(f.Shape())
	if err != nil {
		return 0, err
	}
	for range 3 {
		if _, err := g.Add(k); err != nil {
			return 0, err
		}
	}
	for g.Delete(k) == nil {
		deletes++
	}
	return deletes, nil
}

// widths compares the memory of all widths with equal keys.
func widths(ctx context.Context, e *lab.Env) (lab.Table, error) {
	t := lab.Table{
		Name: "widths", Title: fmt.Sprintf("%d keys at %s", e.Int("keys"), percent(e.Float("rate"))),
		Columns: []string{"bits of a fingerprint", "fast bits per key", "slow", "all", "keys it can hold", "strangers taken for members, by formula"},
	}
	for _, width := range e.Ints("widths") {
		f, err := evergreen.New(evergreen.Config{FPR: e.Float("rate"), Width: width})
		if err != nil {
			return t, err
		}
		w := &walker{f: f, keys: newKeys(e.Rand(1))}
		if err := w.grow(e.Int("keys")); err != nil || ctx.Err() != nil {
			return t, errors.Join(err, ctx.Err())
		}
		l, most, alike := w.glance(), "no limit", "none"
		if s := f.Shape(); !s.Exact() {
			most = lab.Digits(float64(s.Capacity()), 3)
			alike = lab.Digits(float64(l.keys)*math.Exp2(-float64(width+8)), 2)
		}
		t.Add(width, l.fast, l.slow, l.fast+l.slow, most, alike)
	}
	return t, nil
}
