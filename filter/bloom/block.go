package bloom

import (
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/internal/probe"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// This file is the portable form of what block_amd64.s does: the meaning of the
// bits, and the code wherever assembly is missing.

// locate returns the block of k and the 64 bits of the first round's pattern.
// They come from different multiplications: keys that share a block share the
// upper bits of h.
func (f *Blocked) locate(k filter.Key) (b *block, pattern uint64) {
	h := f.mixer.Mix(k)
	i := probe.Reduce(h, f.blocks) * theory.BlockWords
	return (*block)(f.words[i:]), probe.Step(h)
}

// Block returns the number of the block that has the bits of k.
func (f *Blocked) Block(k filter.Key) uint64 { return probe.Reduce(f.mixer.Mix(k), f.blocks) }

// CountBits adds to the number of set bits what AddFast returned.
func (f *Blocked) CountBits(fresh uint64) { f.set += fresh }

// portableHas tests all words without a branch: guessing where a test will fail
// costs more than the tests.
func (f *Blocked) portableHas(k filter.Key) bool {
	b, p := f.locate(k)
	all := b.has(p)
	for range f.rounds - 1 {
		p = probe.Step(p)
		all &= b.has(p)
	}
	return all != 0
}

// portableAdd sets the bits of k and returns how many were clear.
func (f *Blocked) portableAdd(k filter.Key) (fresh uint64) {
	b, p := f.locate(k)
	for range f.rounds {
		fresh += b.add(p)
		p = probe.Step(p)
	}
	return fresh
}

// has returns 1 if all bits of one round's pattern are set, else 0.
func (b *block) has(p uint64) uint64 {
	all := bitvec.Load(&b[0]) >> (p >> 58)
	all &= bitvec.Load(&b[1]) >> (p >> 52 & 63)
	all &= bitvec.Load(&b[2]) >> (p >> 46 & 63)
	all &= bitvec.Load(&b[3]) >> (p >> 40 & 63)
	all &= bitvec.Load(&b[4]) >> (p >> 34 & 63)
	all &= bitvec.Load(&b[5]) >> (p >> 28 & 63)
	all &= bitvec.Load(&b[6]) >> (p >> 22 & 63)
	all &= bitvec.Load(&b[7]) >> (p >> 16 & 63)
	return all & 1
}

// add sets the bits of one round's pattern and returns how many were clear.
func (b *block) add(p uint64) (fresh uint64) {
	for w := range b {
		i := p >> (58 - 6*w) & 63
		fresh += ^b[w] >> i & 1
		bitvec.Store(&b[w], b[w]|1<<i)
	}
	return fresh
}
