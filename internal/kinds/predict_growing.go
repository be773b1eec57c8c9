package kinds

import (
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/filter/partition"
	"github.com/everbloom-go/everbloom/filter/scalable"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// The kinds that grow predict themselves; here their figures take the common form.

func predictScalable(c Config, n uint64) (Prediction, error) {
	s, err := scalable.Config{Items: c.Items, FPR: c.FPR}.Shape()
	if err != nil {
		return Prediction{}, err
	}
	p, err := s.Predict(n)
	return Prediction{FastBitsPerKey: perKey(float64(p.Bits), n), FPR: p.FPR, HitLines: p.HitLines, MissLines: p.MissLines}, err
}

func predictPartition(c Config, n uint64) (Prediction, error) {
	s, err := partition.Config{Items: c.Items, FPR: c.FPR}.Shape()
	if err != nil {
		return Prediction{}, err
	}
	p := s.Predict(float64(n))
	return Prediction{
		FastBitsPerKey: perKey(p.FastBits, n), SlowBitsPerKey: perKey(p.SlowBits, n),
		FPR: p.FPR, HitLines: p.HitLines, MissLines: p.MissLines,
	}, nil
}

func predictDynamic(c Config, n uint64) (Prediction, error) {
	s, err := dynamic.Config{Items: c.Items, FPR: c.FPR}.Shape()
	if err != nil {
		return Prediction{}, err
	}
	return fromDynamic(s.Predict(n), n), nil
}

func predictParallel(c Config, n uint64) (Prediction, error) {
	s, err := dynamic.Config{Items: c.Items, FPR: c.FPR}.ParallelShape()
	if err != nil {
		return Prediction{}, err
	}
	return fromDynamic(s.Predict(n), n), nil
}

func fromDynamic(p dynamic.Prediction, n uint64) Prediction {
	return Prediction{FastBitsPerKey: perKey(float64(p.Bits), n), FPR: p.FPR, HitLines: p.HitLines, MissLines: p.MissLines}
}

func predictElastic(c Config, n uint64) (Prediction, error) {
	s, err := elastic.Config{Items: c.Items, FPR: c.FPR}.Shape()
	if err != nil {
		return Prediction{}, err
	}
	if _, fits := s.Doublings(n); !fits {
		return Prediction{}, fmt.Errorf("kinds: elastic: %d keys, at most about %d: %w", n, s.Capacity(), filter.ErrFull)
	}
	return Prediction{
		FastBitsPerKey: perKey(float64(s.FastBits(n)), n), SlowBitsPerKey: perKey(float64(s.SlowBits(n)), n),
		FPR: s.FPR(n), HitLines: float64(s.Hashes), MissLines: missLines(foursThenOnes(s.Hashes), s.Fill(n)),
	}, nil
}

// predictEvergreen has the blocks for the Items from the start, and more when more
// keys need them. Few keys are searched in a list: that reads where they are, and a line
// for each halving until one line is left.
func predictEvergreen(c Config, n uint64) (Prediction, error) {
	s, err := c.evergreen().Shape()
	if err != nil {
		return Prediction{}, err
	}
	p := s.Predict(n)
	if n < c.Items {
		if start := s.Predict(c.Items); start.Blocks > p.Blocks {
			p.Blocks, p.FastBits = start.Blocks, start.FastBits
			p.SlowBits = uint64(evergreen.SlowBits(float64(n), float64(start.Blocks), s.Width))
			p.FPR = evergreen.Rate(float64(n), float64(start.Blocks), s.Hashes/theory.BlockWords)
		}
	}
	lines := 1.0
	if p.Blocks == 0 {
		lines += 1 + math.Log2(max(1, float64(n)/8))
	}
	return Prediction{
		FastBitsPerKey: perKey(float64(p.FastBits), n), SlowBitsPerKey: perKey(float64(p.SlowBits), n),
		FPR: p.FPR, HitLines: lines, MissLines: lines,
	}, nil
}

// evergreen returns the Config of that kind, which holds no higher rate than one half.
func (c Config) evergreen() evergreen.Config {
	if c.FPR > 0.5 && c.FPR < 1 {
		c.FPR = 0.5
	}
	return evergreen.Config{Items: c.Items, FPR: c.FPR, SlowFile: c.SlowFile}
}

// perKey divides; of a filter without keys it returns all of its bits.
func perKey(bits float64, n uint64) float64 { return bits / float64(max(n, 1)) }
