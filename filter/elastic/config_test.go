package elastic

import (
	"math"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/theory"
)

func TestShapesOfConfigs(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   Shape
	}{
		{Config{}, Shape{Bits: 1 << 24, Hashes: 10, HashBits: 41, Slots: 6, Branches: 3, Growth: 12, Threshold: theory.ElasticThreshold(0.001, 10)}},
		{Config{Items: 1000, FPR: 0.01}, Shape{Bits: 1 << 14, Hashes: 7, HashBits: 43, Slots: 5, Branches: 3, Growth: 22, Threshold: theory.ElasticThreshold(0.01, 7)}},
		// Table 1 of the paper, which states the geometry.
		{
			Config{Items: 1462, FPR: 3.2e-4, Hashes: 5, Slots: 8, HashBits: 32, Growth: 17, Salt: 3},
			Shape{Bits: 1 << 15, Hashes: 5, HashBits: 32, Slots: 8, Branches: 3, Growth: 17, Threshold: theory.ElasticThreshold(3.2e-4, 5), Salt: 3},
		},
		// With w alone growth ends where mistakes would begin.
		{
			Config{Items: 1462, FPR: 3.2e-4, Hashes: 5, Slots: 8, HashBits: 32},
			Shape{Bits: 1 << 15, Hashes: 5, HashBits: 32, Slots: 8, Branches: 3, Growth: 9, Threshold: theory.ElasticThreshold(3.2e-4, 5)},
		},
		{Config{Items: 1, FPR: 0.9, Branches: 1}, Shape{Bits: 64, Hashes: 3, HashBits: 55, Slots: 15, Branches: 1, Growth: 30, Threshold: theory.ElasticThreshold(0.9, 3)}},
	} {
		if got := filtertest.Make(t, Config.Shape, c.config); got != c.want {
			t.Errorf("%+v:\n got %+v\nwant %+v", c.config, got, c.want)
		}
	}
	if s := filtertest.Make(t, Config.Shape, Config{Items: 1462, FPR: 3.2e-4, Hashes: 5}); math.Abs(s.Threshold-0.2) > 1e-12 {
		t.Errorf("threshold %g", s.Threshold)
	}
}

// TestShapesMeetTheRate holds for rates from silly to strict.
func TestShapesMeetTheRate(t *testing.T) {
	for _, items := range []uint64{1, 7, 1000, 1 << 20, 1 << 33} {
		for _, fpr := range []float64{0.99, 0.5, 0.1, 0.01, 1e-4, 1e-9} {
			for hashes := range 12 {
				c := Config{Items: items, FPR: fpr, Hashes: hashes}
				s, err := c.Shape()
				if err != nil {
					if hashes > 2 || hashes == 0 {
						t.Errorf("%+v: %v", c, err)
					}
					continue
				}
				if e, ok := s.Doublings(items); e != 0 || !ok || s.FPR(items) > fpr*(1+1e-9) {
					t.Errorf("%+v: %+v has rate %g after %d doublings", c, s, s.FPR(items), e)
				}
			}
		}
	}
}

func TestAllProblemsAreReportedAtOnce(t *testing.T) {
	_, err := New(Config{Items: 1 << 60, FPR: 2, Hashes: -1, Slots: 99, Branches: 9, Growth: -1, HashBits: 70})
	for _, want := range []string{"Items: ", "FPR: 2", "Hashes: -1", "Slots: 99", "Branches: 9", "Growth: -1", "HashBits: 70"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	_, err = Build(Shape{Bits: 100, Hashes: 65, Slots: 0, Branches: 0, Threshold: math.NaN()})
	for _, want := range []string{"Bits: 100", "Hashes: 65", "Slots: 0", "Branches: 0", "Threshold: NaN"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, c := range []Config{
		{FPR: 1e-14, Items: 1 << 40},
		{FPR: math.NaN()},
		{FPR: 1},
		{Items: 1 << 43, FPR: 1e-5, Growth: 20},
		{Items: 1000, HashBits: 10},
		{Items: 1000, HashBits: 20, Growth: 20},
		{Items: 1 << 20, Hashes: 1, Growth: 20},
	} {
		if s, err := c.Shape(); err == nil || !strings.HasPrefix(err.Error(), "elastic: ") {
			t.Errorf("%+v: %+v, %v", c, s, err)
		}
	}
}
