package forward

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func forward(tb testing.TB, g *Graph, h Header, tree *Tree, rules Rules) Outcome {
	tb.Helper()
	out, err := g.Forward(h, tree, rules)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// TestDeletingUsedLinksDeniesNoOther deletes each link as it is used, along every way of
// a tree: all links of the tree that are not behind the copy stay in its header.
func TestDeletingUsedLinksDeniesNoOther(t *testing.T) {
	g := preferential(t, 1000, 1)
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 6))
		f := newFormat(t, Config{Bits: 64 + r.IntN(300), Hashes: 1 + r.IntN(6), Candidates: 1 + r.IntN(4), Salt: seed})
		tree := g.RandomTree(r, 1+r.IntN(60))
		at := map[int]Header{tree.Source: encode(t, f, tree.IDs(g))}
		used := map[int][]int{} // links behind the copy, by node
		for _, l := range tree.Links {
			from, to := int(g.from[l]), int(g.to[l])
			h := at[from]
			if !h.Has(g.ids[l]) {
				t.Fatalf("seed %d: link %d is a false negative where it is needed", seed, l)
			}
			_ = h.Delete(g.ids[l])
			at[to], used[to] = h, append(slices.Clone(used[from]), l)
			for _, other := range tree.Links {
				if !slices.Contains(used[to], other) && !h.Has(g.ids[other]) {
					t.Fatalf("seed %d: link %d is a false negative after %v were deleted", seed, other, used[to])
				}
			}
		}
	}
}

// model follows all copies one by one, with their ways written out.
type model struct {
	g     *Graph
	tree  *Tree
	rules Rules
	out   Outcome
	nodes map[int]bool
	links map[int]bool
}

func (m *model) walk(h Header, way []int, links []int) {
	node := way[len(way)-1]
	m.nodes[node] = true
	if slices.Contains(way[:len(way)-1], node) {
		m.out.Returned++
	}
	going := 0
	for l := int(m.g.first[node]); l < int(m.g.first[node+1]); l++ {
		if m.rules.SkipReverse && len(links) > 0 && l == int(m.g.reverse[links[len(links)-1]]) || !h.Has(m.g.ids[l]) {
			continue
		}
		if going++; len(links) == m.rules.TTL {
			continue
		}
		m.out.Transmissions++
		switch {
		case !m.tree.has[l]:
			m.out.Stray++
		case m.links[l]:
			m.out.Repeated++
		}
		m.links[l] = true
		branch := h
		if m.rules.Delete {
			_ = branch.Delete(m.g.ids[l])
		}
		m.walk(branch, append(slices.Clone(way), int(m.g.to[l])), append(slices.Clone(links), l))
	}
	if going > 0 && len(links) == m.rules.TTL {
		m.out.Expired++
	}
}

func TestForwardingMatchesTheModel(t *testing.T) {
	looped, expired := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		g := ring(t, 20+r.IntN(60), seed)
		f := newFormat(t, Config{Bits: 120, Candidates: 1 + r.IntN(3), Salt: seed})
		tree := g.RandomTree(r, 1+r.IntN(16))
		h := encode(t, f, tree.IDs(g))
		rules := Rules{Delete: seed%2 == 0, SkipReverse: seed%3 == 0, TTL: 16, Limit: 1 << 20}
		m := model{g: g, tree: &tree, rules: rules, nodes: map[int]bool{}, links: map[int]bool{}}
		m.walk(h, []int{tree.Source}, nil)
		got := forward(t, g, h, &tree, rules)
		want := m.out
		want.Extra = len(m.nodes) - len(tree.Links) - 1
		if got.Transmissions != want.Transmissions || got.Stray != want.Stray || got.Repeated != want.Repeated ||
			got.Extra != want.Extra || got.Returned != want.Returned || got.Expired != want.Expired || got.Storm {
			t.Fatalf("seed %d, %+v: %+v, want %+v", seed, rules, got, want)
		}
		looped += min(1, got.Returned)
		expired += min(1, got.Expired)
	}
	if looped < 10 || expired < 10 {
		t.Errorf("of 300 packets only %d looped and %d expired: the model was not tried", looped, expired)
	}
}

// TestDeletingOnlyEverTakesAway compares the same header with and without deletion:
// every copy of the one run is one of the other.
func TestDeletingOnlyEverTakesAway(t *testing.T) {
	g := preferential(t, 1000, 2)
	f := newFormat(t, Config{})
	fewer := 0
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 8))
		tree := g.RandomTree(r, 10+r.IntN(25))
		h := encode(t, f, tree.IDs(g))
		kept, deleted := forward(t, g, h, &tree, Rules{}), forward(t, g, h, &tree, Rules{Delete: true})
		if kept.Missed != 0 || deleted.Missed != 0 {
			t.Fatalf("seed %d: %d and %d receivers were missed", seed, kept.Missed, deleted.Missed)
		}
		if deleted.Storm && !kept.Storm || deleted.Transmissions > kept.Transmissions {
			t.Fatalf("seed %d: %+v with deletion, %+v without", seed, deleted, kept)
		}
		if !kept.Storm && (deleted.Stray > kept.Stray || deleted.Returned > kept.Returned || deleted.Extra > kept.Extra || deleted.Expired > kept.Expired) {
			t.Fatalf("seed %d: %+v with deletion, %+v without", seed, deleted, kept)
		}
		if deleted.Transmissions < kept.Transmissions {
			fewer++
		}
	}
	if fewer < 20 {
		t.Errorf("deletion took something away in %d of 120 packets", fewer)
	}
}

