package ebf21

import (
	"compress/gzip"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// seed of all tests here.
const seed = 1

func testRand(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

func testKeys(stream uint64, n int) []filter.Key { return lab.RandomKeys(testRand(stream), n) }

func TestContendersBeginWithTheSameSizeAndDenyNoKey(t *testing.T) {
	const size = 14
	keys := testKeys(1, 5000)
	for name, want := range map[string]uint64{ebf: 1 << size, standard: 1 << size, dbf: 4 << size, parBF: 4 << size, sbf: 0} {
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
	keys := testKeys(2, 20*int(fullKeys(10)))
	built, err := build(sbf, 10, tableThreshold, 1)
	if err == nil {
		err = addAll(built, keys)
	}
	if err != nil {
		t.Fatal(err)
	}
	f := built.(*doublingFilter)
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
	if err == nil {
		err = addAll(f, testKeys(3, n))
	}
	if err != nil {
		t.Fatal(err)
	}
	rate := 0.0
	for _, u := range f.(*doublingFilter).units {
		rate += u.Info().FPR
	}
	if rate > 1.1*tableRate || rate < tableRate/4 {
		t.Errorf("SBF: %g, want %g at most", rate, tableRate)
	}
}

// stub is a filter that takes some keys.
type stub struct {
	room  int
	asked []filter.Key
}

var errBroken = errors.New("broken")

func (s *stub) Add(filter.Key) (bool, error) {
	if s.room--; s.room < 0 {
		return false, errBroken
	}
	return true, nil
}

func (s *stub) MayContain(k filter.Key) bool { s.asked = append(s.asked, k); return true }
func (s *stub) Info() filter.Info            { return filter.Info{} }

func TestKeysThatAreNotTakenAreErrors(t *testing.T) {
	keys := testKeys(10, 5)
	if err := addAll(&stub{room: 3}, keys); !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "adding key 3 of 5") {
		t.Error(err)
	}
	for _, threads := range []int{1, 3} {
		if err := share(&stub{room: 0}, keys[:1], nil, threads); !errors.Is(err, errBroken) {
			t.Errorf("%d threads: %v", threads, err)
		}
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
	if ops[insertion] != 3000 || ops[present] != 500 || ops[absent] != 500 || ops[deletion] != 3000 || ops["closing"] != 1 {
		t.Errorf("%v", ops)
	}
}

func TestMixAsksForKeysThatAreThere(t *testing.T) {
	keys, place, f, ops := testKeys(4, mixLength+20), map[filter.Key]int{}, &stub{room: mixLength + 20}, 0
	for i, k := range keys {
		place[k] = i
	}
	for _, lap := range mix(f, testRand(5), keys, 3, 1) {
		lap.Before()
		if err := lap.Run(); err != nil {
			t.Fatal(err)
		}
		ops += lap.Ops
	}
	if ops != len(keys)*7 || len(f.asked) != len(keys)*6 || f.room != 0 {
		t.Fatalf("%d operations, %d queries, room %d", ops, len(f.asked), f.room)
	}
	for i, k := range f.asked {
		if at, known := place[k]; known != (i%2 == 0) || at > i/6 {
			t.Errorf("query %d is of key %d", i, at)
		}
	}
}

func TestThreadsShareAllKeys(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 16} {
		f, err := build(ebf, 12, 0, 1)
		keys := testKeys(6, 50)
		if err == nil {
			err = share(f, keys, slices.Repeat(keys, 2), threads)
		}
		if err != nil || f.Info().Keys != 50 {
			t.Errorf("%d threads: %d keys, %v", threads, f.Info().Keys, err)
		}
	}
}

// TestTraceIsHeavyTailed looks at the flow sizes: the share of flows with more than
// x packets falls as x^-1.1, so that few flows have most packets.
func TestTraceIsHeavyTailed(t *testing.T) {
	const n, newFlow = 200_000, 0.1
	sizes, largest := map[filter.Key]int{}, 0
	for _, k := range makeTrace(testRand(1), n, newFlow) {
		sizes[k]++
		largest = max(largest, sizes[k])
	}
	if flows := float64(len(sizes)); math.Abs(flows-n*newFlow) > 6*math.Sqrt(n*newFlow) {
		t.Errorf("%v flows, want %v", flows, n*newFlow)
	}
	above := func(x int) (share float64) {
		for _, size := range sizes {
			share += lab.OneIf(size > x) / float64(len(sizes))
		}
		return share
	}
	if slope := math.Log(above(100)/above(10)) / math.Log(10); slope > -0.9 || slope < -1.3 || largest < n/100 {
		t.Errorf("the tail falls as x^%.2f, the largest flow has %d packets", slope, largest)
	}
}

// TestRepeatedPacketsChangeNothing is what Figs. 8a and 9 rest on.
func TestRepeatedPacketsChangeNothing(t *testing.T) {
	packets := makeTrace(testRand(2), 20_000, 0.1)
	all, err := filled(tableShape(12, 1), packets)
	slices.Sort(packets)
	once, err2 := filled(tableShape(12, 1), slices.Compact(packets))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	all.FinishResize()
	once.FinishResize()
	if a, b := all.Info(), once.Info(); a.Keys != b.Keys || a.Fill != b.Fill || a.SlowBits != b.SlowBits {
		t.Errorf("%+v and %+v", a, b)
	}
}

func TestExpansionsDoubleTheSize(t *testing.T) {
	for _, way := range []string{lazy, normal, anew} {
		run, err := expansion(way, tableShape(12, 1), testKeys(15, int(fullKeys(12))))
		if err == nil {
			err = run()
		}
		if err != nil {
			t.Errorf("%s: %v", way, err)
		}
	}
	if _, err := expansion(lazy, elastic.Shape{}, nil); err == nil {
		t.Error("a filter of nothing")
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
		if full := fullKeys(12 + float64(i)); math.Abs(x["keys"]-full) > 0.1*full || x["all slots"] == 0 {
			t.Errorf("expansion %d with %v keys, want %.0f; %v bits", i, x["keys"], full, x["all slots"])
		}
	}
}

func TestLivesAreWithoutFault(t *testing.T) {
	const size, n = 10, 1000
	r, d := testRand(20), lab.Figures{}
	f, err := elastic.Build(tableShape(size, 1))
	if err != nil {
		t.Fatal(err)
	}
	l := life{counts: d, f: f, r: r}
	if err := errors.Join(l.wave(t.Context(), 3, 2000), merge(d, r, size, n)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"denied", "duplicates", "miscounted", "bits left", "absent deleted", "mistaken", "common keys lost", "foreign keys"} {
		if d[name] != 0 {
			t.Errorf("%s: %v", name, d[name])
		}
	}
	if d["length of a union"] != 1 || d["fingerprints of a union"] != 1.2 || math.Abs(d["first compression"]-1) > 0.1 || d["p outside"] == 0 || d["most n over changes"] > 8.0/3 {
		t.Errorf("%v", d)
	}
	l.keys = testKeys(22, 20)
	if err := l.change(false); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("deleting what was never there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.wave(ctx, 1, 10); err == nil {
		t.Error("it went on")
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
	for _, c := range []struct {
		file, text string
		table      int
		want       []uint64
	}{
		{blackFile, "# remark\n1.2.3.4\t9\n::1\t2\n", 0, []uint64{0x01020304}},
		{makerFile, "Registry,Assignment,Name\nMA-L,0A0B0C,\"One\nstreet\"\n", 2, []uint64{0x0a0b0c000000}},
		{routeFile, "10.1.2.3/16\n2001:db8::/32\n10.1.2.3\n", 3, []uint64{0x0a01000010}},
	} {
		list, err := usages(&lab.Env{Params: uses.Params, Data: packed(t, c.file, c.text)})
		if err != nil || !slices.Equal(list[c.table].real, c.want) {
			t.Errorf("%s: %x, %v", c.file, list[c.table].real, err)
		}
	}
}

// A table that lost an entry must show it, and one whose filters claim all.
func TestTablesThatErrAreSeen(t *testing.T) {
	list, err := usages(&lab.Env{Params: uses.Params})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range list {
		r := testRand(23)
		d, err := newDirectory(u, 100, 0.01, r)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(d.grow(1_000, r), d.grow(1_200, r)); err != nil {
			t.Fatal(err)
		}
		if a := d.ask(2_000, r); a["missed"] != 0 || a["wrong"] > 0.03 {
			t.Errorf("%s: %+v", u.name, a)
		}
		in := d.in
		d.in = map[spot]bool{} // all that filters claim is wrong
		if a := d.ask(2_000, r); a["wrong"] < 0.9/float64(u.filters) {
			t.Errorf("%s, nothing in it: %+v", u.name, a)
		}
		for s := range in {
			d.in[spot{(s.at + 1) % u.filters, s.number}] = true // all are elsewhere
		}
		if a := d.ask(2_000, r); a["missed"] == 0 && u.name != routes {
			t.Errorf("%s, all elsewhere: %+v", u.name, a)
		}
	}
}
