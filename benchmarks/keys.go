package main

import (
	"encoding/binary"
	"math/bits"
)

// A block is a run of keys of one size, laid end to end.
type block struct {
	data []byte
	size int
}

func newBlock(keys, size int) block {
	return block{make([]byte, keys*size), size}
}

func (b block) len() int { return len(b.data) / b.size }

// slice returns keys lo to hi, which share b's memory.
func (b block) slice(lo, hi int) block {
	return block{b.data[lo*b.size : hi*b.size], b.size}
}

// absent is the number of the first absent key: no set has so many keys.
const absent = 1 << 48

// A keyspace is a set of n keys that are computed, not stored, and an endless supply of keys
// that are not in the set.
type keyspace struct {
	n    uint64 // the set is the keys numbered 0 to n-1
	size int    // bytes per key, at least 8
	seed uint64
}

// put writes key number i. The first 8 bytes alone tell all keys apart, since mix is a
// bijection; every further word comes from a stream of its own.
func (s keyspace) put(key []byte, i uint64) {
	for stream := s.seed; len(key) > 0; stream = mix(stream) {
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], mix(stream+i))
		key = key[copy(key, word[:]):]
	}
}

// number writes the keys that next names, one after the other, to b.
func (s keyspace) number(b block, next func() uint64) {
	for d := b.data; len(d) >= b.size; d = d[b.size:] {
		s.put(d[:b.size], next())
	}
}

// present writes the next keys of the set in the given order; each comes once.
func (s keyspace) present(b block, o *order) {
	s.number(b, o.next)
}

// hits writes random keys of the set, with repetitions. Another salt gives other keys.
func (s keyspace) hits(b block, salt uint64) {
	state := mix(s.seed ^ mix(salt))
	s.number(b, func() uint64 {
		state++
		index, _ := bits.Mul64(mix(state), s.n)
		return index
	})
}

// misses writes keys that are not in the set; those of two salts are all different as long as
// no block has more than 2^24 keys.
func (s keyspace) misses(b block, salt uint64) {
	i := absent + salt<<24
	s.number(b, func() uint64 { i++; return i })
}

// mix is the output function of SplitMix64 after one step: a bijection of the 64-bit words.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// An order walks the numbers 0 to n-1, each once, in steps that are prime to n. The keys of an
// arithmetic progression look as random as any, so nothing more is needed.
type order struct {
	n, step, at uint64
}

// newOrder returns the order that belongs to salt.
func newOrder(n, salt uint64) *order {
	o := &order{n: n, step: mix(salt)%n | 1, at: mix(^salt) % n}
	for gcd(o.step, n) != 1 {
		o.step += 2
	}
	o.step %= n
	return o
}

func (o *order) next() uint64 {
	at := o.at
	if o.at += o.step; o.at >= o.n {
		o.at -= o.n
	}
	return at
}

// skip returns the order as it is after j further numbers.
func (o *order) skip(j uint64) *order {
	hi, lo := bits.Mul64(o.step, j)
	far := *o
	far.at = (o.at + bits.Rem64(hi, lo, o.n)) % o.n
	return &far
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
