package inpacket

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
)

func quickEnv() *lab.Env { return &lab.Env{Params: networkParams(300, 1, 1_000), Seed: 1} }

// Graphs are connected, links have their reverse, and trees are shortest ways of exactly
// so many links.
func TestTreesAreShortestWays(t *testing.T) {
	for _, g := range networks(quickEnv()) {
		for l, back := range g.reverse {
			if g.from[l] != g.to[back] || g.to[l] != g.from[back] || g.reverse[back] != int32(l) || !slices.Contains(g.out[g.from[l]], int32(l)) {
				t.Fatalf("link %d from %d to %d, its reverse %d", l, g.from[l], g.to[l], back)
			}
		}
		r := rand.New(rand.NewPCG(1, 1))
		for links := 1; links < 40; links++ {
			tr := g.randomTree(r, links)
			depth := map[int32]int{tr.source: 0}
			for _, l := range tr.links {
				d, ok := depth[g.from[l]]
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
				for at := node; at != tr.source; at = g.from[via[at]] {
					steps++
				}
				if steps != d {
					t.Errorf("node %d is %d links away, in the tree %d", node, steps, d)
				}
			}
			for _, id := range tr.beside(g) {
				if slices.Contains(tr.ids(g), id) {
					t.Error("a link of the tree is beside it")
				}
			}
		}
	}
}

func TestHeadersHoldTheirIDs(t *testing.T) {
	e, r := quickEnv(), rand.New(rand.NewPCG(2, 2))
	for _, candidates := range []int{1, 16, 256} {
		ids := lab.RandomKeys(r, 20)
		f := headerFormat(e, 25, candidates)
		h, err := f.choose(ids, deletable.BestFill(), 7)
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
		if h.rate() >= copied.rate() {
			t.Errorf("rate %v after deleting, %v before", h.rate(), copied.rate())
		}
	}
	if _, err := headerFormat(e, 200, 1).choose(nil, deletable.BestFill(), 0); err == nil {
		t.Error("more marks than cells")
	}
}

// Deletion makes no packet worse off and misses no receiver; contenders have what their
// names say.
func TestContendersAreWhatTheyAreCalled(t *testing.T) {
	e, r := quickEnv(), rand.New(rand.NewPCG(3, 3))
	list, g := contenders(e), networks(e)[1]
	var worse, claimed [7]float64
	for range 100 {
		packets, err := sendAll(g, 28, list, r)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range packets {
			worse[i] += lab.OneIf(p.worse(&packets[2].outcome)) // than kept
			claimed[i] += float64(p.claimed)
			if p.missed > 0 || p.efficiency() <= 0 || p.efficiency() > 1 || p.pinned > 28 {
				t.Errorf("%s: %+v", list[i].name, p)
			}
		}
	}
	if worse[3] > 0 || worse[2] > 0 || worse[0]+worse[1] == 0 {
		t.Errorf("worse off than kept: %v", worse)
	}
	if claimed[1] > claimed[0]/2 {
		t.Errorf("found by mistake: %v of chosen headers, %v of others", claimed[1], claimed[0])
	}
	for i, c := range list {
		if c.rules.remove != strings.Contains(c.name, "deleting") || c.rules.neverBack != strings.Contains(c.name, "never") || (c.format.candidates > 1) != strings.Contains(c.name, "chosen") {
			t.Errorf("%+v", c)
		}
		if c.name == "deleting" && list[i-1].name != "kept" {
			t.Error("deleting is not compared with kept")
		}
	}
}

// A header without a link misses its receivers, one that holds everything makes a storm.
func TestBrokenHeadersAreSeen(t *testing.T) {
	e := quickEnv()
	g := networks(e)[1]
	tr := g.randomTree(rand.New(rand.NewPCG(4, 4)), 10)
	empty, err := headerFormat(e, 25, 1).choose(nil, deletable.BestFill(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if o := g.forward(empty, tr, rules{limit: 100}); o.missed != len(tr.receivers) || o.transmissions != 0 {
		t.Errorf("empty: %+v", o)
	}
	full := empty
	for i := range full.bits {
		full.bits[i] = 0xff
	}
	if o := g.forward(full, tr, rules{limit: 100}); !o.storm || o.missed != 0 || o.stray+o.repeated < 100 {
		t.Errorf("full: %+v", o)
	}
}

// Without deletion a switch that knows no ports never gets beyond its first service.
func TestDeletionIsWhatMovesAChainOn(t *testing.T) {
	e := &lab.Env{Params: chains.Quick}
	list, right, r := servers(e), map[string]int{}, rand.New(rand.NewPCG(2, 2))
	table := lab.RandomKeys(r, 32)
	for range 500 {
		found, err := serveAll(table, 3, list, r)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range found {
			right[list[i].name] += int(lab.OneIf(v.right()))
			if list[i].name == "plain" && (v.twice < 3 || v.skipped > 0) {
				t.Errorf("plain: %+v", v)
			}
		}
	}
	if n := right["plain, from the top"]; n != 0 {
		t.Errorf("%d packets were served without deletion", n)
	}
	if a, b := right["deleting, from the top"], right["deleting, chosen, from the top"]; a == 0 || b <= a {
		t.Errorf("%d packets were served with deletion, %d with chosen headers", a, b)
	}
}
