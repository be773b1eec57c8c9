package dleft_test

import (
	"math"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/internal/theory"
)

func TestShapeFollowsThePaper(t *testing.T) {
	for _, c := range []struct {
		config dleft.Config
		want   dleft.Shape
	}{
		// The geometry of Sec. 5.1 is that of its 49,152 keys at 0.15 %.
		{dleft.Config{Items: 49_152, FPR: 0.0015}, dleft.Shape{Subtables: 4, Buckets: 2048, Cells: 8, Remainder: 14, Counter: 2}},
		{dleft.Config{Items: 49_152, FPR: 0.3}, dleft.Shape{Subtables: 4, Buckets: 2048, Cells: 8, Remainder: 14, Counter: 2}},
		{dleft.Config{Items: 49_152, FPR: 24.0 / (1 << 14)}, dleft.Shape{Subtables: 4, Buckets: 2048, Cells: 8, Remainder: 14, Counter: 2}},
		// Where that is not enough, three subtables are, for a while.
		{dleft.Config{}, dleft.Shape{Subtables: 3, Buckets: 61_051, Cells: 8, Remainder: 14, Counter: 2}},
		{dleft.Config{Subtables: 4}, dleft.Shape{Subtables: 4, Buckets: 41_667, Cells: 8, Remainder: 15, Counter: 2}},
		{dleft.Config{FPR: 0.00099}, dleft.Shape{Subtables: 4, Buckets: 41_667, Cells: 8, Remainder: 15, Counter: 2}},
		{dleft.Config{Items: 1, FPR: 1e-6, Salt: 5}, dleft.Shape{Subtables: 4, Buckets: 1, Cells: 8, Remainder: 25, Counter: 2, Salt: 5}},
		{dleft.Config{Items: 2400, Remainder: 11}, dleft.Shape{Subtables: 4, Buckets: 100, Cells: 8, Remainder: 11, Counter: 2}},
		{dleft.Config{Items: 2400, FPR: 0.01, Counter: 4}, dleft.Shape{Subtables: 4, Buckets: 100, Cells: 8, Remainder: 12, Counter: 4}},
		{dleft.Config{Items: 1000, FPR: 0.01, Subtables: 2, Cells: 4, Load: 2.5}, dleft.Shape{Subtables: 2, Buckets: 200, Cells: 4, Remainder: 14, Counter: 2}},
	} {
		got, err := c.config.Shape()
		if err != nil || got != c.want {
			t.Errorf("%+v: got %+v, %v, want %+v", c.config, got, err, c.want)
		}
	}
}

// TestRateIsMet: the expected rate is never above the asked one.
func TestRateIsMet(t *testing.T) {
	for fpr := 0.9; fpr > 3e-8; fpr *= 0.7 {
		for _, n := range []uint64{1, 10, 1000, 999_999} {
			s, err := dleft.Config{Items: n, FPR: fpr}.Shape()
			if err != nil {
				t.Fatal(err)
			}
			if got := s.FPR(n); got > fpr {
				t.Errorf("%d keys at %g: predicted rate %g with %+v", n, fpr, got, s)
			}
		}
	}
}

