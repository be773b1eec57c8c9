package compare

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var files = lab.Experiment{
	ID:       "all/files",
	Title:    "Files and damage",
	Question: "Does a file give back the filter that was saved, and is every damaged bit, every missing and every additional byte noticed?",
	Says:     "README: \"saves filters in files that notice every damaged bit\".",
	Quick:    lab.Params{lab.Int("keys", 300), lab.Float("rate", 0.01), lab.Int("most damages", 4_000), lab.Int("queries", 20_000)},
	Full:     lab.Params{lab.Int("keys", 1_000), lab.Float("rate", 0.01), lab.Int("most damages", 1_000_000), lab.Int("queries", 1_000_000)},
	Run:      runFiles,
}

// A file is what became of one.
type file struct {
	name                 string
	bytes                int
	unequal              int // answers of the filter that was read back
	flips, flipsOK       int // bits that were changed, and files that were read all the same
	cuts, cutsOK         int // likewise, files that were cut short
	trailing, trailingOK int // likewise, with a byte more
}

func runFiles(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	all := entrants()
	found, err := lab.TryTrials(ctx, e, len(all), func(i int, r *rand.Rand) (file, error) {
		return damage(ctx, e, all[i], r)
	})
	if err != nil {
		return nil, err
	}
	t := lab.Table{
		Name: "files", Title: "Files that were changed and read",
		Columns: []string{"kind", "bytes", "unequal answers after reading", "bits flipped, one at a time", "of these unnoticed", "cut short", "unnoticed", "bytes added", "unnoticed"},
		Notes:   []string{"Where there are more bits than damages, they are chosen at random."},
	}
	var sum file
	for _, f := range found {
		t.Add(f.name, f.bytes, f.unequal, f.flips, f.flipsOK, f.cuts, f.cutsOK, f.trailing, f.trailingOK)
		sum.add(f)
	}
	return &lab.Result{Tables: []lab.Table{t}, Checks: sum.checks(len(found) * e.Int("queries"))}, nil
}

func (f *file) add(g file) {
	f.unequal += g.unequal
	f.flips, f.flipsOK = f.flips+g.flips, f.flipsOK+g.flipsOK
	f.cuts, f.cutsOK = f.cuts+g.cuts, f.cutsOK+g.cutsOK
	f.trailing, f.trailingOK = f.trailing+g.trailing, f.trailingOK+g.trailingOK
}

func (f *file) checks(answers int) []lab.Check {
	none := func(name string, happened, of int, what string) lab.Check {
		return lab.Holds(name, "files notice every damaged bit (README)", fmt.Sprintf("%d of %d %s", happened, of, what), happened == 0 && of > 0, "not one")
	}
	return []lab.Check{
		none("answers of filters that were saved and read", f.unequal, answers, "answers differ"),
		none("a flipped bit", f.flipsOK, f.flips, "files read all the same"),
		none("a file that is cut short", f.cutsOK, f.cuts, "files read all the same"),
		none("a byte too many", f.trailingOK, f.trailing, "files read all the same"),
	}
}

// damage saves a filter and spoils the file in all ways.
func damage(ctx context.Context, e *lab.Env, x entrant, r *rand.Rand) (file, error) {
	n, k := e.Int("keys"), newKeys(r)
	f, err := x.make(uint64(n), e.Float("rate"))
	if err != nil {
		return file{}, err
	}
	if _, err := fill(f, k, 0, n); err != nil {
		return file{}, err
	}
	snapshot, err := filter.Snapshot(f)
	if err != nil {
		return file{}, err
	}
	var saved bytes.Buffer
	if _, err := snapshot.WriteTo(&saved); err != nil {
		return file{}, err
	}
	out := file{name: x.name, bytes: saved.Len()}
	again, err := kinds.Read(bytes.NewReader(saved.Bytes()))
	if err != nil {
		return out, fmt.Errorf("%s: %w", x.name, err)
	}
	for i := range e.Int("queries") {
		if k := k.stranger(i); f.MayContain(k) != again.MayContain(k) {
			out.unequal++
		}
	}
	out.unequal += denied(again, k, 0, n)
	out.spoil(ctx, saved.Bytes(), e.Int("most damages"), r)
	return out, ctx.Err()
}

// spoil changes a file, reads it, and changes it back.
func (f *file) spoil(ctx context.Context, data []byte, most int, r *rand.Rand) {
	reads := func(data []byte) int {
		if _, err := kinds.Read(bytes.NewReader(data)); err == nil {
			return 1
		}
		return 0
	}
	for i := range chosen(8*len(data), most, r) {
		data[i/8] ^= 1 << (i % 8)
		f.flipsOK += reads(data)
		f.flips++
		data[i/8] ^= 1 << (i % 8)
		if ctx.Err() != nil {
			return
		}
	}
	for i := range chosen(len(data), most/8, r) {
		f.cutsOK += reads(data[:i])
		f.cuts++
	}
	for b := range 256 {
		f.trailingOK += reads(append(data[:len(data):len(data)], byte(b)))
		f.trailing++
	}
}

// chosen gives all numbers below n, or most of them at random.
func chosen(n, most int, r *rand.Rand) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range min(n, most) {
			if n > most {
				i = r.IntN(n)
			}
			if !yield(i) {
				return
			}
		}
	}
}
