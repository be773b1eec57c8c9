package scalable_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/scalable"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestDefaultsAreAsDocumented(t *testing.T) {
	s := filtertest.Make(t, scalable.Config.Shape, scalable.Config{})
	// Rounded up by less than a block.
	if s.FPR != 0.001 || s.Items < 1_000_000 || s.Items > 1_000_040 || s.Salt != 0 {
		t.Errorf("got %+v", s)
	}
}

// TestFirstUnitUsesItsBlocks: a single block holds some dozens of keys at 1 %, so
// that there is no point in making a second unit after one.
func TestFirstUnitUsesItsBlocks(t *testing.T) {
	s := filtertest.Make(t, scalable.Config.Shape, scalable.Config{Items: 1, FPR: 0.01})
	if s.Items < 25 || s.Items > 35 {
		t.Errorf("one block is used for %d keys", s.Items)
	}
	for _, items := range []uint64{1, 10, 1000, 123_456} {
		for _, rate := range []float64{0.9, 0.1, 1e-3, 1e-6, 1e-12} {
			s := filtertest.Make(t, scalable.Config.Shape, scalable.Config{Items: items, FPR: rate})
			if s.Items < items {
				t.Errorf("%d keys at %g became %d", items, rate, s.Items)
			}
			if again := filtertest.Make(t, scalable.Config.Shape, scalable.Config(s)); again != s {
				t.Errorf("%+v, asked for, is %+v", s, again)
			}
		}
	}
}

func TestConfigReportsAllProblems(t *testing.T) {
	_, err := scalable.Config{Items: math.MaxUint64, FPR: 2}.Shape()
	for _, want := range []string{"FPR: 2", "Items: 18446744073709551615"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want also %q", err, want)
		}
	}
	for _, s := range []scalable.Shape{{}, {Items: 1}, {FPR: 0.1}, {Items: 1 << 50, FPR: 0.1}, {Items: 1, FPR: math.NaN()}} {
		if f, err := scalable.Build(s); err == nil || f != nil {
			t.Errorf("%+v was built", s)
		}
		if p, err := s.Predict(1); err == nil {
			t.Errorf("%+v: predicted %+v", s, p)
		}
	}
}

// TestGrowthEndsWhereKeysDo: below n/2^64 no rate can be had, and a filter that
// would need it refuses further keys without change.
func TestGrowthEndsWhereKeysDo(t *testing.T) {
	f := filtertest.Make(t, scalable.New, scalable.Config{Items: 10, FPR: 3e-18})
	keys := filtertest.Keys(1, 500)
	done, added, err := f.AddBatch(keys)
	if !errors.Is(err, filter.ErrFull) || done == 0 || done == len(keys) || added != done {
		t.Fatalf("done %d, added %d: %v", done, added, err)
	}
	before := filtertest.Stored(t, f)
	if isNew, err := f.Add(keys[done]); isNew || !errors.Is(err, filter.ErrFull) {
		t.Errorf("added %t: %v", isNew, err)
	}
	if isNew, err := f.Add(keys[0]); isNew || err != nil {
		t.Errorf("a key that is there: added %t: %v", isNew, err)
	}
	if string(filtertest.Stored(t, f)) != string(before) {
		t.Error("a refused Add changed the filter")
	}
	if _, err := f.Shape().Predict(uint64(len(keys))); err == nil {
		t.Error("a filter that cannot be was predicted")
	}
}
