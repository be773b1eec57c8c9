package field

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var abilities = lab.Experiment{
	ID:       "all/abilities",
	Title:    "What each kind does, tried",
	Question: "Does every kind behave as the README's table says: when it gets more keys than it was made for, when keys are deleted, added twice, deleted without being there, and merged?",
	Says:     "docs/choosing.md: what each kind does; all that delete but evergreen and elastic must be asked to delete only keys that were added.",
	Quick:    lab.Params{lab.Int("keys", 5_000), lab.Float("rate", 0.01), lab.Int("queries", 20_000), lab.Int("times capacity", 8)},
	Full:     lab.Params{lab.Int("keys", 100_000), lab.Float("rate", 0.01), lab.Int("queries", 1_000_000), lab.Int("times capacity", 8)},
	Run:      runAbilities,
	Claims:   conductClaims(),
}

// A trial of one kind of conduct says in words what happened, and whether that is
// what the table says.
type trial struct {
	words string
	ok    bool
}

// The kinds of conduct, in the order of the README's table.
var conducts = []struct {
	name string
	try  func(b bench) (trial, error)
}{
	{"grows", bench.tryGrowth},
	{"delete", bench.tryDelete},
	{"adding twice", bench.tryTwice},
	{"deleting an absent key", bench.tryAbsent},
	{"merge", bench.tryMerge},
}

// A bench has what a trial needs.
type bench struct {
	kind    kinds.Kind
	keys    walk.Keys
	n       int
	rate    float64
	queries int
	times   int
}

func (b bench) make(n int) (filter.Filter, error) {
	return build(b.kind, n, b.rate)
}

// filled is a filter for n keys that has so many times n.
func (b bench) filled(times int) (f filter.Filter, full int, err error) {
	if f, err = b.make(b.n); err == nil {
		full, err = fill(f, b.keys, 0, times*b.n)
	}
	return f, full, err
}

func runAbilities(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	all := kinds.All()
	words := make([][]trial, len(all))
	var metrics []lab.Metric[[]trial]
	for j, c := range conducts {
		metrics = append(metrics, lab.Metric[[]trial]{Name: "not as said: " + c.name, Of: func(t []trial) float64 { return lab.OneIf(!t[j].ok) }})
	}
	g, err := lab.Sweep(ctx, e, lab.Spec[[]trial]{
		Dims: []lab.Dim{kindDim(all)}, Trials: 1, Metrics: metrics,
		Trial: func(at lab.At, r *rand.Rand) (trials []trial, err error) {
			i := at.Int("kind")
			b := bench{kind: all[i], keys: walk.NewKeys(r), n: e.Int("keys"), rate: e.Float("rate"), queries: e.Int("queries"), times: e.Int("times capacity")}
			for _, c := range conducts {
				t, err := c.try(b)
				if err = errors.Join(err, ctx.Err()); err != nil {
					return nil, fmt.Errorf("%s: %s: %w", b.kind.Name, c.name, err)
				}
				trials = append(trials, t)
			}
			words[i] = trials
			return trials, nil
		},
	})
	if err != nil {
		return nil, err
	}
	return &lab.Result{Grids: []*lab.Grid{g}, Tables: []lab.Table{conductTable(all, words)}}, nil
}

// conductClaims has a row for each column of the README's table.
func conductClaims() (claims []lab.Claim) {
	for _, c := range conducts {
		claims = append(claims, lab.Claim{Name: c.name, Printed: "what the table of kinds says", Where: "docs/choosing.md", Of: lab.Of("not as said: " + c.name), Is: lab.Zero()})
	}
	return claims
}

