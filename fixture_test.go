package everbloom

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/internal/kinds"
)

// secret is easy to find in a text or a file, as letters and as digits.
var secret = [16]byte([]byte("TOP-SECRET-BYTES"))

// hashes are one of each sort.
var hashes = []filter.Hash{{}, filter.XXH3(42), filter.Murmur3(7), filter.SipHash(secret)}

// kindNames are the names of all kinds that there are.
func kindNames() (names []string) {
	for _, k := range kinds.All() {
		names = append(names, k.Name)
	}
	return names
}

// rows returns rows of the table by name, in that order.
func rows(tb testing.TB, names ...string) (table []kinds.Kind) {
	tb.Helper()
	for _, name := range names {
		k, err := kinds.ByName(name)
		if err != nil {
			tb.Fatal(err)
		}
		table = append(table, k)
	}
	return table
}

func mustNew(tb testing.TB, n Needs) *Set {
	tb.Helper()
	s, err := New(n)
	if err != nil {
		tb.Fatalf("%+v: %v", n, err)
	}
	return s
}

// filled returns a set for n, with the words of the given numbers in it.
func filled(tb testing.TB, n Needs, from, to int) *Set {
	tb.Helper()
	s := mustNew(tb, n)
	addWords(tb, s, from, to)
	return s
}

func addWords(tb testing.TB, s *Set, from, to int) {
	tb.Helper()
	for i := from; i < to; i++ {
		if _, err := s.AddString(word(i)); err != nil {
			tb.Fatalf("%s: %v", word(i), err)
		}
	}
}

func word(i int) string { return fmt.Sprintf("word %d", i) }

// wantWords checks that all words of the given numbers are found.
func wantWords(tb testing.TB, s *Set, from, to int) {
	tb.Helper()
	for i := from; i < to; i++ {
		if !s.MayContainString(word(i)) {
			tb.Fatalf("%q is a false negative", word(i))
		}
	}
}

// countWords returns how many of the words are found.
func countWords(s *Set, from, to int) (n int) {
	for i := from; i < to; i++ {
		if s.MayContainString(word(i)) {
			n++
		}
	}
	return n
}

// stored returns what WriteTo writes: all that there is to know about a set.
func stored(tb testing.TB, s *Set) []byte {
	tb.Helper()
	var b bytes.Buffer
	n, err := s.WriteTo(&b)
	if err != nil {
		tb.Fatal(err)
	}
	if n != int64(b.Len()) {
		tb.Errorf("WriteTo reports %d bytes and wrote %d", n, b.Len())
	}
	return b.Bytes()
}

// wantError checks that err is one of its kind and says what it must.
func wantError(tb testing.TB, err, target error, words ...string) {
	tb.Helper()
	if err == nil || target != nil && !errors.Is(err, target) {
		tb.Fatalf("error %v, want %v", err, target)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			tb.Errorf("%q does not say %q", err, w)
		}
	}
}

// together runs the functions at the same time and waits for them. If they block
// each other it shows where, instead of waiting for the time limit of the run.
func together(t *testing.T, functions ...func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var group sync.WaitGroup
	for _, f := range functions {
		group.Go(f)
	}
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		stacks := make([]byte, 1<<20)
		t.Fatalf("still running after a minute:\n%s", stacks[:runtime.Stack(stacks, true)])
	}
}

// exactKind is a row for a kind that the table does not have: exact, growing,
// deleting, and far too large.
var exactKind = kinds.Kind{
	Name:       "exact",
	Number:     filtertest.ExactKind,
	Strength:   "never errs",
	Weakness:   "64 bits per key and more",
	Grows:      true,
	Duplicates: filter.DuplicatesIgnored,

	AbsentDelete: "refused",
	Merging:      "any sizes",

	Maker: kinds.Maker{
		New: func(c kinds.Config) (filter.Filter, error) {
			return filtertest.NewExact(filtertest.ExactConfig{Items: c.Items}), nil
		},
		Read: func(r io.Reader) (filter.Filter, error) { return filtertest.ReadExact(r) },
		Predict: func(kinds.Config, uint64) (filter.Prediction, error) {
			return filter.Prediction{FastBitsPerKey: 64, SlowBitsPerKey: 100, HitLines: 2, MissLines: 2}, nil
		},
		Type: (*filtertest.Exact)(nil),
	},
}

// A plain filter has no abilities, whatever is inside.
type plain struct{ filter.Filter }

// A broken filter has a stored form that fails after some of its bytes.
type broken struct {
	filter.Filter
	cause error
}

const brokenBytes = 1 << 20

func (f broken) Snapshot() io.WriterTo {
	return &frame.Image{
		Header: frame.Header{Kind: frame.Bloom, Version: 1, Payload: 2 * brokenBytes},
		Payload: func(w io.Writer) error {
			_, err := w.Write(make([]byte, brokenBytes))
			return errors.Join(err, f.cause)
		},
	}
}

func exactSet(shards int) *Set {
	filters := make([]filter.Filter, shards)
	for i := range filters {
		filters[i] = filtertest.NewExact(filtertest.ExactConfig{})
	}
	return newSet(filter.Hash{}, filters)
}
