package kinds

import (
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/internal/theory"
)

func predictBloom(c Config, n uint64) (Prediction, error) {
	s, err := bloom.Config{Items: c.Items, FPR: c.FPR}.Shape()
	if err != nil {
		return Prediction{}, err
	}
	fill := theory.BloomFill(float64(s.Bits), float64(s.Hashes), float64(n))
	return Prediction{
		FastBitsPerKey: perKey(wholeWords(s.Bits), n),
		FPR:            s.FPR(n),
		HitLines:       float64(s.Hashes),
		MissLines:      missLines(foursThenOnes(s.Hashes), fill),
	}, nil
}

// missLines returns how many positions are read on average before one is found
// clear: groups of positions are read together, each group if all before it were
// set.
func missLines(groups []int, fill float64) float64 {
	lines, reached := 0.0, 1.0
	for _, n := range groups {
		lines += reached * float64(n)
		for range n {
			reached *= fill
		}
	}
	return lines
}

// foursThenOnes follows [bloom.Filter.MayContain]: positions are read four at a
// time, the last few one by one.
func foursThenOnes(hashes int) []int {
	groups := fours(hashes)
	for range hashes % 4 {
		groups = append(groups, 1)
	}
	return groups
}

// twoThenFours follows [counting.Filter.MayContain]: two positions are read first,
// then four at a time, the last few together.
func twoThenFours(hashes int) (groups []int) {
	if hashes >= 2 {
		groups = append(groups, 2)
		hashes -= 2
	}
	groups = append(groups, fours(hashes)...)
	if rest := hashes % 4; rest > 0 {
		groups = append(groups, rest)
	}
	return groups
}

func fours(hashes int) []int {
	groups := make([]int, hashes/4, hashes/4+3)
	for i := range groups {
		groups[i] = 4
	}
	return groups
}

func predictBlocked(c Config, n uint64) (Prediction, error) {
	s, err := bloom.Config{Items: c.Items, FPR: c.FPR}.BlockedShape()
	if err != nil {
		return Prediction{}, err
	}
	return Prediction{
		FastBitsPerKey: perKey(float64(s.Bits()), n),
		FPR:            s.FPR(n),
		HitLines:       1,
		MissLines:      1,
	}, nil
}

func predictCounting(c Config, n uint64) (Prediction, error) {
	s, err := counting.Config{Items: c.Items, FPR: c.FPR}.Shape()
	if err != nil {
		return Prediction{}, err
	}
	fill := theory.BloomFill(float64(s.Counters), float64(s.Hashes), float64(n))
	return Prediction{
		FastBitsPerKey: perKey(wholeWords(s.Bits()), n),
		FPR:            s.FPR(n),
		HitLines:       float64(s.Hashes),
		MissLines:      missLines(twoThenFours(s.Hashes), fill),
	}, nil
}

func predictDeletable(c Config, n uint64) (Prediction, error) {
	s, err := deletable.Config{Items: c.Items, FPR: c.FPR}.Shape()
	if err != nil {
		return Prediction{}, err
	}
	fill := theory.BloomFill(float64(s.Cells()), float64(s.Hashes), float64(n))
	return Prediction{
		FastBitsPerKey: perKey((wholeWords(s.Cells()) + wholeWords(s.Regions)), n),
		FPR:            s.FPR(n),
		HitLines:       float64(s.Hashes),
		MissLines:      missLines(foursThenOnes(s.Hashes), fill),
	}, nil
}

// predictDLeft has one bucket of each subtable read for every query, of whatever
// answer. More keys than cells are an error.
func predictDLeft(c Config, n uint64) (Prediction, error) {
	s, err := dleft.Config{Items: c.Items, FPR: c.FPR}.Shape()
	if err != nil {
		return Prediction{}, err
	}
	if cells := uint64(s.Subtables) * s.Buckets * uint64(s.Cells); n > cells {
		return Prediction{}, fmt.Errorf("kinds: dleft: %d keys in %d cells: %w", n, cells, filter.ErrFull)
	}
	lines := float64(s.Subtables) * linesOf(s.Cells*(s.Remainder+s.Counter))
	return Prediction{
		FastBitsPerKey: perKey(wholeWords(s.Bits()), n),
		FPR:            s.FPR(n),
		HitLines:       lines,
		MissLines:      lines,
	}, nil
}

// linesOf returns how many cache lines a run of bits lies in on average, if runs
// follow each other without gaps: they begin at all multiples of the largest
// power of two in their length.
func linesOf(run int) float64 {
	const line = 512
	step := min(line, run&-run)
	return 1 + float64(run-step)/line
}

// wholeWords returns the bits of as many words as hold n bits.
func wholeWords(n uint64) float64 { return float64(64 * bitvec.WordsFor(n)) }
