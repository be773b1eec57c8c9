package partition

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOffsetsAreASet compares with a sorted list, in spans from one id to all 64
// bits and from thin to full.
func TestOffsetsAreASet(t *testing.T) {
	for span := range 65 {
		for _, n := range []int{1, 2, 3, 10, 200} {
			rng := rand.New(rand.NewPCG(uint64(span), uint64(n)))
			high := rng.Uint64()
			draw := func() uint64 { return high ^ rng.Uint64()>>(64-uint(span)) }
			var o offsets
			var want []uint64
			for range n {
				id := draw()
				place, found := slices.BinarySearch(want, id)
				at, has := o.search(id)
				if has != found {
					t.Fatalf("span %d: %d is there: %t, want %t", span, id, has, found)
				}
				if !found {
					want = slices.Insert(want, place, id)
					o.insert(id, at)
				}
			}
			got := o.appendTo(nil)
			if !slices.Equal(got, want) {
				t.Fatalf("span %d: %v, want %v", span, got, want)
			}
			if err := o.check(got); err != nil {
				t.Fatalf("span %d: %v", span, err)
			}
			if packed := pack(want); packed.dense != o.dense || packed.base != o.base || !slices.Equal(packed.appendTo(nil), want) {
				t.Fatalf("span %d, %d ids: packed at once %+v, one by one %+v", span, n, packed, o)
			}
			for range 50 {
				id := draw()
				if _, has := o.search(id); has != slices.Contains(want, id) {
					t.Fatalf("span %d: wrong about %d", span, id)
				}
			}
		}
	}
}

// TestSearchFindsUnevenIDs has offsets whose expected places are all wrong.
func TestSearchFindsUnevenIDs(t *testing.T) {
	var ids []uint64
	for i := range uint64(1000) {
		ids = append(ids, i*i*i, 1<<40+i)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	o := pack(ids)
	for i, id := range ids {
		if at, has := o.search(id); !has || at != i {
			t.Fatalf("%d is at %d, found at %d: %t", id, i, at, has)
		}
		if at, has := o.search(id + 1<<39 + 1); has != slices.Contains(ids, id+1<<39+1) {
			t.Fatalf("%d found at %d", id+1<<39+1, at)
		}
	}
}

func TestOffsetsTakeTheSmallerForm(t *testing.T) {
	for _, c := range []struct {
		name  string
		ids   func(i uint64) uint64
		n     uint64
		bytes int
	}{
		{"one id", func(uint64) uint64 { return 1 << 50 }, 1, 0},
		{"a full unit is a bitmap", func(i uint64) uint64 { return 7<<20 + i }, 1024, 1024/8 + pad + 24},
		{"thin ids take their bytes", func(i uint64) uint64 { return 1<<32 + i<<10 }, 1024, 3*1024 + 512},
	} {
		var ids []uint64
		for i := range c.n {
			ids = append(ids, c.ids(i))
		}
		if o := pack(ids); len(o.data) > c.bytes {
			t.Errorf("%s: %d bytes, want %d at most", c.name, len(o.data), c.bytes)
		}
	}
}

func TestRoundingWastesLittle(t *testing.T) {
	for n := 1; n < 100_000; n++ {
		if up := roundUp(n); up < n || up > n+n/8+1 || roundUp(up) != up {
			t.Fatalf("%d becomes %d", n, up)
		}
		if up := roundBytes(n); up < n || n > 32 && up > n+max(n/8, min(512, n/4))+1 || roundBytes(up) != up {
			t.Fatalf("%d bytes become %d", n, up)
		}
	}
}
