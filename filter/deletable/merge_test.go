package deletable_test

import (
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestUnionPinsWhatIsInBoth(t *testing.T) {
	f, g := build(t, fig1), build(t, fig1)
	f.Add(1)
	g.Add(1)
	if err := f.Union(g); err != nil {
		t.Fatal(err)
	}
	wantDelete(t, f, 1, filter.ErrPinned)
	wantDelete(t, g, 1, nil)
}

func TestUnionWithItselfPinsAll(t *testing.T) {
	f := build(t, deletable.Shape{Bits: 240, Hashes: 5, Regions: 24})
	keys := filtertest.Keys(3, 10)
	f.AddBatch(keys)
	if err := f.Union(f); err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		wantDelete(t, f, k, filter.ErrPinned)
	}
}

func TestUnionOfSeparateKeysKeepsThemDeletable(t *testing.T) {
	config := deletable.Config{Items: 10_000, FPR: 0.01}
	f, _ := deletable.New(config)
	g, _ := deletable.New(config)
	keys := filtertest.Keys(4, 10_000)
	f.AddBatch(keys[:5000])
	g.AddBatch(keys[5000:])
	if err := f.Union(g); err != nil {
		t.Fatal(err)
	}
	all, _ := deletable.New(config)
	all.AddBatch(keys)
	if string(f.AppendRaw(nil)) != string(all.AppendRaw(nil)) {
		t.Error("the union of two halves is not the filter of the whole")
	}
	if n := f.Len(); n < 9900 || n > 10_100 {
		t.Errorf("%d keys", n)
	}
}

// TestIntersectionLetsCommonKeysGo holds the argument of the package comment: a
// region that is clean in one operand is clean in the result.
func TestIntersectionLetsCommonKeysGo(t *testing.T) {
	f, g := build(t, fig1), build(t, fig1)
	f.Add(1)
	f.Add(1) // pinned here
	g.Add(1) // and not there
	if err := f.Intersect(g); err != nil {
		t.Fatal(err)
	}
	wantDelete(t, f, 1, nil)
}

// TestMergedFiltersKeepEveryKey merges filters that have lived, deletes from the
// result, and merges on: small ones, where keys collide all the time.
func TestMergedFiltersKeepEveryKey(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		m := 24 + rng.Uint64N(200)
		s := deletable.Shape{Bits: m, Hashes: 1 + rng.IntN(5), Regions: 1 + rng.Uint64N(m/2)}
		a, b, c := live(t, rng, s), live(t, rng, s), live(t, rng, s)
		for _, step := range []func(){
			func() { a.merge(b, rng.IntN(2) == 0) },
			func() { a.deleteSome(rng) },
			func() { a.merge(c, rng.IntN(2) == 0) },
			func() { a.deleteSome(rng) },
			func() { a.addSome(rng) },
			func() { a.deleteSome(rng) },
		} {
			step()
			for k := range a.set.All() {
				if !a.f.MayContain(k) {
					t.Fatalf("seed %d, %+v: %#x is not found", seed, s, k)
				}
			}
			if err := a.f.Check(); err != nil {
				t.Fatalf("seed %d, %+v: %v", seed, s, err)
			}
		}
	}
}

// A pair is a filter and what is in it.
type pair struct {
	f   *deletable.Filter
	set filtertest.Set
}

func live(t *testing.T, rng *rand.Rand, s deletable.Shape) *pair {
	t.Helper()
	p := &pair{f: build(t, s)}
	p.addSome(rng)
	p.deleteSome(rng)
	p.addSome(rng)
	return p
}

func (p *pair) addSome(rng *rand.Rand) {
	for range rng.IntN(8) {
		if k := filtertest.Keys(1, 24)[rng.IntN(24)]; !p.set.Has(k) {
			p.f.Add(k)
			p.set.Add(k)
		}
	}
}

func (p *pair) deleteSome(rng *rand.Rand) {
	for range min(rng.IntN(8), p.set.Len()) {
		if k := p.set.At(rng.IntN(p.set.Len())); p.f.Delete(k) == nil {
			p.set.Remove(k)
		}
	}
}

func (p *pair) merge(o *pair, union bool) {
	if union {
		p.f.Union(o.f)
		p.set.Union(&o.set)
		return
	}
	p.f.Intersect(o.f)
	p.set.Intersect(&o.set)
}