func conductTable(all []kinds.Kind, tried [][]trial) lab.Table {
	table := lab.Table{Name: "conduct", Title: "What happened", Columns: []string{"kind"}}
	for _, c := range conducts {
		table.Columns = append(table.Columns, c.name)
	}
	for i, k := range all {
		row := []string{k.Name}
		for _, t := range tried[i] {
			row = append(row, t.words)
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// dash is written where there is nothing.
const dash = "–"

// tryGrowth adds many times the keys that the filter was made for.
func (b bench) tryGrowth() (trial, error) {
	f, full, err := b.filled(b.times)
	if err != nil {
		return trial{}, err
	}
	yes := yeses(f, b.keys, b.queries)
	_, most := theory.BinomialInterval(float64(b.queries), b.rate, lab.Sigmas)
	held := float64(yes) <= most
	t := trial{words: fmt.Sprintf("%d times its keys: %d of %d refused, rate %s", b.times, full, b.times*b.n, lab.Percent(float64(yes)/float64(b.queries)))}
	switch {
	case b.kind.Grows && !b.kind.Drifts:
		t.ok = full == 0 && held
	case b.kind.Grows:
		t.ok = full == 0 && !held
	case strings.HasPrefix(b.kind.PastCapacity, "refuses"):
		t.ok = full > 0
	default:
		t.ok = full == 0 && !held && f.Info().Overfull
	}
	if full == 0 && denied(f, b.keys, 0, b.times*b.n) > 0 {
		t.ok = false
		t.words += ", members denied"
	}
	return t, nil
}

// deletion counts the answers to deletes.
type deletion struct{ done, pinned, notFound int }

func (d deletion) String() string {
	return fmt.Sprintf("%d deleted, %d pinned, %d not found", d.done, d.pinned, d.notFound)
}

// delete asks to take out count keys, each step-th of those that key gives.
func (d *deletion) delete(f filter.Filter, key func(int) filter.Key, count, step int) error {
	for i := 0; i < count; i += step {
		err := filter.Delete(f, key(i))
		switch {
		case err == nil:
			d.done++
		case errors.Is(err, filter.ErrPinned):
			d.pinned++
		case errors.Is(err, filter.ErrNotFound):
			d.notFound++
		default:
			return err
		}
	}
	return nil
}

// tryDelete takes out every second key of a filter that, if it can, has grown.
func (b bench) tryDelete() (trial, error) {
	times := 1
	if b.kind.Grows {
		times = 4
	}
	f, _, err := b.filled(times)
	if err != nil {
		return trial{}, err
	}
	if !b.kind.Abilities().Delete {
		err := filter.Delete(f, b.keys.Member(0))
		return trial{dash, errors.Is(err, errors.ErrUnsupported)}, nil
	}
	var d deletion
	n := times * b.n
	if err := d.delete(f, b.keys.Member, n, 2); err != nil {
		return trial{}, err
	}
	lost := 0
	for i := 1; i < n; i += 2 {
		if !f.MayContain(b.keys.Member(i)) {
			lost++
		}
	}
	t := trial{words: fmt.Sprintf("%v; %d of the others denied", d, lost)}
	t.ok = lost == 0 && d.notFound == 0 && (d.pinned > 0) == b.kind.Pins
	return t, nil
}

// tryTwice adds every key twice and deletes it once.
func (b bench) tryTwice() (trial, error) {
	f, err := b.make(2 * b.n)
	if err != nil {
		return trial{}, err
	}
	if _, err := fill(f, b.keys, 0, b.n); err != nil {
		return trial{}, err
	}
	before := f.Info().Keys
	if _, err := fill(f, b.keys, 0, b.n); err != nil {
		return trial{}, err
	}
	if !b.kind.Abilities().Delete {
		return trial{"ignored", f.Info().Keys == before && b.kind.Duplicates == filter.DuplicatesIgnored}, nil
	}
	var d deletion
	if err := d.delete(f, b.keys.Member, b.n, 1); err != nil {
		return trial{}, err
	}
	gone := denied(f, b.keys, 0, b.n)
	t := trial{words: fmt.Sprintf("then deleted once: %v; %d of %d are gone", d, gone, b.n)}
	switch b.kind.Duplicates {
	case filter.DuplicatesIgnored:
		t.ok = d.done == b.n && gone == b.n // all keys are out: nothing is left to answer yes
	case filter.DuplicatesCounted:
		t.ok = d.notFound == 0 && gone == 0
	default:
		t.ok = d.pinned == b.n && gone == 0
	}
	return t, nil
}

// tryAbsent asks to delete keys that were never added.
func (b bench) tryAbsent() (trial, error) {
	f, _, err := b.filled(1)
	if err != nil {
		return trial{}, err
	}
	if !b.kind.Abilities().Delete {
		return trial{dash, b.kind.AbsentDelete == dash}, nil
	}
	var d deletion
	if err := d.delete(f, b.keys.Stranger, b.queries, 1); err != nil {
		return trial{}, err
	}
	lost := denied(f, b.keys, 0, b.n)
	t := trial{words: fmt.Sprintf("%d of %d not refused; %d of %d members denied then", d.done, b.queries, lost, b.n)}
	if b.kind.AbsentDelete == "refused" {
		t.ok = d.done == 0 && lost == 0
		return t, nil
	}
	// Every one that is taken out was a false positive. A pinned key answers so, too.
	_, most := theory.BinomialInterval(float64(b.queries), b.rate, lab.Sigmas)
	t.ok = d.done > 0 && float64(d.done+d.pinned) <= most
	return t, nil
}
