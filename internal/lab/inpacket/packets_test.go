package inpacket

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
)

func quickEnv() *lab.Env { return &lab.Env{Params: trees.Params, Seed: 1} }

func network() *graph { return hubs(300, 2, rand.New(rand.NewPCG(7, 7))) }

// Links have their reverse, and trees are shortest ways of exactly so many links.
func TestTreesAreShortestWays(t *testing.T) {
	g := network()
	for node, out := range g.out {
		for _, l := range out {
			if g.to[l^1] != int32(node) || !slices.Contains(g.out[g.to[l]], l^1) {
				t.Fatalf("link %d from %d to %d has no reverse", l, node, g.to[l])
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	for links := 1; links < 40; links++ {
		tr := g.randomTree(r, links)
		depth := map[int32]int{tr.source: 0}
		for _, l := range tr.links {
			d, ok := depth[g.to[l^1]]
			if !ok {
				t.Fatal("a link hangs in the air")
			}
			depth[g.to[l]] = d + 1
		}
		if len(tr.links) != links || len(depth) != links+1 {
			t.Errorf("%d links to %d nodes, want %d", len(tr.links), len(depth)-1, links)
		}
		via := g.shortest(tr.source)
		for node, d := range depth {
			steps := 0
			for at := node; at != tr.source; at = g.to[via[at]^1] {
				steps++
			}
			if steps != d {
				t.Errorf("node %d is %d links away, in the tree %d", node, steps, d)
			}
		}
		in, beside := tr.ids(g)
		if len(in) != links || slices.ContainsFunc(beside, func(id filter.Key) bool { return slices.Contains(in, id) }) {
			t.Error("a link of the tree is beside it")
		}
	}
}

func TestHeadersHoldTheirIDs(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, c := range contenders(quickEnv()) {
		ids := lab.RandomKeys(r, 20)
		h, err := c.choose(ids, nil, 7)
		if err != nil {
			t.Fatal(err)
		}
		copied := h
		for i, id := range ids {
			if err := h.remove(id); err != nil && !errors.Is(err, filter.ErrPinned) {
				t.Error(err)
			}
			for _, other := range ids[i+1:] {
				if !h.has(other) {
					t.Fatal("a deletion took another ID away")
				}
			}
			if !copied.has(id) {
				t.Fatal("a copy shares its bits")
			}
		}
		c.shape.Regions = 200
		if _, err := c.choose(ids, nil, 0); err == nil {
			t.Error("more marks than cells")
		}
	}
}

// Deletion makes no packet worse off and misses no receiver; contenders have what their
// names say.
func TestContendersAreWhatTheyAreCalled(t *testing.T) {
	r, list, g := rand.New(rand.NewPCG(3, 3)), contenders(quickEnv()), network()
	worse, mistakes := map[string]float64{}, map[string]int{}
	for range 100 {
		packets, err := sendAll(g, 28, list, 1_000, r)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range packets {
			worse[list[i].name] += lab.OneIf(p.worse(&packets[2])) // than kept
			mistakes[list[i].name] += p.mistakes
			if p.missed > 0 || p.efficiency() <= 0 || p.efficiency() > 1 || p.pinned > 28 {
				t.Errorf("%s: %+v", list[i].name, p)
			}
		}
	}
	if worse["deleting"]+worse["kept"] > 0 || worse["plain"] == 0 {
		t.Errorf("worse off than kept: %v", worse)
	}
	if 4*mistakes["plain, by mistakes"] > 3*mistakes["plain"] {
		t.Errorf("found by mistake: %v", mistakes)
	}
	for i, c := range list {
		if c.remove != strings.Contains(c.name, "deleting") || c.neverBack != strings.Contains(c.name, "never") || (c.candidates > 1) != strings.Contains(c.name, " by ") {
			t.Errorf("%+v", c)
		}
		if c.name == "deleting" && list[i-1].name != "kept" {
			t.Error("deleting is not compared with kept")
		}
	}
}

// A header without a link misses its receivers, one that holds everything makes a storm.
func TestBrokenHeadersAreSeen(t *testing.T) {
	g, plain := network(), contenders(quickEnv())[0]
	tr := g.randomTree(rand.New(rand.NewPCG(4, 4)), 10)
	empty, err := plain.choose(nil, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if o := g.forward(empty, tr, plain, 100); o.missed != len(tr.receivers) || o.transmissions != 0 {
		t.Errorf("empty: %+v", o)
	}
	full := empty
	for i := range full.bits {
		full.bits[i] = 0xff
	}
	if o := g.forward(full, tr, plain, 100); !o.storm || o.missed != 0 || o.stray+o.repeated < 100 {
		t.Errorf("full: %+v", o)
	}
}

// Without deletion every service is visited twice; with it most packets are served right.
func TestServicesAreVisited(t *testing.T) {
	list, right, r := contenders(&lab.Env{Params: chains.Params})[:8], map[string]float64{}, rand.New(rand.NewPCG(2, 2))
	table := lab.RandomKeys(r, 32)
	for range 500 {
		found, err := serveAll(table, 6, list, r)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range found {
			right[list[i].name] += lab.OneIf(v.right())
			if list[i].name == "plain" && (v.twice != 6 || v.skipped > 0) {
				t.Errorf("plain: %+v", v)
			}
		}
	}
	if right["plain"] > 0 || right["deleting"] == 0 || right["deleting, by both"] <= right["deleting"] {
		t.Errorf("served right: %v", right)
	}
}
