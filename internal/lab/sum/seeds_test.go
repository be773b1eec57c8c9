package sum

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter/bloom"
)

// Values of the reference implementation of MurmurHash3_x86_32.
func TestMurmur32AgreesWithTheReference(t *testing.T) {
	for _, c := range []struct {
		key  string
		seed uint32
		want uint32
	}{
		{"", 0, 0},
		{"", 1, 0x514e28b7},
		{"", 0xffffffff, 0x81f16f39},
		{"test", 0, 0xba6bd213},
		{"test", 0x9747b28c, 0x704b81dc},
		{"Hello, world!", 0, 0xc0363e43},
		{"Hello, world!", 0x9747b28c, 0x24884cba},
		{"The quick brown fox jumps over the lazy dog", 0x9747b28c, 0x2fa826cd},
		{"aa", 0x9747b28c, 0x5d211726},
		{"aaa", 0x9747b28c, 0x283e0130},
	} {
		if got := murmur32([]byte(c.key), c.seed); got != c.want {
			t.Errorf("%q, seed %#x: %#x, want %#x", c.key, c.seed, got, c.want)
		}
	}
}

func TestNoWayDeniesAKey(t *testing.T) {
	s := bloom.Shape{Bits: 5_000, Hashes: 7}
	for _, way := range []string{seededWay, murmurWay, derivedWay} {
		r := rand.New(rand.NewPCG(1, 1))
		f, err := buildWay(way, r, s)
		if err != nil {
			t.Fatal(err)
		}
		var keys [][]byte
		for range 500 {
			keys = append(keys, address(nil, r, 0))
			f.add(keys[len(keys)-1])
		}
		for _, k := range keys {
			if !f.has(k) {
				t.Errorf("%s: %s is denied", way, k)
			}
		}
	}
	if _, err := buildWay(murmurWay, rand.New(rand.NewPCG(1, 1)), bloom.Shape{}); err == nil {
		t.Error("a filter without bits")
	}
}

// Members and absent keys must never be the same address.
func TestAddressesAreOfTwoSorts(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	members := map[string]bool{}
	for range 10_000 {
		members[string(address(nil, r, 0))] = true
	}
	for range 10_000 {
		if a := address(nil, r, 1); members[string(a)] {
			t.Fatalf("%s is of both sorts", a)
		}
	}
}

func TestModuloRate(t *testing.T) {
	// A power of two divides 2^32: nothing is uneven, and P is the formula's.
	s := bloom.Shape{Bits: 1 << 24, Hashes: 10}
	if got, want := moduloRate(s, 1.1e6), s.FPR(1_100_000); math.Abs(got-want) > 1e-9*want {
		t.Errorf("rate %v, formula %v", got, want)
	}
	// Two thirds of the positions twice as often as the others: the worst of its kind.
	uneven := bloom.Shape{Bits: 3 << 30, Hashes: 10}
	n := float64(uneven.Bits) / 14.4
	if ratio := moduloRate(uneven, n) / uneven.FPR(uint64(n)); ratio < 1.2 || ratio > 2 {
		t.Errorf("%v times the rate", ratio)
	}
}
