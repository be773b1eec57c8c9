package perennial

import (
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// checkRing verifies the whole ring.
func checkRing(t testing.TB, r *ring) {
	t.Helper()
	var total, slots, lines uint64
	for p := range r.places() {
		q := r.layout.after(p)
		if back := r.layout.before(q); back != p {
			t.Fatalf("before(after(%v)) = %v", p, back)
		}
		l, next := r.at(p.index()), r.at(q.index())
		in, held := l.in(), l.held()
		if next.in() != in+p.width()-held {
			t.Fatalf("line %v: in %d width %d held %d, next in %d", p, in, p.width(), held, next.in())
		}
		lines++
		total += uint64(held)
		slots += uint64(l.slots())
		if next.in() > 0 && held < maxHeld && next.held() > 0 {
			if _, c := next.find(0); used(held+1, l.slots()+c, r.w) <= lineBits {
				t.Fatalf("line %v: not packed", p)
			}
		}
	}
	if lines != r.layout.total || total != r.layout.buckets() || slots != r.slots {
		t.Fatalf("%d lines of %d, %d buckets of %d, %d slots of %d", lines, r.layout.total, total, r.layout.buckets(), slots, r.slots)
	}
	var weights [2]uint64
	p, n := r.layout.groupOf(0), 0
	for _, slots := range (&rewriter{ring: r}).all(r.layout) {
		for n == p.width() {
			p, n = r.layout.after(p), 0
		}
		for _, e := range r.decode(slots, nil) {
			weights[p.level-r.layout.level] += r.weight(e)
		}
		n++
	}
	if weights != r.weights {
		t.Fatalf("weights %d, want %d", r.weights, weights)
	}
}

func churn(t *testing.T, seed uint64, w uint, most, ops int, repeat bool) {
	r := rand.New(rand.NewPCG(seed, 1))
	f, err := newRing(Shape{Width: uint64(w), Fill: 0.90, Salt: seed}, minLines)
	if err != nil {
		t.Fatal(err)
	}
	var keys []filter.Key
	up := true
	for i := range ops {
		switch {
		case len(keys) == 0:
			up = true
		case len(keys) >= most:
			up = false
		}
		add := r.IntN(10) < 3
		if up {
			add = !add
		}
		if add || len(keys) == 0 {
			k := filter.Key(r.Uint64())
			if repeat && len(keys) > 0 && r.IntN(4) == 0 {
				k = keys[r.IntN(len(keys))]
			}
			if _, err := f.add(k); err != nil {
				if repeat {
					continue
				}
				t.Fatalf("op %d: %v", i, err)
			}
			keys = append(keys, k)
		} else {
			j := r.IntN(len(keys))
			if err := f.remove(keys[j]); err != nil {
				t.Fatalf("op %d: delete %x: %v", i, keys[j], err)
			}
			keys[j] = keys[len(keys)-1]
			keys = keys[:len(keys)-1]
		}
		if i%997 == 0 {
			checkRing(t, f)
			for _, k := range keys {
				if !f.mayContain(k) {
					t.Fatalf("op %d: false negative of %d keys, %d lines", i, len(keys), f.layout.total)
				}
			}
		}
	}
	t.Logf("%d keys, %d lines, %.2f bits per key, rate %.5f", len(keys), f.layout.total, float64(f.layout.total*512)/float64(len(keys)), f.rate())
}

func TestChurn(t *testing.T) {
	for seed := range uint64(6) {
		churn(t, seed, 9, 3000, 60000, seed%2 == 1)
	}
}

func TestTinyChurn(t *testing.T) {
	for seed := range uint64(40) {
		churn(t, seed, 9+uint(seed%4), 20+int(seed)*5, 8000, seed%2 == 1)
	}
}

func TestGrowsToAMillion(t *testing.T) {
	f, _ := newRing(Shape{Width: 12, Fill: 0.90, Salt: 1}, minLines)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 1_000_000 {
		if _, err := f.add(filter.Key(r.Uint64())); err != nil {
			t.Fatal(err)
		}
		if n := i + 1; n&(n-1) == 0 && n >= 1024 || n == 1_000_000 || n == 700_000 {
			fp := 0
			for range 100000 {
				if f.mayContain(filter.Key(r.Uint64())) {
					fp++
				}
			}
			t.Logf("%d keys: %.2f bits, rate %.5f measured %.5f", n, float64(f.layout.total*512)/float64(n), f.rate(), float64(fp)/100000)
		}
	}
	checkRing(t, f)
}