func TestConfigReportsAllProblems(t *testing.T) {
	_, err := dleft.Config{Items: math.MaxUint64, FPR: 2, Subtables: 9, Cells: -1, Counter: 31, Remainder: -3}.Shape()
	for _, want := range []string{"Items: 18446744073709551615", "FPR: 2", "Subtables: 9", "Cells: -1", "Counter: 31", "Remainder: -3"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	for want, c := range map[string]dleft.Config{
		"Load: 9, must be above 0 and at most 8": {Load: 9},
		"Load: -1":                               {Load: -1},
		"Load: NaN":                              {Load: math.NaN()},
		"30 bits of remainder give 2.24e-08 at best": {FPR: 1e-8, Items: 100},
		"11 bits of remainder give 0.0117 at best":   {FPR: 0.01, Remainder: 11},
		"at load 6 every key would be found":         {Remainder: 4},
		"keys of 64 bits give at least 6e-08":        {FPR: 5e-8, Items: 1 << 40},
		"Remainder and Counter: 40 bits together":    {Remainder: 20, Counter: 20},
		"Buckets: 8796093022208, must be 1 to":       {Items: 1 << 43, Subtables: 1, Load: 1},
		"fingerprints of 66 bits, at most 62":        {Items: 1 << 38, Subtables: 1, Load: 4, Remainder: 30},
		"10 bits of remainder give 0.0234 at best":   {FPR: 0.001, Counter: 22},
	} {
		if s, err := c.Shape(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %+v, %v, want %q", c, s, err, want)
		}
		if f, err := dleft.New(c); err == nil || f != nil {
			t.Errorf("%+v: made", c)
		}
	}
}

func TestBuildRefusesBadShapes(t *testing.T) {
	good := dleft.Shape{Subtables: 4, Buckets: 10, Cells: 8, Remainder: 14, Counter: 2}
	for _, change := range []func(*dleft.Shape){
		func(s *dleft.Shape) { s.Subtables = 0 },
		func(s *dleft.Shape) { s.Subtables = 9 },
		func(s *dleft.Shape) { s.Buckets = 0 },
		func(s *dleft.Shape) { s.Buckets = math.MaxUint64 },
		func(s *dleft.Shape) { s.Buckets, s.Remainder = 1<<33, 30 },
		func(s *dleft.Shape) { s.Cells = 0 },
		func(s *dleft.Shape) { s.Cells = 33 },
		func(s *dleft.Shape) { s.Remainder = 0 },
		func(s *dleft.Shape) { s.Remainder = 31 },
		func(s *dleft.Shape) { s.Counter = -1 },
		func(s *dleft.Shape) { s.Counter = 19 },
	} {
		s := good
		change(&s)
		if f, err := dleft.Build(s); err == nil || f != nil {
			t.Errorf("%+v: built", s)
		}
	}
}

// TestPredictedLinesAreThoseOfBuckets lays buckets end to end and counts the lines that
// they touch.
func TestPredictedLinesAreThoseOfBuckets(t *testing.T) {
	for _, s := range []dleft.Shape{
		{Subtables: 1, Buckets: 512, Cells: 1, Remainder: 1, Counter: 1},
		{Subtables: 4, Buckets: 512, Cells: 8, Remainder: 14, Counter: 2},
		{Subtables: 3, Buckets: 512, Cells: 8, Remainder: 15, Counter: 2},
		{Subtables: 2, Buckets: 512, Cells: 17, Remainder: 30, Counter: 2},
	} {
		bits := s.Cells * (s.Remainder + s.Counter)
		touched := 0
		for i := range 512 {
			touched += ((i+1)*bits-1)/512 - i*bits/512 + 1
		}
		want := float64(s.Subtables*touched) / 512
		p, err := s.Predict(10)
		if err != nil || math.Abs(p.HitLines-want) > 1e-9 || p.MissLines != p.HitLines {
			t.Errorf("%+v: %+v, %v, counted %g lines", s, p, err, want)
		}
	}
}

// TestHalfOfCounting compares the memory with that of a counting filter with four bits
// per counter and the same rate, below 2 %: above, that has few hashes and so few counters.
func TestHalfOfCounting(t *testing.T) {
	const n = 1_000_000
	for _, c := range []dleft.Config{{FPR: 0.01, Remainder: 12}, {FPR: 0.01}, {FPR: 0.001}, {FPR: 1e-4}, {FPR: 1e-6}} {
		c.Items = n
		s, err := c.Shape()
		if err != nil {
			t.Fatal(err)
		}
		if rate := s.FPR(n); rate > c.FPR || float64(s.Bits()) > 4*theory.BloomBits(n, rate)/2 {
			t.Errorf("%+v: %d bits at %g", c, s.Bits(), rate)
		}
	}
}
