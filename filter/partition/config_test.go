package partition

import (
	"math"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestShapesOfWishes(t *testing.T) {
	for _, c := range []struct {
		name           string
		config         Config
		idBits, depth  int
		hashes         int
		bitsPerID, log float64 // bits of a unit per id, and its tolerance
	}{
		{"default", Config{}, 38, 28, 10, 14.9, 0.2},
		{"1e-4", Config{FPR: 1e-4}, 42, 32, 13, 19.7, 0.2},
		{"ids", Config{FPR: 1e-4, Universe: 1 << 32}, 32, 22, 13, 19.6, 0.2},
		{"odd universe", Config{FPR: 1e-4, Universe: 3_000_000_000}, 32, 22, 13, 19.6, 0.2},
		{"small sets", Config{FPR: 0.01, Items: 100}, 35, 29, 7, 10.5, 0.8},
		{"middle sets", Config{FPR: 0.01, Items: 2048}, 35, 26, 7, 10, 0.3},
		{"huge sets", Config{FPR: 1e-4, Items: 1 << 33}, 52, 42, 13, 19.7, 0.2},
		{"own depth", Config{FPR: 1e-4, Universe: 1 << 32, Depth: 28}, 32, 28, 13, 24, 1},
		{"universe below a unit", Config{FPR: 1e-4, Universe: 100}, 7, 0, 13, 21, 1},
		{"high rate", Config{FPR: 0.5}, 29, 19, 1, 1.6, 0.1},
	} {
		s, err := c.config.Shape()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		perID := float64(s.UnitBits) / float64(s.UnitIDs())
		if s.IDBits != c.idBits || s.Depth != c.depth || s.Hashes != c.hashes || math.Abs(perID-c.bitsPerID) > c.log {
			t.Errorf("%s: %+v with %.2f bits per id, want %+v", c.name, s, perID, c)
		}
		if s.Universe != c.config.Universe || s.Count != 0 || s.UnitBits%64 != 0 {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}

// TestFloorIsASmallPart: Keys that become equal when they are shortened add at most a
// 32nd to the rate, and the units leave room for that.
func TestFloorIsASmallPart(t *testing.T) {
	for _, items := range []uint64{1, 1000, 1 << 23, 1 << 30, 1 << 36} {
		for _, fpr := range []float64{0.3, 0.01, 1e-4} {
			s, err := Config{Items: items, FPR: fpr}.Shape()
			if err != nil {
				t.Fatal(err)
			}
			floor := math.Ldexp(float64(max(items, 1<<23)), -s.IDBits)
			if floor > fpr/32 || s.UnitFPR()+floor > fpr {
				t.Errorf("%d keys at %g: %d bits of a Key give %g, units %g", items, fpr, s.IDBits, floor, s.UnitFPR())
			}
			if s.IDBits > 1 && floor < fpr/128 {
				t.Errorf("%d keys at %g: %d bits of a Key are more than needed", items, fpr, s.IDBits)
			}
		}
	}
}

// TestLargestUnitIsWithinTheLimit asks for the lowest rate and the most ids of a unit.
func TestLargestUnitIsWithinTheLimit(t *testing.T) {
	s, err := Config{Universe: 1 << 32, Depth: 32 - maxUnitIDs, FPR: minFPR}.Shape()
	if err != nil || s.UnitBits < maxUnitBits/2 || s.UnitBits > 6_200_000 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestHashedKeysKeepTheRate holds what the package comment says about large sets.
func TestHashedKeysKeepTheRate(t *testing.T) {
	effort.PlainOnly(t)
	for _, items := range []uint64{0, 1 << 27} {
		times := max(1, float64(items)/(1<<23))
		for _, fpr := range []float64{1.0 / 128, 0.01, 0.001, 1e-4, 1e-6} {
			s, err := Config{FPR: fpr, Items: items}.Shape()
			if err != nil {
				t.Fatal(err)
			}
			for n, most := range map[float64]float64{3e7: 1, 6.6e7: 1, 1.2e8: 1, 1.33e8: 1.2, 1.5e8: 1.2, 2e8: 1.2, 1e9: 4.5} {
				if got := filtertest.Make(t, s.Predict, uint64(n*times)).FPR / fpr; got > most || most > 2 && got < 2.5 {
					t.Errorf("asked %g for %d, %g keys: %.2f of it, want %g at most", fpr, items, n*times, got, most)
				}
			}
		}
	}
}

func TestShapesThatCannotBe(t *testing.T) {
	base := Shape{Universe: 1 << 20, IDBits: 20, Depth: 12, UnitBits: 5000, Hashes: 10, Full: 2500}
	if err := base.check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Shape){
		"IDBits: 21, want 20":         func(s *Shape) { s.IDBits = 21 },
		"IDBits: -1":                  func(s *Shape) { s.IDBits = -1 },
		"IDBits: 0, must be 1":        func(s *Shape) { s.Universe, s.IDBits = 0, 0 },
		"Depth: 21":                   func(s *Shape) { s.Depth = 21 },
		"Depth: -1":                   func(s *Shape) { s.Depth = -1 },
		"Depth: 3, must be 4":         func(s *Shape) { s.Depth = 3 },
		"UnitBits: 0":                 func(s *Shape) { s.UnitBits = 0 },
		"UnitBits: 8388609":           func(s *Shape) { s.UnitBits = maxUnitBits + 1 },
		"Hashes: 0":                   func(s *Shape) { s.Hashes = 0 },
		"Hashes: 65":                  func(s *Shape) { s.Hashes = 65 },
		"Full: 1249, must be 1250":    func(s *Shape) { s.Full = 1249 },
		"Full: 5001, must be 1250":    func(s *Shape) { s.Full = 5001 },
		"Count: 31, must be 0, or up": func(s *Shape) { s.Count = 31 },
		"Count: 2048, must be 0":      func(s *Shape) { s.UnitBits, s.Full, s.Hashes, s.Count = 1<<23, 1<<23, 64, 2048 },
		"Count: 8388609":              func(s *Shape) { s.Count = maxCount + 1 },
	} {
		s := base
		change(&s)
		if _, err := Build(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
}