func TestLargeHeadersForwardWithoutMistake(t *testing.T) {
	g := ring(t, 500, 4)
	f := newFormat(t, Config{Bits: 1024, Hashes: 12})
	for seed := range uint64(20) {
		tree := g.RandomTree(rand.New(rand.NewPCG(seed, 9)), 20)
		out := forward(t, g, encode(t, f, tree.IDs(g)), &tree, Rules{Delete: true})
		if out.Transmissions != 20 || out.Efficiency() != 1 || out.Looped() || out.Missed+out.Extra+out.Claimed != 0 {
			t.Fatalf("seed %d: %+v", seed, out)
		}
	}
}

// TestLinksBesideTheTreeAreClaimedAsPredicted sums what was asked, claimed and
// expected over many packets.
func TestLinksBesideTheTreeAreClaimedAsPredicted(t *testing.T) {
	g := preferential(t, 1000, 3)
	for _, rules := range []Rules{{}, {Delete: true}, {SkipReverse: true}} {
		f := newFormat(t, Config{Candidates: 1})
		asked, claimed, expected := 0, 0, 0.0
		for seed := range uint64(100) {
			r := rand.New(rand.NewPCG(seed, 10))
			tree := g.RandomTree(r, 25)
			out := forward(t, g, encode(t, f, tree.IDs(g)), &tree, rules)
			want := len(tree.Beside(g))
			if rules.SkipReverse {
				want -= 25
			}
			if out.Asked != want {
				t.Fatalf("seed %d: %d links asked for, %d are beside the tree", seed, out.Asked, want)
			}
			asked, claimed, expected = asked+out.Asked, claimed+out.Claimed, expected+out.Expected
		}
		if d := math.Abs(float64(claimed) - expected); d > 5*math.Sqrt(expected) || claimed == 0 {
			t.Errorf("%+v: %d of %d claimed, expected %.1f", rules, claimed, asked, expected)
		}
	}
}

func TestExtremesAreCounted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	g := preferential(t, 200, 1)
	tree := g.RandomTree(r, 40)
	pinning := newFormat(t, Config{Bits: 1024, Regions: 1, Candidates: 1}) // one region, which has a collision
	if out := forward(t, g, encode(t, pinning, tree.IDs(g)), &tree, Rules{Delete: true}); out.Pinned != 40 {
		t.Errorf("%d of 40 links are pinned", out.Pinned)
	}
	full := newFormat(t, Config{Bits: 32, Hashes: 1})
	if out := forward(t, g, encode(t, full, tree.IDs(g)), &tree, Rules{Limit: 500}); !out.Storm || out.Transmissions != 540 || out.Missed != 0 || !out.Looped() {
		t.Errorf("a storm: %+v", out)
	}
	out := forward(t, g, Header{}, &tree, Rules{Delete: true})
	if out.Transmissions != 0 || out.Missed != len(tree.Receivers) || out.Extra != 0 || out.Efficiency() != 0 {
		t.Errorf("an empty header: %+v", out)
	}
}

func TestTreesBeyondTheTTLAreRefused(t *testing.T) {
	g := ring(t, 200, 1)
	tree := g.RandomTree(rand.New(rand.NewPCG(1, 1)), 30)
	h := encode(t, newFormat(t, Config{}), tree.IDs(g))
	if _, err := g.Forward(h, &tree, Rules{TTL: tree.Depth - 1}); err == nil {
		t.Errorf("a tree of depth %d was taken", tree.Depth)
	}
	if out := forward(t, g, h, &tree, Rules{TTL: tree.Depth, Limit: 1}); out.Missed != 0 || out.Stray != 1 {
		t.Errorf("%+v", out)
	}
}

// FuzzForward: whatever the network, the header and the rules, no receiver is missed,
// the counts agree, and it ends.
func FuzzForward(f *testing.F) {
	f.Add(uint64(1), uint16(200), uint16(256), uint8(5), uint8(25), uint8(20), true, false)
	f.Add(uint64(2), uint16(50), uint16(64), uint8(2), uint8(1), uint8(40), false, true)
	f.Fuzz(func(t *testing.T, seed uint64, nodes, bits uint16, hashes, regions, links uint8, drop, skip bool) {
		g, err := Ring(int(nodes%2000), 1, seed)
		if err != nil {
			return
		}
		format, err := New(Config{Bits: int(bits), Hashes: int(hashes), Regions: int(regions), Candidates: 2, Salt: seed})
		if err != nil {
			return
		}
		tree := g.RandomTree(rand.New(rand.NewPCG(seed, 1)), int(links))
		out, err := g.Forward(encode(t, format, tree.IDs(g)), &tree, Rules{Delete: drop, SkipReverse: skip, Limit: 2000})
		if err != nil {
			return
		}
		if out.Missed != 0 || out.Transmissions-out.Stray-out.Repeated != len(tree.Links) || out.Stray+out.Repeated > 2000 || out.Extra < 0 {
			t.Errorf("%+v", out)
		}
	})
}
