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
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

func TestClaimsHold(t *testing.T) { labtest.Claims(t, Experiments()) }

// brief are parameters for runs that take little time.
var brief = lab.Params{
	lab.Int("keys", 200), lab.Int("first size", 20), lab.Int("queries", 1_000), lab.Int("most damages", 30), lab.Int("sizes", 4),
}

// TestTrialsDoNotRace has more keys where memory is measured on a heap that others
// use, too: less would be lost in what these free. That experiment shares nothing.
func TestTrialsDoNotRace(t *testing.T) {
	labtest.Briefly(t, []lab.Experiment{abilities, growing, files}, brief)
	effort.OneGoroutine(t)
	labtest.Briefly(t, []lab.Experiment{compare}, lab.Params{lab.Int("keys", 5_000), lab.Int("queries", 2_000), lab.Int("rounds", 1)})
}

func TestResultsDependOnTheSeedOnly(t *testing.T) {
	labtest.Seeded(t, []lab.Experiment{abilities, growing, files}, brief)
}

func TestRunsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }

func TestTheLowestRateThatFitsIsTaken(t *testing.T) {
	var offers []filter.Prediction
	for rate, bits := range map[float64]float64{0.1: 5, 0.01: 10, 0.02: 9, 0.001: 15} {
		offers = append(offers, filter.Prediction{FPR: rate, FastBitsPerKey: bits - 1, SlowBitsPerKey: 1})
	}
	for bits, want := range map[float64]float64{5: 0.1, 9.5: 0.02, 14: 0.01, 99: 0.001} {
		if got := lowest(offers, bits); got != want {
			t.Errorf("%v bits: %v", bits, got)
		}
	}
	if got := lowest(offers, 4); !math.IsNaN(got) {
		t.Errorf("4 bits: %v", got)
	}
}

// A kind that is described wrongly must be found out, column by column.
func TestConductSeesAWrongTable(t *testing.T) {
	spoilt := func(name string, change func(*kinds.Kind)) bench {
		k, err := kinds.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		change(&k)
		return bench{kind: k, keys: walk.NewKeys((&lab.Env{Seed: 1}).Rand(0)), n: 2000, rate: 0.01, queries: 5000, times: 8}
	}
	for _, c := range []struct {
		name string
		try  func(bench) (trial, error)
		b    bench
	}{
		{"growth", bench.tryGrowth, spoilt("bloom", func(k *kinds.Kind) { k.Grows = true })},
		{"drift", bench.tryGrowth, spoilt("dynamic", func(k *kinds.Kind) { k.Drifts = false })},
		{"pins", bench.tryDelete, spoilt("deletable", func(k *kinds.Kind) { k.Pins = false })},
		{"twice", bench.tryTwice, spoilt("counting", func(k *kinds.Kind) { k.Duplicates = filter.DuplicatesIgnored })},
		{"absent", bench.tryAbsent, spoilt("counting", func(k *kinds.Kind) { k.AbsentDelete = "refused" })},
		{"merge", bench.tryMerge, spoilt("evergreen", func(k *kinds.Kind) { k.Merging = "∪ ∩, equal shape" })},
		{"intersection", bench.tryMerge, spoilt("dynamic", func(k *kinds.Kind) { k.UnionOnly = false })},
	} {
		if got, err := c.try(c.b); err != nil || got.ok {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
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
	if !x.MayContain(5) || x.MayContain(6) || !errors.Is(x.Delete(6), filter.ErrNotFound) || x.Delete(5) != nil || x.MayContain(5) {
		t.Errorf("%+v", x)
	}
}

func TestEntrantsAreWhatTheirNamesSay(t *testing.T) {
	all := entrants()
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
	p, err := compact.predict(100_000, 0.01)
	if err != nil || len(all) != len(kinds.All())+1 || p.SlowBitsPerKey > 50 {
		t.Errorf("%d entrants; compact %+v, %v", len(all), p, err)
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
	if !bytes.Equal(data, saved.Bytes()) || found.flips != 8*len(data) || found.cuts != len(data) || found.trailing != 256 {
		t.Errorf("%d bytes: %+v", len(data), found)
	}
	if found.flipsOK+found.cutsOK+found.trailingOK != 0 {
		t.Errorf("damage was not noticed: %+v", found)
	}
	if got := slices.Collect(chosen(1_000_000, 50, (&lab.Env{}).Rand(0))); len(got) != 50 || slices.IsSorted(got) {
		t.Errorf("50 of a million: %v", got)
	}
}
