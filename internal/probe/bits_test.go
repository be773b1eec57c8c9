package probe_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/internal/probe"
)

// TestAllNeedsEveryPosition sets the positions of a hash but for one, each in turn.
func TestAllNeedsEveryPosition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	const size = 1<<16 - 7
	for hashes := 1; hashes <= 11; hashes++ {
		h := rng.Uint64()
		for missing := -1; missing < hashes; missing++ {
			words := make([]uint64, 1<<10)
			step := h
			for i := range hashes {
				if at := probe.Reduce(step, size); i != missing {
					words[at/64] |= 1 << (at % 64)
				}
				step = probe.Step(step)
			}
			want := missing < 0
			first := min(4, hashes)
			if got := probe.All(words, size, h, hashes); got != want {
				t.Errorf("All of %d without %d: %t", hashes, missing, got)
			}
			got := probe.First(words, size, h, first) != 0 && probe.Rest(words, size, probe.StepBy(h, first), hashes-first)
			if got != want {
				t.Errorf("First and Rest of %d without %d: %t", hashes, missing, got)
			}
		}
	}
}

func TestMissLinesFollowTheOrder(t *testing.T) {
	for _, c := range []struct {
		hashes     int
		fill, want float64
	}{
		{1, 0.5, 1},
		{3, 0.5, 1 + 0.5 + 0.25},
		{4, 0.5, 4},
		{7, 0.5, 4 + 1.0/16*(1+0.5+0.25)},
		{8, 0.5, 4 + 1.0/16*4},
		{10, 0, 4},
		{10, 1, 10},
	} {
		if got := probe.MissLines(c.hashes, c.fill, probe.Group); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%d hashes at fill %g: %g lines, want %g", c.hashes, c.fill, got, c.want)
		}
	}
}
