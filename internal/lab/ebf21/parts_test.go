package ebf21

import (
	"compress/gzip"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/internal/lab"
)

func testRand(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

func testKeys(stream uint64, n int) []filter.Key { return lab.RandomKeys(testRand(stream), n) }

func TestContendersBeginWithTheSameSizeAndDenyNoKey(t *testing.T) {
	const size = 14
	keys := testKeys(1, 5000)
	for name, want := range map[string]uint64{ebf: 1 << size, standard: 1 << size, sbf: 1 << size, dbf: 4 << size, unitDBF: 4 << size, parBF: 4 << size} {
		f, err := build(name, size, tableThreshold, 1)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if bits := f.Info().FastBits; bits > want || bits < want*9/10 {
			t.Errorf("%s begins with %d bits, want %d", name, bits, want)
		}
		if err := addAll(f, keys); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if n := denied(f, keys); n > 0 {
			t.Errorf("%s denies %v keys", name, n)
		}
	}
	if _, err := build("unknown", size, tableThreshold, 1); err == nil {
		t.Error("an unknown filter was built")
	}
}

func TestDoublingFilterAppendsUnitsOfTwiceTheLength(t *testing.T) {
	f, err := newDoubling(bloom.Shape{Bits: 1 << 10, Hashes: tableHashes}, tableThreshold)
	if err != nil {
		t.Fatal(err)
	}
	keys := testKeys(2, 20*int(fullKeys(10)))
	if err := addAll(f, keys); err != nil {
		t.Fatal(err)
	}
	for i, u := range f.units {
		fill := float64(u.SetBits()) / float64(u.Shape().Bits)
		if u.Shape().Bits != 1<<(10+i) || fill > tableThreshold+0.01 || i < len(f.units)-1 && fill < tableThreshold-0.001 {
			t.Errorf("unit %d has %d bits, full by %.3f", i, u.Shape().Bits, fill)
		}
	}
	if len(f.units) != 5 { // 1 + 2 + 4 + 8 < 20 < 31
		t.Errorf("%d units", len(f.units))
	}
	if added, _ := f.Add(keys[0]); added {
		t.Error("a key of the first unit was added again")
	}
	info := f.Info()
	if info.FastBits != 31<<10 || math.Abs(info.FPR-4.3*tableRate) > tableRate {
		t.Errorf("%d bits, rate %g", info.FastBits, info.FPR)
	}
	if _, err := newDoubling(bloom.Shape{}, tableThreshold); err == nil {
		t.Error("a filter of nothing was built")
	}
}

func TestEvenFillGivesTheWholeTheRate(t *testing.T) {
	for _, n := range []float64{1 << 12, 1 << 14, 1 << 18, 1 << 20} {
		fill := evenFill(dbf, peakSize, n)
		s := dynamic.Shape{Positions: 1 << peakSize, Hashes: tableHashes, CounterBits: 4, Full: uint64(fill * (1 << peakSize))}
		if p, err := s.Predict(uint64(n)); err != nil || p.FPR > 1.05*tableRate {
			t.Errorf("%v keys: rate %g, want %g at most: %v", n, p.FPR, tableRate, err)
		}
	}
	const size, n = 12, 1 << 13
	f, err := build(sbf, size, evenFill(sbf, size, n), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := addAll(f, testKeys(3, n)); err != nil {
		t.Fatal(err)
	}
	if rate := f.Info().FPR; rate > 1.1*tableRate || rate < tableRate/4 {
		t.Errorf("SBF: %g, want %g at most", rate, tableRate)
	}
	if evenFill(unitDBF, size, n) != tableThreshold {
		t.Error("the threshold of each unit is not Ω")
	}
}

// stub is a filter that takes some keys.
type stub struct{ room, asked int }

var errBroken = errors.New("broken")

func (s *stub) Add(filter.Key) (bool, error) {
	if s.room--; s.room < 0 {
		return false, errBroken
	}
	return true, nil
}

func (s *stub) MayContain(filter.Key) bool { s.asked++; return true }
func (s *stub) Info() filter.Info          { return filter.Info{} }

func TestKeysThatAreNotTakenAreErrors(t *testing.T) {
	keys := testKeys(10, 5)
	if err := addAll(&stub{room: 3}, keys); !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "adding key 3 of 5") {
		t.Error(err)
	}
	if err := mix(&stub{room: 3}, keys, nil); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	if err := crew(&stub{room: 3}, testRand(1), 8, 1, 1)[0].Run(); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	failed := 0
	for _, lap := range operate(&stub{room: 3}, testRand(1), 2*strideLength, 10) {
		if errors.Is(lap.Run(), errBroken) {
			failed++
		}
	}
	if failed != 2 {
		t.Errorf("%d of two strides failed", failed)
	}
}

func TestOperationsAreDoneOnAllKeys(t *testing.T) {
	f, err := build(ebf, 12, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	ops := map[string]int{}
	for _, lap := range operate(f, testRand(2), 3000, 500) {
		if err := lap.Run(); err != nil {
			t.Fatal(err)
		}
		if ops[lap.Name] += lap.Ops; lap.Name == absent && f.Info().Keys != 3000 {
			t.Errorf("%d keys while it was asked", f.Info().Keys)
		}
	}
	if ops[insertion] != 3000 || ops[present] != 500 || ops[absent] != 500 || ops[deletion] != 3000 || f.Info().Keys != 0 {
		t.Errorf("%v, %d keys left", ops, f.Info().Keys)
	}
}

func TestMixAsksForKeysThatAreThere(t *testing.T) {
	keys := testKeys(4, 20)
	place := map[filter.Key]int{}
	for i, k := range keys {
		place[k] = i
	}
	asked := mixQueries(nil, testRand(5), keys, 10, 3)
	if len(asked) != 10*2*3 {
		t.Fatalf("%d queries", len(asked))
	}
	for i, k := range asked {
		if at, known := place[k]; known != (i%2 == 0) || at > 10+i/6 {
			t.Errorf("query %d is of key %d", i, at)
		}
	}
	f := &stub{room: 10}
	if err := mix(f, keys[10:], asked); err != nil || f.asked != 60 || f.room != 0 {
		t.Errorf("%+v, %v", f, err)
	}
	laps := crew(&stub{room: 300}, testRand(6), 200, 2, 1)
	if laps[0].Ops != 200*5 || laps[0].Run() != nil {
		t.Errorf("%d operations", laps[0].Ops)
	}
}

func TestExpansionsDoubleTheSize(t *testing.T) {
	for _, way := range []string{lazy, normal, anew} {
		run, err := expansion(way, testRand(15), 12, 5000)
		if err == nil {
			err = run()
		}
		if err != nil {
			t.Errorf("%s: %v", way, err)
		}
	}
	if _, err := expansion(lazy, testRand(15), 1, 10); err == nil {
		t.Error("a filter of two bits")
	}
}

func TestLoadRatesAreKnownOnlyAfterAnOverflow(t *testing.T) {
	b := bucketing{8, 2, 1}
	if n, full, err := b.fill(fig9Hashes, testKeys(18, 10_000), 1); !full || err != nil || n == 0 {
		t.Errorf("%d, %t, %v", n, full, err)
	}
	if _, full, err := b.fill(fig9Hashes, testKeys(18, 1), 1); full || err != nil {
		t.Errorf("one key: %t, %v", full, err)
	}
	if _, _, err := (bucketing{8, 0, 0}).fill(fig9Hashes, nil, 1); err == nil {
		t.Error("buckets of nothing")
	}
}

// TestExpectedLoadRate compares the integral with the first overflow of buckets at
// which fingerprints are thrown without a filter.
func TestExpectedLoadRate(t *testing.T) {
	r := testRand(6)
	for _, b := range []bucketing{{10, 2, 1}, {10, 8, 1}, {12, 4, 1}} {
		rates := make([]float64, 200)
		for i := range rates {
			counts, thrown := make([]float64, 1<<int(b.size)), 0.0
			for {
				at := r.IntN(len(counts))
				if counts[at]++; counts[at] > b.slots {
					break
				}
				thrown++
			}
			rates[i] = thrown / b.slotsInAll()
		}
		if got := lab.Mean(rates); !got.Within(b.expected(), 5) {
			t.Errorf("seed %d: %+v: %v thrown, %g expected", seed, b, got, b.expected())
		}
	}
	a, b, between := (bucketing{10, 8, 3}).expected(), (bucketing{10, 9, 3}).expected(), (bucketing{10, 8.5, 3}).expected()
	if a >= b || math.Abs(between-(a+b)/2) > 1e-12 {
		t.Errorf("%g, %g and %g between", a, b, between)
	}
	if slots := (bucketing{10, 8, 3}).slotsInAll(); slots != 8*(1024+342) {
		t.Errorf("%v slots", slots)
	}
}

// TestExpansionsComeAtTheThreshold watches three of them.
func TestExpansionsComeAtTheThreshold(t *testing.T) {
	seen, err := watchExpansions(t.Context(), testRand(19), 12, 3, 2000)
	if err != nil || len(seen) != 3 {
		t.Fatalf("%d expansions, %v", len(seen), err)
	}
	for i, x := range seen {
		if full := fullKeys(12 + float64(i)); math.Abs(x.keys-full) > 0.1*full || math.Abs(x.fill-tableThreshold) > 0.01 {
			t.Errorf("expansion %d with %v keys, full by %g; want %.0f", i, x.keys, x.fill, full)
		}
	}
}

func TestWavesEndWhereTheyBegan(t *testing.T) {
	events, err := wave(t.Context(), testRand(7), 8, 3)
	if err != nil || len(events) != 2*(3+2) || !math.IsNaN(events[0].p) {
		t.Fatalf("%+v, %v", events, err)
	}
	for i, x := range events[1:] {
		if before := events[i]; x.change <= before.change || x.p != x.keys/before.keys || x.gap != x.keys/(x.change-before.change) {
			t.Errorf("event %d: %+v", i+1, x)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := wave(ctx, testRand(7), 8, 3); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestLivesAreWithoutFault(t *testing.T) {
	const n = 1000
	d := deeds{}
	if err := errors.Join(d.live(testRand(20), 10, n, 2000), d.merge(testRand(21), 10, n)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"denied", "duplicates", "miscounted", "bits left", "absent deleted", "mistaken", "common keys lost", "foreign keys"} {
		if d[name] != 0 {
			t.Errorf("%s: %v", name, d[name])
		}
	}
	if d["length of a union"] != 1 || math.Abs(d["fingerprints of a union"]-1.2) > 0.06 || d["lateness"] == 0 {
		t.Errorf("%v", d)
	}
	f, err := filled(10, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.empty(f, testKeys(22, 20)); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("deleting what was never there: %v", err)
	}
}

// packed makes a folder with one packed file.
func packed(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	w := gzip.NewWriter(file)
	_, _ = w.Write([]byte(text))
	if err := errors.Join(w.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRealEntriesAreRead(t *testing.T) {
	listed, _, _, err := realEntries(&lab.Env{Data: packed(t, blackFile, "# remark\n1.2.3.4\t9\n::1\t2\n255.0.0.1\t1\n")})
	if err != nil || len(listed) != 2 || listed[0] != 0x01020304 {
		t.Errorf("%x, %v", listed, err)
	}
	_, makers, _, err := realEntries(&lab.Env{Data: packed(t, makerFile, "Registry,Assignment,Name\nMA-L,0A0B0C,\"One\nstreet\"\n")})
	if err != nil || len(makers) != 1 || makers[0] != 0x0a0b0c {
		t.Errorf("%x, %v", makers, err)
	}
	_, _, prefixes, err := realEntries(&lab.Env{Data: packed(t, routeFile, "10.1.2.3/16\n2001:db8::/32\n")})
	if err != nil || len(prefixes) != 1 || prefixes[0] != 0x0a01000010 {
		t.Errorf("%x, %v", prefixes, err)
	}
	if _, _, _, err := realEntries(&lab.Env{Data: packed(t, routeFile, "10.1.2.3\n")}); err == nil {
		t.Error("an address is no prefix")
	}
}

// A table that lost an entry must show it, and one whose filters claim all.
func TestTablesThatErrAreSeen(t *testing.T) {
	list, err := usages(&lab.Env{Params: uses.Quick})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range list {
		r := testRand(23)
		d, err := newDirectory(u, "evergreen", 100, 0.01, r)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(d.grow(1_000, r), d.grow(1_200, r)); err != nil {
			t.Fatal(err)
		}
		if a := d.ask(2_000, r); a.missed != 0 || a.wrong > 0.03 || a.fast == 0 {
			t.Errorf("%s: %+v", u.name, a)
		}
		in := d.in
		d.in = map[spot]bool{} // all that filters claim is wrong
		if a := d.ask(2_000, r); a.wrong < 0.9/float64(u.filters) {
			t.Errorf("%s, nothing in it: %+v", u.name, a)
		}
		for s := range in {
			d.in[spot{(s.at + 1) % u.filters, s.number}] = true // all are elsewhere
		}
		if a := d.ask(2_000, r); a.missed == 0 && u.name != routes {
			t.Errorf("%s, all elsewhere: %+v", u.name, a)
		}
	}
}
