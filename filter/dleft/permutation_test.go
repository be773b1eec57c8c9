package dleft

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestPathsArePermutations goes through all fingerprints of small filters, of
// which every number of buckets up to 40 has some.
func TestPathsArePermutations(t *testing.T) {
	for buckets := uint64(1); buckets <= 40; buckets++ {
		for r := 1; r <= 5; r++ {
			f := build(t, Shape{Subtables: 4, Buckets: buckets, Cells: 1, Remainder: r, Counter: 1, Salt: buckets})
			for i := range f.subtables {
				seen := make(map[[2]uint64]bool)
				for fp := range f.space {
					bucket, remainder := f.at(i, fp)
					seen[[2]uint64{bucket, remainder}] = true
					if bucket < i*buckets || bucket >= (i+1)*buckets {
						t.Fatalf("%+v: fingerprint %d in bucket %d of subtable %d", f.shape, fp, bucket, i)
					}
					if (remainder == 0) != (fp%(1<<r) == 0) {
						t.Fatalf("%+v: fingerprint %d has remainder %d in subtable %d", f.shape, fp, remainder, i)
					}
					if back := f.recover(i, bucket-i*buckets, remainder); back != fp {
						t.Fatalf("%+v: fingerprint %d comes back from subtable %d as %d", f.shape, fp, i, back)
					}
				}
				if uint64(len(seen)) != f.space {
					t.Fatalf("%+v: subtable %d keeps %d fingerprints in %d ways", f.shape, i, f.space, len(seen))
				}
			}
		}
	}
}

func TestFactorsMultiplyAsBigNumbersDo(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		m := (rng.Uint64()>>(1+rng.IntN(62)) + 1) * 2
		if m >= 1<<63 {
			m = 1<<63 - 2
		}
		a, x := rng.Uint64N(m), rng.Uint64N(m)
		if rng.IntN(3) == 0 {
			a, x = m-1, m-1
		}
		product := new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(x))
		want := product.Mod(product, new(big.Int).SetUint64(m)).Uint64()
		if got := newFactor(a, m).times(x, m); got != want {
			t.Fatalf("%d·%d mod %d = %d, want %d", a, x, m, got, want)
		}
	}
}

// TestPathsDiffer looks at the largest and the most awkward spaces: a product of
// the first primes has the fewest inverses.
func TestPathsDiffer(t *testing.T) {
	for _, m := range []uint64{1 << maxSpace, 2 * 3 * 5 * 7 * 11 * 13 * 17 * 19 * 23 * 29 * 31 * 37 * 41 * 43, 1 << 25, 32} {
		for salt := range uint64(200) {
			p := permutations(maxSubtables, m, salt)
			for i := range p {
				if taken(p[:i], p[i].forth.value) {
					t.Fatalf("space %d, salt %d: path %d is as one before", m, salt, i)
				}
				if x := p[i].back.times(p[i].forth.times(m-1, m), m); x != m-1 {
					t.Fatalf("space %d, salt %d: path %d leads from %d to %d", m, salt, i, m-1, x)
				}
			}
		}
	}
}
