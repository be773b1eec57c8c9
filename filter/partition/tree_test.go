package partition

import (
	"math/rand/v2"
	"testing"
)

// TestFindFollowsTheRoot grows trees at random, leaf by leaf, and compares the walk
// that begins in the table with the one that begins at the root.
func TestFindFollowsTheRoot(t *testing.T) {
	for _, idBits := range []int{1, 2, 7, 20, 64} {
		rng := rand.New(rand.NewPCG(uint64(idBits), 4))
		tr := newTree(idBits)
		draw := func() uint64 { return rng.Uint64() >> (64 - idBits) }
		units := 0
		for range 200 {
			id := draw()
			if rng.IntN(3) > 0 {
				id >>= rng.IntN(idBits) // some corners grow deep
			}
			depth := tr.depthOf(id)
			if r := leafOf(units); rng.IntN(2) == 0 || depth == idBits {
				tr.put(id, depth, r)
				units++
			} else {
				splitAt(&tr, id, depth)
			}
			tr.fitTop()
			for range 20 {
				checkFind(t, &tr, draw())
				checkFind(t, &tr, id)
			}
		}
		if tr.topBits != topBitsFor(tr.inners(), idBits) || len(tr.top) != 1<<tr.topBits {
			t.Errorf("%d bits: a table of %d for %d inner nodes", idBits, len(tr.top), tr.inners())
		}
	}
}

// splitAt makes a pair of a leaf; its left half takes what was there.
func splitAt(tr *tree, id uint64, depth int) {
	old := *tr.slot(id, depth)
	p := tr.addPair()
	tr.pairs[2*uint64(p)] = old
	tr.put(id, depth, p)
}

func checkFind(t *testing.T, tr *tree, id uint64) {
	t.Helper()
	depth := tr.depthOf(id)
	want := *tr.slot(id, depth)
	if want.inner() {
		t.Fatalf("id %d: an inner node at depth %d, where the leaf should be", id, depth)
	}
	if got := tr.find(id); got != want {
		t.Fatalf("id %d: found %#x, the root leads to %#x at depth %d", id, got, want, depth)
	}
}

func TestRefsAreToldApart(t *testing.T) {
	for _, unit := range []int{0, 1, 1 << 20, maxNodes - 1} {
		if r := leafOf(unit); r.inner() || r == none || r.unit() != unit {
			t.Errorf("unit %d is %#x", unit, r)
		}
	}
	if none.inner() || !ref(0).inner() || !ref(maxNodes-1).inner() {
		t.Error("an empty leaf or a pair is mistaken")
	}
}

// TestViewsStopWhenAsked breaks out of every loop that a filter offers.
func TestViewsStopWhenAsked(t *testing.T) {
	f := build(t, example())
	add(t, f, 4, 5, 8, 10, 17, 19, 22, 25, 31)
	for stop := range 5 {
		n := 0
		for range f.Nodes() {
			if n++; n > stop {
				break
			}
		}
		m := 0
		for range f.IDs() {
			if m++; m > stop {
				break
			}
		}
		u := 0
		for range f.Units() {
			if u++; u > stop {
				break
			}
		}
		if n != stop+1 && n != 5 || m != stop+1 || u != stop+1 {
			t.Errorf("stopped after %d: %d nodes, %d ids, %d units", stop+1, n, m, u)
		}
	}
	empty := build(t, example())
	for id := range empty.IDs() {
		t.Errorf("an empty filter has id %d", id)
	}
	for unit, n := range empty.Units() {
		t.Errorf("an empty filter has unit %d with %d", unit, n)
	}
	nodes := 0
	for n := range empty.Nodes() {
		if nodes++; !n.Leaf || n.Keys != 0 {
			t.Errorf("an empty filter has %+v", n)
		}
	}
	if nodes != 1 {
		t.Errorf("an empty filter has %d nodes", nodes)
	}
}
