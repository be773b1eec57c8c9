package deletable_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestWireDoesWhatTheFilterDoes compares answers and bits, for all ways in which
// marks and cells can lie across bytes, with something in the bits after them.
func TestWireDoesWhatTheFilterDoes(t *testing.T) {
	for m := uint64(2); m <= 300; m++ {
		r := rand.New(rand.NewPCG(m, 1))
		for _, regions := range []uint64{1, m / 10, m / 3, m / 2} {
			s := deletable.Shape{Bits: m, Hashes: 1 + r.IntN(7), Regions: max(1, regions), Salt: r.Uint64()}
			compareWire(t, s, filtertest.Keys(m, m/6+1))
		}
	}
}

func compareWire(t *testing.T, s deletable.Shape, keys []filter.Key) {
	t.Helper()
	f := build(t, s)
	f.AddBatch(keys)
	w, err := s.Wire()
	if err != nil {
		t.Fatal(err)
	}
	const after = 0xFF
	raw := append(f.AppendRaw(nil), after)
	if used := s.Bits % 8; used != 0 {
		raw[len(raw)-2] |= after << used
	}
	for _, k := range append(filtertest.Keys(99, 20), keys...) {
		if f.MayContain(k) != w.MayContain(raw, k) {
			t.Fatalf("%+v: key %#x: filter %t", s, k, f.MayContain(k))
		}
		if a, b := f.Delete(k), w.Delete(raw, k); !errors.Is(a, b) {
			t.Fatalf("%+v: deleting %#x: filter %v, wire %v", s, k, a, b)
		}
		if f.Info().Fill != w.Fill(raw) {
			t.Fatalf("%+v: fill %v, wire %v", s, f.Info().Fill, w.Fill(raw))
		}
	}
	want := append(f.AppendRaw(nil), after)
	if used := s.Bits % 8; used != 0 {
		want[len(want)-2] |= after << used
	}
	if !bytes.Equal(raw, want) {
		t.Fatalf("%+v: %x, want %x", s, raw, want)
	}
}

func TestWireRefusesShapesThatCannotBe(t *testing.T) {
	if _, err := (deletable.Shape{Bits: 8, Hashes: 2, Regions: 5}).Wire(); err == nil {
		t.Error("more regions than cells were taken")
	}
}

func TestWireAllocatesNothing(t *testing.T) {
	s := deletable.Shape{Bits: 252, Hashes: 5, Regions: 25}
	f := build(t, s)
	keys := filtertest.Keys(5, 20)
	f.AddBatch(keys)
	w, err := s.Wire()
	if err != nil {
		t.Fatal(err)
	}
	raw := f.AppendRaw(nil)
	i := 0
	if n := testing.AllocsPerRun(100, func() {
		w.MayContain(raw, keys[i%len(keys)])
		_ = w.Delete(raw, keys[i%len(keys)])
		i++
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
