package forward

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
)

func newFormat(tb testing.TB, c Config) *Format {
	tb.Helper()
	f, err := New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

func encode(tb testing.TB, f *Format, ids []filter.Key) Header {
	tb.Helper()
	h, err := f.Encode(ids)
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

func randomKeys(r *rand.Rand, n int) []filter.Key {
	keys := make([]filter.Key, n)
	for i := range keys {
		keys[i] = filter.Key(r.Uint64())
	}
	return keys
}

func TestConfigDefaults(t *testing.T) {
	f := newFormat(t, Config{})
	if want := (Config{Bits: 256, Hashes: 5, Regions: 25, Candidates: 16}); f.Config() != want {
		t.Errorf("%+v", f.Config())
	}
	for c, want := range map[Config]deletable.Shape{
		{}: {Bits: 252, Hashes: 5, Regions: 25}, {Candidates: 1, Regions: 1}: {Bits: 256, Hashes: 5, Regions: 1},
	} {
		if got, err := c.Shape(); err != nil || got != want {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
}

func TestConfigReportsAllProblems(t *testing.T) {
	_, err := New(Config{Bits: 2000, Hashes: 65, Candidates: 257})
	for _, want := range []string{"Bits: 2000", "Hashes: 65", "Candidates: 257"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := (Config{Regions: 127}).Shape(); err == nil || !strings.Contains(err.Error(), "Regions: 127, must be 1 to 126") {
		t.Errorf("%v", err)
	}
}

// TestHeadersHoldTheirIDs has headers of all sizes and numbers of candidates.
func TestHeadersHoldTheirIDs(t *testing.T) {
	for bits := minBits; bits <= 300; bits++ {
		r := rand.New(rand.NewPCG(uint64(bits), 1))
		f := newFormat(t, Config{Bits: bits, Hashes: 3, Regions: 1 + r.IntN(bits/2-4), Candidates: 1 + r.IntN(256), Salt: r.Uint64()})
		ids := randomKeys(r, 1+bits/16)
		h := encode(t, f, ids)
		g, number, err := deletable.Choose(f.Shape(), ids, deletable.BestFill(), f.Config().Candidates)
		if err != nil || int(h.number) != number || h.Fill() != g.Info().Fill {
			t.Fatalf("%+v: candidate %d, fill %v: %v", f.Config(), h.number, h.Fill(), err)
		}
		for _, id := range ids {
			if !h.Has(id) {
				t.Fatalf("%+v: ID %#x is a false negative", f.Config(), id)
			}
		}
	}
}

func TestCopiesOfAHeaderShareNothing(t *testing.T) {
	f := newFormat(t, Config{})
	ids := randomKeys(rand.New(rand.NewPCG(2, 2)), 5)
	h := encode(t, f, append(ids, ids...)) // twice: it counts once
	branch := h
	for _, id := range ids {
		if err := branch.Delete(id); err != nil {
			t.Errorf("deleting: %v", err)
		}
		if branch.Has(id) || !h.Has(id) {
			t.Errorf("after deleting: copy %t, original %t", branch.Has(id), h.Has(id))
		}
		if err := branch.Delete(id); !errors.Is(err, filter.ErrNotFound) {
			t.Errorf("deleting again: %v", err)
		}
	}
	if branch.Fill() >= h.Fill() || h.Pinned(ids) != 0 {
		t.Errorf("fill %v and %v, %d pinned", branch.Fill(), h.Fill(), h.Pinned(ids))
	}
}

func TestChooseReachesItsGoal(t *testing.T) {
	f := newFormat(t, Config{Bits: 96, Candidates: 64})
	r := rand.New(rand.NewPCG(4, 4))
	for trial := range 50 {
		ids := randomKeys(r, 8)
		h, err := f.Choose(ids, deletable.AllDeletable(ids...))
		if errors.Is(err, filter.ErrPinned) {
			continue
		}
		if err != nil || h.Pinned(ids) != 0 {
			t.Fatalf("trial %d: %d pinned, %v", trial, h.Pinned(ids), err)
		}
	}
	full := randomKeys(r, 90)
	if _, err := f.Choose(full, deletable.AllDeletable(full...)); !errors.Is(err, filter.ErrPinned) {
		t.Errorf("all of 90 IDs in 96 bits: %v", err)
	}
}

func TestZeroHeaderHasNothing(t *testing.T) {
	var h Header
	if h.Has(1) || h.Fill() != 0 || h.FPR() != 0 || !errors.Is(h.Delete(1), filter.ErrNotFound) {
		t.Error("the zero header has something")
	}
}

func TestForwardingAllocatesNothing(t *testing.T) {
	ids := randomKeys(rand.New(rand.NewPCG(5, 5)), 20)
	h := encode(t, newFormat(t, Config{}), ids)
	if n := testing.AllocsPerRun(100, func() {
		branch := h
		for _, id := range ids {
			if branch.Has(id) {
				_ = branch.Delete(id)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
