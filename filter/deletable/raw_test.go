package deletable_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestRawFormReadsBack goes through all ways in which marks and cells can lie
// across bytes and words.
func TestRawFormReadsBack(t *testing.T) {
	for m := uint64(2); m <= 300; m++ {
		for _, r := range []uint64{1, m / 10, m / 3, m / 2} {
			s := deletable.Shape{Bits: m, Hashes: 3, Regions: max(1, r)}
			f := build(t, s)
			f.AddBatch(filtertest.Keys(m, m/8+1))
			raw := f.AppendRaw([]byte{7})
			if uint64(len(raw)) != 1+(m+7)/8 || raw[0] != 7 {
				t.Fatalf("%+v: %d bytes", s, len(raw))
			}
			g, err := deletable.FromRaw(s, raw[1:])
			if err != nil {
				t.Fatalf("%+v: %v", s, err)
			}
			if err := codec.Whole(g); err != nil {
				t.Fatalf("%+v: %v", s, err)
			}
			if !bytes.Equal(g.AppendRaw(nil), raw[1:]) || g.CleanRegions() != f.CleanRegions() || g.Info().Fill != f.Info().Fill {
				t.Fatalf("%+v: another filter came back", s)
			}
		}
	}
}

func TestRawFormIsChecked(t *testing.T) {
	s := deletable.Shape{Bits: 100, Hashes: 2, Regions: 35} // 65 cells, 33 regions of 2
	for want, raw := range map[string][]byte{
		"12 bytes, want 13":           make([]byte, 12),
		"14 bytes, want 13":           make([]byte, 14),
		"0 bytes, want 13":            nil,
		"bits beyond 100 are set":     append(make([]byte, 12), 1<<4),
		"marks beyond 33 are set: 0x": append([]byte{0, 0, 0, 0, 1 << 1}, make([]byte, 8)...),
	} {
		f, err := deletable.FromRaw(s, raw)
		if !errors.Is(err, filter.ErrCorrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("%x: %v, %v, want %q", raw, f, err, want)
		}
	}
	if _, err := deletable.FromRaw(deletable.Shape{Bits: 8}, []byte{0}); err == nil {
		t.Error("a shape without hashes was taken")
	}
	// A clean region may hold any bits.
	if f, err := deletable.FromRaw(fig1, []byte{0xF0, 0xFF, 0xFF, 0xFF}); err != nil || f.CleanRegions() != 1 || f.Info().Fill != 1 {
		t.Errorf("a full filter without collisions: %v", err)
	}
}

func FuzzFromRaw(f *testing.F) {
	f.Add(uint16(32), uint8(3), uint16(4), []byte{1, 2, 3, 4})
	f.Add(uint16(240), uint8(5), uint16(24), make([]byte, 30))
	f.Add(uint16(101), uint8(64), uint16(50), make([]byte, 13))
	f.Fuzz(func(t *testing.T, m uint16, k uint8, r uint16, raw []byte) {
		s := deletable.Shape{Bits: uint64(m), Hashes: int(k), Regions: uint64(r)}
		g, err := deletable.FromRaw(s, raw)
		if err != nil {
			return
		}
		if again := g.AppendRaw(nil); !bytes.Equal(again, raw) {
			t.Errorf("%+v: %x became %x", s, raw, again)
		}
		codec.Works(t, g)
	})
}
