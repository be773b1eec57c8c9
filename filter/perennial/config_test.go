package perennial

import (
	"math"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestWidthFollowsRateAndMost(t *testing.T) {
	for _, c := range []struct {
		config Config
		width  uint64
	}{
		{Config{}, 15},
		{Config{FPR: 0.001}, 15},
		{Config{FPR: 0.01}, 12},
		{Config{FPR: 0.01, Most: 5_000_000}, 12},
		{Config{FPR: 0.01, Most: 50_000}, 11},
		{Config{FPR: 0.01, Most: 1 << 40}, 13},
		{Config{FPR: 0.01, Items: 1 << 40}, 9}, // it begins with long addresses
		{Config{FPR: 0.9}, minWidth},
		{Config{FPR: 1e-6}, 25},
	} {
		s, err := c.config.Shape()
		if err != nil || s.Width != c.width {
			t.Errorf("%+v: %+v, %v, want slots of %d bits", c.config, s, err, c.width)
		}
	}
}

// TestRateIsMet: up to Most keys the expected rate is never above the asked one.
func TestRateIsMet(t *testing.T) {
	for fpr := 0.9; fpr > 1e-8; fpr *= 0.4 {
		for _, most := range []uint64{1, 1000, 1e6, 1e9, 1e12} {
			s, err := Config{FPR: fpr, Most: most}.Shape()
			if err != nil {
				t.Fatal(err)
			}
			if got := s.rate(most); got > fpr {
				t.Errorf("%d keys at %g: predicted rate %g with %+v", most, fpr, got, s)
			}
		}
	}
}

func TestConfigReportsAllProblems(t *testing.T) {
	_, err := Config{Items: math.MaxUint64, FPR: 2, Fill: 0.95, Most: 1 << 50}.Shape()
	for _, want := range []string{"Items: 18446744073709551615", "FPR: 2", "Fill: 0.95, must be 0.5 to 0.94", "Most: 1125899906842624, at most"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	for want, c := range map[string]Config{
		"Fill: NaN":            {Fill: math.NaN()},
		"Fill: 0.4":            {Fill: 0.4},
		"FPR: 1e-12, at least": {FPR: 1e-12},
		"FPR: NaN":             {FPR: math.NaN()},
	} {
		if f, err := New(c); err == nil || f != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
}

func TestBuildRefusesBadShapes(t *testing.T) {
	good := Shape{Lines: 10, Width: 12, Fill: 0.9, FPR: 0.01}
	for _, change := range []func(*Shape){
		func(s *Shape) { s.Lines = minLines - 1 },
		func(s *Shape) { s.Lines = maxLines + 1 },
		func(s *Shape) { s.Width = minWidth - 1 },
		func(s *Shape) { s.Width = maxWidth + 1 },
		func(s *Shape) { s.Fill = 0 },
		func(s *Shape) { s.Fill = math.NaN() },
		func(s *Shape) { s.FPR = 1 },
		func(s *Shape) { s.Most = math.MaxUint64 },
	} {
		s := good
		change(&s)
		if f, err := Build(s); err == nil || f != nil {
			t.Errorf("%+v: built", s)
		}
		if _, err := s.Predict(1); err == nil {
			t.Errorf("%+v: predicted", s)
		}
	}
	if p, err := good.Predict(1 << 60); err != nil || p.FPR < 0.01 { // more keys than a ring can have lines for
		t.Errorf("%+v, %v", p, err)
	}
}

// TestItemsStay: there is room for Items from the beginning, and the filter does not
// become smaller than that.
func TestItemsStay(t *testing.T) {
	const items = 5000
	f := filtertest.Make(t, New, Config{Items: items})
	r := f.ring.Load()
	lines := r.layout.total
	stream := filtertest.Stream{Seed: 1}
	for i := range uint64(items) {
		f.Add(stream.Present(i))
	}
	if r.layout.total != lines {
		t.Errorf("%d lines have become %d", lines, r.layout.total)
	}
	for i := range uint64(items) {
		f.Delete(stream.Present(i))
	}
	if r.layout.total != lines {
		t.Errorf("%d lines have become %d when the keys were gone", lines, r.layout.total)
	}
}
