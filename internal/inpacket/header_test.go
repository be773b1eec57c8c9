package inpacket

import (
	"bytes"
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
	if want := (deletable.Shape{Bits: 252, Hashes: 5, Regions: 25}); f.Shape() != want || f.Len() != 32 {
		t.Errorf("%+v, %d bytes", f.Shape(), f.Len())
	}
	s, err := Config{Candidates: 1, Regions: 1}.Shape()
	if want := (deletable.Shape{Bits: 256, Hashes: 5, Regions: 1}); err != nil || s != want {
		t.Errorf("%+v, %v", s, err)
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

// Headers of all sizes and numbers of candidates, whose fields lie across bytes in
// every way, come back as they were.
func TestHeadersReadBack(t *testing.T) {
	for bits := minBits; bits <= 300; bits++ {
		r := rand.New(rand.NewPCG(uint64(bits), 1))
		f := newFormat(t, Config{Bits: bits, Hashes: 3, Regions: 1 + r.IntN(bits/2-4), Candidates: 1 + r.IntN(256), Salt: r.Uint64()})
		ids := randomKeys(r, 1+bits/16)
		h := encode(t, f, ids)
		wire := h.Append([]byte{7})
		if len(wire) != 1+f.Len() || wire[0] != 7 {
			t.Fatalf("%+v: %d bytes", f.Config(), len(wire))
		}
		back, err := f.Decode(wire[1:])
		if err != nil || back != h || back.Number() != h.Number() {
			t.Fatalf("%+v: candidate %d came back as %d: %v", f.Config(), h.Number(), back.Number(), err)
		}
		for _, id := range ids {
			if !back.Has(id) {
				t.Fatalf("%+v: ID %#x is denied", f.Config(), id)
			}
		}
	}
}

func TestHeaderIsTheRawFormAndTheNumber(t *testing.T) {
	f := newFormat(t, Config{Salt: 3})
	ids := randomKeys(rand.New(rand.NewPCG(1, 1)), 20)
	h := encode(t, f, ids)
	g, number, err := deletable.Choose(f.Shape(), ids, deletable.BestFill(), 16)
	if err != nil {
		t.Fatal(err)
	}
	want := g.AppendRaw(nil)
	want[31] |= byte(number) << 4
	if got := h.Append(nil); !bytes.Equal(got, want) || h.Number() != number || h.Fill() != g.Info().Fill {
		t.Errorf("%x, want %x", got, want)
	}
}

func TestHeadersAreChecked(t *testing.T) {
	f := newFormat(t, Config{Bits: 100, Regions: 35, Candidates: 10}) // 96 bits: 61 cells, 31 regions of 2
	field := func(bit int) []byte {
		b := make([]byte, 13)
		b[bit/8] = 1 << (bit % 8)
		return b
	}
	for want, b := range map[string][]byte{
		"12 bytes, want 13":        make([]byte, 12),
		"14 bytes, want 13":        make([]byte, 14),
		"bits beyond 100 are set":  field(100),
		"marks beyond 31 are set":  field(34),
		"candidate 12, there are ": append(make([]byte, 12), 12),
	} {
		if _, err := f.Decode(b); !errors.Is(err, filter.ErrCorrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("%x: %v, want %q", b, err, want)
		}
	}
	if _, err := f.Decode(append(make([]byte, 12), 9)); err != nil {
		t.Error(err)
	}
}

func TestCopiesOfAHeaderAreApart(t *testing.T) {
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
	if h.Has(1) || h.Fill() != 0 || h.Append(nil) != nil || !errors.Is(h.Delete(1), filter.ErrNotFound) {
		t.Error("the zero header has something")
	}
}

func TestForwardingAllocatesNothing(t *testing.T) {
	f := newFormat(t, Config{})
	ids := randomKeys(rand.New(rand.NewPCG(5, 5)), 20)
	h := encode(t, f, ids)
	wire := make([]byte, 0, f.Len())
	if n := testing.AllocsPerRun(100, func() {
		branch := h
		for _, id := range ids {
			if branch.Has(id) {
				_ = branch.Delete(id)
			}
		}
		wire = branch.Append(wire[:0])
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(uint16(256), uint8(5), uint8(24), uint8(16), make([]byte, 32))
	f.Add(uint16(100), uint8(3), uint8(35), uint8(10), append(make([]byte, 12), 9))
	f.Fuzz(func(t *testing.T, bits uint16, hashes, regions, candidates uint8, b []byte) {
		format, err := New(Config{Bits: int(bits), Hashes: int(hashes), Regions: int(regions), Candidates: int(candidates)})
		if err != nil {
			return
		}
		h, err := format.Decode(b)
		if err != nil {
			return
		}
		if again := h.Append(nil); !bytes.Equal(again, b) {
			t.Errorf("%+v: %x became %x", format.Config(), b, again)
		}
		for id := range filter.Key(50) {
			had, fill := h.Has(id), h.Fill()
			err := h.Delete(id)
			if had == errors.Is(err, filter.ErrNotFound) || (err == nil) != (h.Fill() < fill) || err == nil && h.Has(id) {
				t.Errorf("%+v: deleting %d from %x: %v", format.Config(), id, b, err)
			}
		}
	})
}
