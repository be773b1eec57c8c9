package sum

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter/bloom"
)

func TestNoWayDeniesAKey(t *testing.T) {
	s := bloom.Shape{Bits: 5_000, Hashes: 7}
	for _, way := range []string{seededWay, murmurWay, derivedWay, countWay, mapWay} {
		r := rand.New(rand.NewPCG(1, 1))
		f, err := newTexts(way, r, s)
		if err != nil {
			t.Fatal(err)
		}
		keys := addresses(r, 500, 0)
		for _, k := range keys {
			f.add(k)
		}
		for _, k := range keys {
			if !f.has(k) {
				t.Errorf("%s: %s is denied", way, k)
			}
		}
	}
	if _, err := newTexts(murmurWay, rand.New(rand.NewPCG(1, 1)), bloom.Shape{}); err == nil {
		t.Error("a filter without bits")
	}
}

// Members and absent keys must never be the same address.
func TestAddressesAreOfTwoSorts(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	members := map[string]bool{}
	for _, a := range addresses(r, 10_000, 0) {
		members[string(a)] = true
	}
	for _, a := range addresses(r, 10_000, 1) {
		if members[string(a)] {
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
