package sum

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// contest is one contender of a timing.
type contest struct {
	name string
	run  func() (sum uint64) // one round, always the same work
	sums uint64              // of all rounds, so that nothing timed is left out by the compiler
	took []float64
}

// timeRounds runs all contenders in turn, so that what slows the machine slows all
// of them, and keeps the nanoseconds of every round.
func timeRounds(list []contest, rounds int) {
	for range rounds {
		for i := range list {
			start := time.Now()
			list[i].sums += list[i].run()
			list[i].took = append(list[i].took, float64(time.Since(start).Nanoseconds()))
		}
	}
}

// median is robust against rounds in which something else ran.
func (c contest) median() float64 { return lab.Median(c.took) }

const (
	timedKeys   = 5_000
	timedRounds = 9
)

// hashSpeed times queries of absent and present keys with each way of hashing, and
// the hashes alone. It is a timing: figures depend on the machine, only their
// order is checked.
func hashSpeed(e *lab.Env) (t lab.Table, c lab.Check, err error) {
	r := e.Rand(1)
	keys := make([][]byte, timedKeys)
	for i := range keys {
		keys[i] = address(nil, r, uint32(i&1))
	}
	s, err := bloom.Config{Items: timedKeys}.Shape()
	if err != nil {
		return t, c, err
	}
	var list []contest
	for _, w := range ways {
		run, err := w.queries(r, s, keys)
		if err != nil {
			return t, c, err
		}
		list = append(list, contest{name: "query, " + w.name, run: run})
	}
	list = append(list, hashAlone(keys)...)
	timeRounds(list, timedRounds)
	t = lab.Table{
		Name: "speed", Title: "Nanoseconds per key, a timing on this machine", Columns: []string{"what", "ns", "to the first"},
		Notes: []string{fmt.Sprintf("Addresses of up to 15 bytes, half of them present; k = %d. Medians of %d rounds, contenders in turn.", s.Hashes, timedRounds)},
	}
	for _, c := range list {
		t.Add(c.name, lab.Digits(c.median()/timedKeys, 3), lab.Digits(c.median()/list[0].median(), 3))
	}
	ratio := list[0].median() / list[2].median()
	return t, lab.Holds("time of a query, k hashes to one (timing)", "a Bloom Filter is only as fast as its hashing function (Approach)",
		fmt.Sprintf("%.1f times the time of a query with one XXH3", ratio), ratio > 1, "direction only: hashing less often is faster").Timed(), nil
}

// queries returns a round of queries on a filter with the even keys.
func (w positions) queries(r *rand.Rand, s bloom.Shape, keys [][]byte) (func() uint64, error) {
	add, has, err := w.build(r, s)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(keys); i += 2 {
		add(keys[i])
	}
	return func() (yes uint64) {
		for _, k := range keys {
			if has(k) {
				yes++
			}
		}
		return yes
	}, nil
}

// hashAlone times the functions that the text names, and ours.
func hashAlone(keys [][]byte) []contest {
	each := func(name string, hash func(key []byte) uint64) contest {
		return contest{name: "hash only, " + name, run: func() (sum uint64) {
			for _, k := range keys {
				sum += hash(k)
			}
			return sum
		}}
	}
	of := func(h filter.Hash) func([]byte) uint64 { return func(k []byte) uint64 { return uint64(h.Bytes(k)) } }
	return []contest{
		each("MD5", func(k []byte) uint64 { d := md5.Sum(k); return binary.LittleEndian.Uint64(d[:]) }),
		each("Murmur3, 32 bits", func(k []byte) uint64 { return uint64(murmur32(k, 1)) }),
		each("Murmur3, 128 bits", of(filter.Murmur3(1))),
		each("XXH3", of(filter.Hash{})),
		each("SipHash", of(filter.SipHash([16]byte{1}))),
	}
}
