package probe

import "github.com/everbloom-go/everbloom/internal/bitvec"

// All reports whether the positions of h and its next steps, hashes in all, are set
// among size bits: bit i is bit i%64 of words[i/64].
//
// Positions are tested four at a time: their cache misses overlap, and where
// absent keys are common the processor is not made to guess which of the first
// few bits will be clear. [Group] tells the order.
func All(words []uint64, size, h uint64, hashes int) bool {
	for ; hashes >= 4; hashes -= 4 {
		if One(words, size, h)&One(words, size, Step(h))&
			One(words, size, StepBy(h, 2))&One(words, size, StepBy(h, 3)) == 0 {
			return false
		}
		h = StepBy(h, 4)
	}
	return Rest(words, size, h, hashes)
}

// Group returns how many positions [All] tests together when so many are left.
func Group(left int) int {
	if left >= 4 {
		return 4
	}
	return 1
}

// MissLines returns how many positions a query for an absent key reads on average:
// group tells how many are read together when some are left, and each group is read
// if all before it are set.
func MissLines(hashes int, fill float64, group func(left int) int) float64 {
	lines, reached := 0.0, 1.0
	for left := hashes; left > 0; {
		n := group(left)
		lines += reached * float64(n)
		for range n {
			reached *= fill
		}
		left -= n
	}
	return lines
}

// One returns 1 if the position of h is set.
func One(words []uint64, size, h uint64) uint64 {
	i := Reduce(h, size)
	return bitvec.Load(&words[i/64]) >> (i % 64) & 1
}

// First returns 1 if the positions of h and its next steps, 1 to 4 in all, are set. It
// reads all of them.
func First(words []uint64, size, h uint64, hashes int) uint64 {
	if hashes == 4 {
		return One(words, size, h) & One(words, size, Step(h)) &
			One(words, size, StepBy(h, 2)) & One(words, size, StepBy(h, 3))
	}
	all := One(words, size, h)
	for range hashes - 1 {
		h = Step(h)
		all &= One(words, size, h)
	}
	return all
}

// Rest reports whether the positions of h and its next steps, hashes in all, are set,
// and tests them one by one.
func Rest(words []uint64, size, h uint64, hashes int) bool {
	for ; hashes > 0; hashes-- {
		if One(words, size, h) == 0 {
			return false
		}
		h = Step(h)
	}
	return true
}
