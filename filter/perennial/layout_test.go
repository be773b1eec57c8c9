package perennial

import (
	"math/bits"
	"testing"
)

func TestRingGoesThroughEveryLineOnce(t *testing.T) {
	for n := uint64(minLines); n < 400; n++ {
		y := layoutOf(n)
		if unpack(y.pack()) != y {
			t.Fatalf("%d lines: %+v is read as %+v", n, y, unpack(y.pack()))
		}
		seen := map[uint64]bool{}
		total := 0
		first := y.groupOf(0)
		for p := first; ; {
			if seen[p.index()] || p.index() >= n {
				t.Fatalf("%d lines: %d comes twice or is none of them", n, p.index())
			}
			seen[p.index()] = true
			total += p.width()
			next := y.after(p)
			if y.before(next) != p {
				t.Fatalf("%d lines: %+v comes after %+v, which comes before %+v", n, next, p, y.before(next))
			}
			if p = next; p == first {
				break
			}
		}
		if uint64(len(seen)) != n || uint64(total) != y.buckets() {
			t.Fatalf("%d lines: %d of them, %d buckets of %d", n, len(seen), total, y.buckets())
		}
	}
}

func TestKeysLieInHashOrder(t *testing.T) {
	const w = 12
	for n := uint64(minLines); n < 100; n++ {
		y := layoutOf(n)
		p, bucket := y.groupOf(0), -1
		for z := uint64(0); ; {
			to := y.locate(z, w)
			if bucket++; bucket == p.width() {
				p, bucket = y.after(p), 0
			}
			if to.place != p || to.idx != bucket {
				t.Fatalf("%d lines: key %x is at %+v, want bucket %d of %+v", n, z, to, bucket, p)
			}
			z += 1 << (64 - bucketLog - uint(to.level))
			if z == 0 {
				break
			}
		}
	}
}

// TestSuffixesFollowTheBucket compares with bits taken one by one.
func TestSuffixesFollowTheBucket(t *testing.T) {
	const z = 0x9E3779B97F4A7C15
	for n := uint64(minLines); n < 1<<20; n += n/3 + 1 {
		to := layoutOf(n).locate(z, 12)
		var bucket, y uint64
		for i := range uint(bucketLog) {
			bucket = bucket<<1 | z>>(63-uint(to.level)-i)&1
		}
		for i := range uint(11) {
			y = y<<1 | z>>(63-uint(to.level)-bucketLog-i)&1
		}
		if uint64(to.start()+to.idx) != bucket || to.y != y<<1|1 || to.group != bits.Reverse64(z)&(1<<to.level-1) {
			t.Fatalf("%d lines: %+v, want bucket %d and suffix %b", n, to, bucket, y)
		}
	}
}
