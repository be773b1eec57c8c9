package bitvec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestWordsForCoversEveryBit(t *testing.T) {
	for _, tc := range []struct{ bits, want uint64 }{
		{0, 0},
		{1, 1},
		{63, 1},
		{64, 1},
		{65, 2},
		{128, 2},
		{129, 3},
		{math.MaxUint64, 1 << 58},
		{math.MaxUint64 - 63, 1<<58 - 1},
	} {
		if got := WordsFor(tc.bits); got != tc.want {
			t.Errorf("WordsFor(%d) = %d, want %d", tc.bits, got, tc.want)
		}
	}
}

func TestSetAndClearTouchOneBitOnly(t *testing.T) {
	for _, ground := range []uint64{0, math.MaxUint64} {
		for i := range uint64(3 * wordBits) {
			v := Vector{ground, ground, ground}
			want := slices.Clone(v)
			want[i/64] |= 1 << (i % 64)
			if was := v.Get(i); v.Set(i) == was {
				t.Fatalf("ground %x: Set(%d) says the opposite of what Get said", ground, i)
			}
			if !v.Get(i) || !slices.Equal(v, want) {
				t.Fatalf("ground %x: Set(%d) gives\n%v", ground, i, v)
			}
			want[i/64] &^= 1 << (i % 64)
			v.Clear(i)
			if v.Get(i) || !slices.Equal(v, want) {
				t.Fatalf("ground %x: Clear(%d) gives\n%v", ground, i, v)
			}
		}
	}
}

func TestBitsOutsidePanic(t *testing.T) {
	v := make(Vector, 1, 2)
	mustPanic(t, "Get", func() { v.Get(64) })
	mustPanic(t, "Set", func() { v.Set(64) })
	mustPanic(t, "Clear", func() { v.Clear(math.MaxUint64) })
}

// TestBulkAgreesWithSingleBits covers every length around the unrolled step.
func TestBulkAgreesWithSingleBits(t *testing.T) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, 0))
	for length := range 19 {
		a, b := random(rng, length), random(rng, length)
		var inA, inEither, inBoth uint64
		for i := range uint64(length * wordBits) {
			x, y := a.Get(i), b.Get(i)
			inA += count(x)
			inEither += count(x || y)
			inBoth += count(x && y)
		}
		or, and := slices.Clone(a), slices.Clone(a)
		if got := a.Count(); got != inA {
			t.Errorf("seed %d, %d words: Count = %d, want %d", seed, length, got, inA)
		}
		if got := or.Or(b); got != inEither || or.Count() != got {
			t.Errorf("seed %d, %d words: Or = %d, then Count = %d, want %d", seed, length, got, or.Count(), inEither)
		}
		if got := and.And(b); got != inBoth || and.Count() != got {
			t.Errorf("seed %d, %d words: And = %d, then Count = %d, want %d", seed, length, got, and.Count(), inBoth)
		}
		checkBits(t, a, b, or, and)
	}
}

func checkBits(t *testing.T, a, b, or, and Vector) {
	t.Helper()
	for i := range uint64(len(a) * wordBits) {
		if or.Get(i) != (a.Get(i) || b.Get(i)) || and.Get(i) != (a.Get(i) && b.Get(i)) {
			t.Fatalf("bit %d: a %t, b %t, or %t, and %t", i, a.Get(i), b.Get(i), or.Get(i), and.Get(i))
		}
	}
}

func TestMergingUnequalLengthsPanics(t *testing.T) {
	// The shorter one has room behind it: a mere reslice would not notice.
	short, long := make(Vector, 1, 4), make(Vector, 2)
	mustPanic(t, "long.Or(short)", func() { long.Or(short) })
	mustPanic(t, "short.Or(long)", func() { short.Or(long) })
	mustPanic(t, "long.And(short)", func() { long.And(short) })
	mustPanic(t, "short.And(long)", func() { short.And(long) })
}

func TestOnesAreTheSetBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for length := range 5 {
		v := random(rng, length)
		if length > 1 {
			v[1] = 0
		}
		for from := range uint64(wordBits*length + 2) {
			var want []uint64
			for i := from; i < uint64(wordBits*length); i++ {
				if v.Get(i) {
					want = append(want, i)
				}
			}
			if got := slices.Collect(v.Ones(from)); !slices.Equal(got, want) {
				t.Fatalf("%v from %d: %v, want %v", v, from, got, want)
			}
		}
	}
	for i := range (Vector{6}).Ones(0) {
		if i != 1 {
			t.Errorf("the first one is %d", i)
		}
		break
	}
}

func random(rng *rand.Rand, length int) Vector {
	v := make(Vector, length)
	for i := range v {
		v[i] = rng.Uint64()
	}
	return v
}

func count(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s did not panic", what)
		}
	}()
	f()
}
