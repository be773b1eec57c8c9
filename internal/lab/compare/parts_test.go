package compare

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
)

func TestStrangersAreNeverMembers(t *testing.T) {
	k := testKeys()
	seen := map[filter.Key]bool{}
	for i := range 10_000 {
		seen[k.member(i)], seen[k.stranger(i)] = true, true
	}
	if len(seen) != 20_000 {
		t.Errorf("%d different keys of 20,000", len(seen))
	}
	if other := newKeys((&lab.Env{Seed: 2}).Rand(0)); other.member(0) == k.member(0) {
		t.Error("another seed has the same keys")
	}
}

func TestTheExactSetIsExact(t *testing.T) {
	x := exact{map[filter.Key]struct{}{}}
	if added, err := x.Add(5); !added || err != nil {
		t.Errorf("first: %t, %v", added, err)
	}
	if added, err := x.Add(5); added || err != nil {
		t.Errorf("again: %t, %v", added, err)
	}
	if !x.MayContain(5) || x.MayContain(6) || x.Info().Keys != 1 {
		t.Errorf("%+v", x)
	}
	if err := x.Delete(6); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("absent: %v", err)
	}
	if err := x.Delete(5); err != nil || x.MayContain(5) {
		t.Errorf("present: %v, still there: %t", err, x.MayContain(5))
	}
}

func TestEntrantsAreWhatTheirNamesSay(t *testing.T) {
	all := entrants()
	if len(all) != len(kinds.All())+1 {
		t.Fatalf("%d entrants", len(all))
	}
	for _, x := range all {
		f, err := x.make(1000, 0.01)
		if err != nil {
			t.Fatalf("%s: %v", x.name, err)
		}
		if kind := f.Info().Kind; !strings.HasPrefix(x.name, kind) {
			t.Errorf("%s is a %s", x.name, kind)
		}
	}
	compact := all[len(all)-1]
	whole := all[slices.IndexFunc(all, func(x entrant) bool { return x.name == "evergreen" })]
	a, err := whole.predict(100_000, 0.01)
	b, err2 := compact.predict(100_000, 0.01)
	if err != nil || err2 != nil || b.SlowBitsPerKey >= a.SlowBitsPerKey-20 || b.FastBitsPerKey < 0.9*a.FastBitsPerKey {
		t.Errorf("%+v, %v; compact %+v, %v", a, err, b, err2)
	}
	if _, err := compact.predict(1<<40, 0.01); !errors.Is(err, filter.ErrFull) {
		t.Errorf("2^40 keys: %v", err)
	}
	if _, err := compact.predict(1, 7); err == nil {
		t.Error("a rate of 7")
	}
}

// TestSweepsOfferLowerRatesForMoreBits allows for whole numbers of hashes, which miss
// rates near one in three by a hundredth.
func TestSweepsOfferLowerRatesForMoreBits(t *testing.T) {
	effort.OneGoroutine(t)
	for _, c := range sweep(1_000_000) {
		if len(c.offers) < 10 {
			t.Errorf("%s has %d offers", c.name, len(c.offers))
			continue
		}
		first, last := c.offers[0], c.offers[len(c.offers)-1]
		if first.rate <= last.rate || first.all >= last.all || first.fast > first.all {
			t.Errorf("%s: from %+v to %+v", c.name, first, last)
		}
		for _, o := range c.offers {
			if o.rate > o.asked*1.02 && !c.kind.Drifts {
				t.Errorf("%s: asked for %g, offered %g", c.name, o.asked, o.rate)
				break
			}
		}
	}
}

func TestAllOrSomeNumbersAreChosen(t *testing.T) {
	r := (&lab.Env{Seed: 1}).Rand(0)
	if got := slices.Collect(chosen(5, 10, r)); !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
		t.Errorf("all of 5: %v", got)
	}
	got := slices.Collect(chosen(1_000_000, 50, r))
	if len(got) != 50 || slices.Max(got) < 500_000 || slices.Min(got) > 500_000 || slices.IsSorted(got) {
		t.Errorf("50 of a million: %v", got)
	}
	for i := range chosen(5, 10, r) {
		if i == 2 {
			break
		}
	}
}

