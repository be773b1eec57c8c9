package ebf21

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/lab"
)

func testRand(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// stub is a filter that takes some keys, and knows no other answer than one.
type stub struct {
	room int
	yes  bool
	seen int // queries
}

var errBroken = errors.New("broken")

func (s *stub) Add(filter.Key) (bool, error) {
	if s.room == 0 {
		return false, errBroken
	}
	s.room--
	return true, nil
}

func (s *stub) MayContain(filter.Key) bool { s.seen++; return s.yes }

func (s *stub) Info() filter.Info { return filter.Info{FastBits: 100} }

func TestKeysThatAreNotTakenAreErrors(t *testing.T) {
	keys := testKeys(10, 5)
	if err := addAll(&stub{room: 5}, keys); err != nil {
		t.Error(err)
	}
	if err := addAll(&stub{room: 3}, keys); !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "adding key 3 of 5") {
		t.Error(err)
	}
	if err := addEach(&stub{room: 3}, keys); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	if err := mix(&stub{room: 3}, keys, nil); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

func TestAnswersAreCounted(t *testing.T) {
	keys := testKeys(11, 7)
	if n := denied(&stub{}, keys); n != 7 {
		t.Errorf("%d of 7 denied", n)
	}
	if n := denied(&stub{yes: true}, keys); n != 0 {
		t.Errorf("%d of 7 denied by a filter that says yes", n)
	}
	for yes, want := range map[bool]int{true: 50, false: 0} {
		if n := countYes(&stub{yes: yes}, testRand(12), 50); n != want {
			t.Errorf("%d yeses, want %d", n, want)
		}
	}
	f := &stub{}
	askEach(f, keys)
	if f.seen != 7 {
		t.Errorf("%d keys were asked for", f.seen)
	}
}

func TestRatesAreSampledAtEveryStop(t *testing.T) {
	e := &lab.Env{Params: lab.Params{lab.Int("trials", 3), lab.Int("queries", 40)}}
	always := contender{build: func(int, uint64) (filter.Filter, error) { return &stub{room: 1000, yes: true}, nil }}
	got, err := sampleRates(t.Context(), e, always, 10, []int{10, 50})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []sampled{{keys: 10, fast: 10}, {keys: 50, fast: 2}} {
		if s := got[i]; s.keys != want.keys || s.yes != 120 || s.queries != 120 || s.rate.Mean != 1 || s.rate.N != 3 || math.Abs(s.fast-want.fast) > 1e-9 {
			t.Errorf("%+v", s)
		}
	}
	small := contender{build: func(int, uint64) (filter.Filter, error) { return &stub{room: 20}, nil }}
	if _, err := sampleRates(t.Context(), e, small, 10, []int{10, 50}); !errors.Is(err, errBroken) {
		t.Errorf("a filter that is full: %v", err)
	}
}

func TestRatesAreComparedByTheWiderSpread(t *testing.T) {
	a, b := counted(1e-3)[0], counted(1.2e-3)[0]
	if a.atMost(b) != true || b.atMost(a) || !a.below(b) || b.below(a) {
		t.Errorf("counts of 1000 and 1200: %g", b.spread(a))
	}
	if !a.atMost(a) || a.below(a) {
		t.Error("equal rates differ")
	}
	a.rate.Deviation, a.rate.N = 1e-3, 10 // filters differ that much from each other
	if !b.atMost(a) || a.below(b) {
		t.Errorf("with the spread of filters: %g", b.spread(a))
	}
	if _, ok := counted(0)[0].point(1); ok {
		t.Error("0 is drawn")
	}
	if p, ok := a.point(7); !ok || p.X != 7 || p.Y != 1e-3 || p.Lo >= p.Y {
		t.Errorf("%+v", p)
	}
}

func TestShortTracesReachFewerPeaks(t *testing.T) {
	peaks, stops := reached([]float64{1, 2, 4}, 8, 40) // 2^8 bits: 16 keys are peak 1
	if !slices.Equal(peaks, []float64{1, 2}) || !slices.Equal(stops, []int{16, 32}) {
		t.Errorf("%v at %v", peaks, stops)
	}
}

func TestShardsSplitTheKeys(t *testing.T) {
	s, err := newSharded(12, 1)
	if err != nil || len(s) != parts {
		t.Fatalf("%d shards, %v", len(s), err)
	}
	if bits := s.Info().FastBits; bits != 1<<12/parts {
		t.Errorf("a shard has %d bits", bits)
	}
	keys := testKeys(13, 500)
	if err := addEach(s, keys); err != nil {
		t.Fatal(err)
	}
	if n := denied(s, keys); n != 0 {
		t.Errorf("%d keys denied", n)
	}
	total := uint64(0)
	for i, f := range s {
		n := f.Info().Keys
		if n == 0 {
			t.Errorf("shard %d has no keys", i)
		}
		total += n
	}
	if total != 500 {
		t.Errorf("%d keys", total)
	}
}

func TestCrewsDoAllTheWork(t *testing.T) {
	turns, err := timeCrew(t.Context(), testRand(14), 12, 200, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range inFig7 {
		if n := turns.Ops(lap{c.name, crew(2, 2)}); n != 200*(1+2*2) {
			t.Errorf("%s: %d operations", c.name, n)
		}
	}
}

func TestFixedFiltersDoNotExpand(t *testing.T) {
	for _, eager := range []bool{false, true} {
		f, err := expansible(12, eager, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := addFixed(f, testKeys(15, 5000), 12); err != nil {
			t.Fatal(err)
		}
		if fill := f.Info().Fill; f.Bits() != 1<<12 || fill < tableThreshold-0.01 {
			t.Errorf("2^%v bits, full by %g", math.Log2(float64(f.Bits())), fill)
		}
		if err := addFixed(f, nil, 13); err == nil {
			t.Error("another size was taken")
		}
	}
	if err := rebuild(testKeys(16, 100), 12, 1); err != nil {
		t.Error(err)
	}
}

func TestExpansionsAreTimedThreeWays(t *testing.T) {
	turns, err := timeExpansion(testRand(17), 12, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range ways {
		if turns.Ops(lap{way, expanding(12, 0.5)}) != 1 {
			t.Errorf("%s was not timed once", way)
		}
	}
}

func TestLoadRatesAreKnownOnlyAfterAnOverflow(t *testing.T) {
	b := bucketing{8, 2, 1}
	if rate, known, err := b.loadRate(testKeys(18, 10_000), 1); !known || err != nil || rate <= 0 || rate > 1 {
		t.Errorf("%v, %t, %v", rate, known, err)
	}
	if _, known, err := b.loadRate(testKeys(18, 1), 1); known || err != nil {
		t.Errorf("one key: %t, %v", known, err)
	}
	if _, _, err := (bucketing{8, 0, 0}).loadRate(nil, 1); err == nil {
		t.Error("buckets of nothing")
	}
	e := &lab.Env{Params: lab.Params{lab.Int("trials", 4), lab.Int("items", 1)}}
	if rates, err := measureLoad(t.Context(), e, b, flowsOf); len(rates) != 0 || err != nil {
		t.Errorf("%v, %v", rates, err)
	}
	e.Params[1] = lab.Int("items", 1<<16)
	if rates, err := measureLoad(t.Context(), e, b, flowsOf); len(rates) != 4 || err != nil {
		t.Errorf("%v, %v", rates, err)
	}
}

// TestExpansionsComeAtTheThreshold watches three of them.
func TestExpansionsComeAtTheThreshold(t *testing.T) {
	seen, err := watchExpansions(testRand(19), 12, 3, 2000)
	if err != nil || len(seen) != 3 {
		t.Fatalf("%d expansions, %v", len(seen), err)
	}
	for i, x := range seen {
		if full := fullKeys(12 + i); math.Abs(float64(x.keys)-full) > 0.1*full || math.Abs(x.fill-tableThreshold) > 0.01 {
			t.Errorf("expansion %d with %d keys, full by %g; want %.0f", i, x.keys, x.fill, full)
		}
	}
	trials := [][]expansion{{{keys: 10, queries: 100, before: 10}}, {{keys: 30, queries: 300, before: 90}}}
	if got := before.pooled(trials, 0); got.yes != 100 || got.queries != 400 || math.Abs(got.rate.Mean-0.2) > 1e-12 || got.rate.N != 2 {
		t.Errorf("%+v", got)
	}
}

func TestWavesEndWhereTheyBegan(t *testing.T) {
	e := &lab.Env{Params: lab.Params{lab.Int("initial size, log2", 8), lab.Int("doublings", 3), lab.Int("waves", 2)}}
	events, changes, err := churn(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	up, down := 0, 0
	for i, x := range events {
		if x.up {
			up++
		} else {
			down++
		}
		if i > 0 && x.change <= events[i-1].change || x.change > changes {
			t.Errorf("event %d: %+v", i, x)
		}
	}
	if up != down || up != 2*(3+1+1) {
		t.Errorf("%d expansions, %d compressions", up, down)
	}
	if g := gap([]resize{{100, 10, true}, {150, 25, true}}, 1); g != 0.5 {
		t.Errorf("25 keys after 50 changes: %v", g)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := churn(ctx, e); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestLivesAreWithoutFault(t *testing.T) {
	const n = 1000
	d, err := live(testRand(20), 10, n, 2000)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.merge(testRand(21), 10, n); err != nil {
		t.Fatal(err)
	}
	if d.duplicates != 0 || d.cardinality != n || d.denied != 0 || d.leftFill != 0 || d.absentDeleted != 0 || d.common != n/4 || d.foreign != 0 || d.union != n+n/4 {
		t.Errorf("%+v", d)
	}
	if d.compressedFrom == 0 || d.compressedAt >= n {
		t.Errorf("compressed from %d bits at %v keys", d.compressedFrom, d.compressedAt)
	}
	f, err := elastic.Build(tableShape(10, 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.empty(f, testKeys(22, 20)); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("deleting what was never there: %v", err)
	}
}

func TestOverflowsHaveTheirExactOdds(t *testing.T) {
	e := &lab.Env{Params: lab.Params{lab.Int("trials", 8)}, Seed: seed}
	counts, err := countOverflows(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range bucketSizes {
		odds := overflowOdds(b)
		if odds < 0 || odds > 1 || math.Abs(float64(counts[i])-8*odds) > 3 {
			t.Errorf("%+v: %d of 8 overflow, odds %g", b, counts[i], odds)
		}
	}
	if rows := overflowTable(counts, 8).Rows; len(rows) != 3 || rows[2][5] != "–" || rows[0][5] == "–" {
		t.Errorf("%q", rows)
	}
}

func TestFlowsOfCapturesAreTheSameInEveryTrial(t *testing.T) {
	dir := folder(t, map[string][]byte{"a.pcap": pcap(t, 1, 2, 2, 3)})
	source, err := fig9Flows(&lab.Env{Data: dir})
	if err != nil {
		t.Fatal(err)
	}
	a, b := source.draw(testRand(23), 100), source.draw(testRand(24), 100)
	if len(a) != 3 || !slices.Equal(a, b) || len(source.draw(testRand(23), 2)) != 2 {
		t.Errorf("%x and %x", a, b)
	}
	seeded, err := fig9Flows(&lab.Env{})
	if err != nil || slices.Equal(seeded.draw(testRand(23), 5), seeded.draw(testRand(24), 5)) {
		t.Errorf("seeded flows are the same in every trial, %v", err)
	}
	if _, err := fig9Flows(&lab.Env{Data: t.TempDir()}); err == nil {
		t.Error("a folder without captures")
	}
}
