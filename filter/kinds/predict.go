package kinds

import (
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/theory"
)

func predictBloom(c Config, n uint64) (Prediction, error) {
	s, err := bloom.Config{Items: c.Items, FPR: c.FPR}.Shape()
	if err != nil {
		return Prediction{}, err
	}
	fill := theory.BloomFill(float64(s.Bits), float64(s.Hashes), float64(n))
	return Prediction{
		FastBitsPerKey: float64(64*bitvec.WordsFor(s.Bits)) / float64(max(n, 1)),
		FPR:            s.FPR(n),
		HitLines:       float64(s.Hashes),
		MissLines:      bloomMissLines(s.Hashes, fill),
	}, nil
}

// bloomMissLines follows [bloom.Filter.MayContain]: positions are read four at a
// time, the last few one by one, until one is clear.
func bloomMissLines(hashes int, fill float64) float64 {
	lines, reached := 0.0, 1.0
	for left := hashes; left > 0; {
		n := 1
		if left >= 4 {
			n = 4
		}
		lines += reached * float64(n)
		for range n {
			reached *= fill
		}
		left -= n
	}
	return lines
}

func predictBlocked(c Config, n uint64) (Prediction, error) {
	s, err := bloom.Config{Items: c.Items, FPR: c.FPR}.BlockedShape()
	if err != nil {
		return Prediction{}, err
	}
	return Prediction{
		FastBitsPerKey: float64(s.Bits()) / float64(max(n, 1)),
		FPR:            s.FPR(n),
		HitLines:       1,
		MissLines:      1,
	}, nil
}