func TestSpoilingLeavesTheFileAsItWas(t *testing.T) {
	f, err := entrants()[0].make(20, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := filter.Snapshot(f)
	if err != nil {
		t.Fatal(err)
	}
	var saved bytes.Buffer
	if _, err := snapshot.WriteTo(&saved); err != nil {
		t.Fatal(err)
	}
	data := bytes.Clone(saved.Bytes())
	var found file
	found.spoil(t.Context(), data, 1<<30, (&lab.Env{}).Rand(0))
	if !bytes.Equal(data, saved.Bytes()) {
		t.Error("it has changed")
	}
	if found.flips != 8*len(data) || found.cuts != len(data) || found.trailing != 256 {
		t.Errorf("%d bytes: %+v", len(data), found)
	}
	if found.flipsOK+found.cutsOK+found.trailingOK != 0 {
		t.Errorf("damage was not noticed: %+v", found)
	}
}

func TestFilesAreAddedUp(t *testing.T) {
	one := file{unequal: 1, flips: 2, flipsOK: 3, cuts: 4, cutsOK: 5, trailing: 6, trailingOK: 7}
	var sum file
	sum.add(one)
	sum.add(one)
	if want := (file{unequal: 2, flips: 4, flipsOK: 6, cuts: 8, cutsOK: 10, trailing: 12, trailingOK: 14}); sum != want {
		t.Errorf("%+v", sum)
	}
	for _, c := range (&file{}).checks(0) {
		if c.Verdict != lab.Differs {
			t.Errorf("nothing was tried: %+v", c)
		}
	}
}

func TestRatesOfLivesAreJudged(t *testing.T) {
	moments := func(yes ...int) (list []moment) {
		for i, y := range yes {
			list = append(list, moment{keys: 100 << i, yes: y, asked: 10_000, looked: 100})
		}
		return list
	}
	for _, c := range []struct {
		yes    []int
		drifts bool
		want   lab.Verdict
	}{
		{[]int{90, 100, 110}, false, lab.Reproduced},
		{[]int{90, 300, 110}, false, lab.Differs}, // once is enough
		{[]int{90, 100, 300}, true, lab.Reproduced},
		{[]int{90, 100, 110}, true, lab.Differs},
	} {
		l := life{entrant: entrant{name: "some", kind: kinds.Kind{Drifts: c.drifts}}, moments: moments(c.yes...)}
		if got := l.rateCheck(0.01); got.Verdict != c.want {
			t.Errorf("%v, drifts %t: %+v", c.yes, c.drifts, got)
		}
	}
	l := life{entrant: entrant{name: "some"}, moments: moments(90, 100)}
	l.moments[1].denied = 1
	checks := lifeChecks([]life{l, l}, 0.01)
	if last := checks[len(checks)-1]; last.Verdict != lab.Differs || last.Ours != "2 of 400 members denied" {
		t.Errorf("%+v", last)
	}
}

func TestScalablesBitsAreJudgedByTheirRange(t *testing.T) {
	for want, ends := range map[lab.Verdict][2]float64{lab.Reproduced: {14, 48}, lab.Differs: {12, 37}} {
		l := life{entrant: entrant{name: "scalable"}, moments: []moment{{asked: 100}}, lo: ends[0], hi: ends[1]}
		if c := lifeChecks([]life{l}, 0.01)[1]; c.Verdict != want {
			t.Errorf("%v: %+v", ends, c)
		}
	}
}

func TestLivesAreLookedAtOnTheWay(t *testing.T) {
	e := &lab.Env{Params: lab.Params{
		lab.Int("first size", 100), lab.Int("keys", 1600), lab.Int("sizes", 5), lab.Float("rate", 0.01), lab.Int("queries", 200),
	}}
	x := entrant{name: "some", make: func(uint64, float64) (filter.Filter, error) { return newFaulty(faulty{forgets: 10}), nil }}
	l, err := live(t.Context(), e, x, testKeys())
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int
	denied := 0
	for _, m := range l.moments {
		sizes = append(sizes, m.keys)
		denied += m.denied
		if m.yes != 0 || m.looked != min(m.keys, 200) {
			t.Errorf("%+v", m)
		}
	}
	if !slices.Equal(sizes, []int{100, 200, 400, 800, 1600}) || denied == 0 {
		t.Errorf("looks at %v, %d denied", sizes, denied)
	}
	x.make = func(uint64, float64) (filter.Filter, error) { return newFaulty(faulty{capacity: 150}), nil }
	if _, err := live(t.Context(), e, x, testKeys()); !errors.Is(err, filter.ErrFull) {
		t.Errorf("a filter that does not grow: %v", err)
	}
}

func TestBitsOfMapsAreJudged(t *testing.T) {
	for bits, want := range map[float64]lab.Verdict{194: lab.Reproduced, 303: lab.Reproduced, 160: lab.Differs, 310: lab.Differs, 150: lab.Differs, 400: lab.Differs} {
		if c := mapCheck([]*finding{{}, {entrant: entrant{name: exactName}, fast: bits}}); c.Verdict != want || c.Known != (bits == 160 || bits == 310) {
			t.Errorf("%v: %+v", bits, c)
		}
	}
	if c := mapCheck([]*finding{{}}); c.Verdict != lab.Shown {
		t.Errorf("no map: %+v", c)
	}
	if c := fastest([]*finding{{}}); c.Verdict != lab.Shown {
		t.Errorf("no blocked filter: %+v", c)
	}
}

func TestMediansOfNothingAreNothing(t *testing.T) {
	ts := times{present: {9, 1, 5}}
	if ts.median(present) != 5 || ts.median(add) != 0 {
		t.Errorf("%v, %v", ts.median(present), ts.median(add))
	}
	if orDash(0) != dash || orDash(math.NaN()) != dash || orDash(12.345) != "12.3" {
		t.Errorf("%s, %s", orDash(math.NaN()), orDash(12.345))
	}
	if firstOf(nil, errBroken, filter.ErrFull) != errBroken || firstOf(nil) != nil { //nolint:errorlint // the very one
		t.Error("not the first")
	}
}

func TestTablesHaveWhatWasFound(t *testing.T) {
	e := &lab.Env{Params: lab.Params{lab.Int("keys", 1000), lab.Float("rate", 0.01), lab.Int("queries", 100), lab.Int("planned keys", 5)}}
	found := []*finding{
		{entrant: entrant{name: "blocked"}, fast: 10, times: times{present: {4}}, asked: 100, yes: 1},
		{entrant: entrant{name: "other"}, fast: 10, slow: 70, times: times{present: {8}}, asked: 100},
	}
	table := rateTable(found, e)
	ratio := slices.Index(table.Columns, "present ÷ blocked")
	if got := table.Rows[1]; got[1] != "10.00" || got[2] != "70.0" || got[3] != "80.00" || got[ratio] != "2.00" {
		t.Errorf("%q", got)
	}
	list := allotments{{bits: 12, name: "too large"}, {bits: 12, name: "fits", fits: true, asked: 100}, {bits: 12, name: "errs", fits: true, asked: 100, yes: 2}}
	rows := list.table(e).Rows
	if rows[0][2] != "does not fit" || rows[1][5] != "none" || rows[2][5] != "2 %" {
		t.Errorf("%q", rows)
	}
}

func TestPlotsLeaveOutWhatWasNotMeasured(t *testing.T) {
	found := []*finding{
		{entrant: entrant{name: "a"}, fast: 10, slow: 5, times: times{add: {3}, remove: {7}}},
		{entrant: entrant{name: "b"}, fast: 20, times: times{add: {4}}},
	}
	p := timePlot(found)
	if len(p.Series) != 2 || len(p.Series[0].Points) != 2 || len(p.Series[1].Points) != 1 || !slices.Equal(p.X.Names, []string{"a", "b"}) {
		t.Errorf("%+v", p)
	}
	if m := memoryPlot(found); m.Series[0].Points[0].Y != 15 || m.Series[1].Points[0].Y != 10 {
		t.Errorf("%+v", m)
	}
	curves := []curve{
		{entrant{name: "dynamic"}, []offer{{rate: 1, fast: 1, all: 1}, {rate: 1, fast: 2, all: 2}}},
		{entrant{name: "some"}, []offer{{rate: 0.1, fast: 5, all: 10}, {rate: 0.01, fast: 9, all: 110}, {rate: 0.001, fast: 70, all: 200}}},
	}
	if p := curvePlot(curves, true); len(p.Series) != 1 || len(p.Series[0].Points) != 2 {
		t.Errorf("all: %+v", p.Series)
	}
	if p := curvePlot(curves, false); len(p.Series) != 1 || p.Series[0].Points[1].X != 9 || len(p.Series[0].Points) != 2 {
		t.Errorf("fast: %+v", p.Series)
	}
}
