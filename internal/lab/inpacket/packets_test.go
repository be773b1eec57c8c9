package inpacket

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/inpacket/forward"
)

// send returns what became of packets of some contenders in a ring.
func send(t *testing.T, links int, list func(*lab.Env) []contender) (all [][]packet) {
	t.Helper()
	e := &lab.Env{Params: trees.Quick, Seed: 1}
	graphs, err := networks(e)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		p, err := sendAll(graphs[1], links, list(e), r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// total adds up a figure of the i-th contender.
func total(all [][]packet, i int, figure func(packet) float64) (sum float64) {
	for _, p := range all {
		sum += figure(p[i])
	}
	return sum
}

// A choice by the links beside the tree is what the fill does not predict.
func TestChosenHeadersAreBetterThanTheirFill(t *testing.T) {
	all := send(t, 28, func(e *lab.Env) []contender { return []contender{plain(e), plain(e).chosen(e)} })
	claimed, expected := func(p packet) float64 { return float64(p.Claimed) }, func(p packet) float64 { return p.Expected }
	if got, want := total(all, 0, claimed), total(all, 0, expected); math.Abs(got-want) > 5*math.Sqrt(want) {
		t.Errorf("plain: %v links found by mistake, %v by the fill", got, want)
	}
	if got, most := total(all, 1, claimed), total(all, 1, expected)/2; got > most {
		t.Errorf("chosen: %v links found by mistake, want less than %v", got, most)
	}
}

// Deletion makes no packet worse off; to leave it out does.
func TestWorsePacketsAreSeen(t *testing.T) {
	all := send(t, 28, func(e *lab.Env) []contender { return []contender{kept(e), deleting(e), kept(e)} })
	off := func(p packet) float64 { return lab.OneIf(worse(p.Outcome, p.before)) }
	if n := total(all, 1, off); n != 0 {
		t.Errorf("%v packets are worse off for deletion", n)
	}
	if n := total(all, 2, off); n == 0 {
		t.Error("no packet is worse off without deletion")
	}
	calm := forward.Outcome{Transmissions: 8}
	for name, o := range map[string]forward.Outcome{
		"transmissions": {Transmissions: 9}, "storm": {Transmissions: 8, Storm: true}, "returns": {Transmissions: 8, Returned: 1}, "circles": {Transmissions: 8, Expired: 1}, "nodes": {Transmissions: 8, Extra: 1},
	} {
		if !worse(o, calm) || worse(calm, o) {
			t.Errorf("%s: not worse", name)
		}
	}
}

func TestContendersAreWhatTheyAreCalled(t *testing.T) {
	e := &lab.Env{Params: trees.Quick}
	for i, c := range fourAndKept(e) {
		s, err := c.config.Shape()
		if err != nil {
			t.Fatal(err)
		}
		chosen, deleted := strings.Contains(c.name, "chosen"), strings.Contains(c.name, "deleting")
		if (c.config.Candidates > 1) != chosen || (c.goal != nil) != chosen || c.rules.Delete != deleted || (s.Regions == 1) != strings.HasPrefix(c.name, "plain") {
			t.Errorf("%+v", c)
		}
		if bits := s.Bits + uint64(math.Ceil(math.Log2(float64(c.config.Candidates)))); bits != 256 {
			t.Errorf("%s: %d bits", c.name, bits)
		}
		if c.name == "deleting" && fourAndKept(e)[i-1].name != "kept" {
			t.Error("deleting is not compared with kept")
		}
	}
	if c := deleting(e).onward(); !c.rules.SkipReverse || !c.rules.Delete {
		t.Errorf("%+v", c)
	}
}

// Without deletion a switch that knows no ports never gets beyond its first service.
func TestDeletionIsWhatMovesAChainOn(t *testing.T) {
	e := &lab.Env{Params: chains.Quick}
	list, done, r := servers(e), map[string]int{}, rand.New(rand.NewPCG(2, 2))
	for range 500 {
		found, err := serveAll(services(e), 3, list, r)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range found {
			done[list[i].name] += int(lab.OneIf(s.Done()))
		}
	}
	if n := done["plain, from the top"]; n != 0 {
		t.Errorf("%d packets were served without deletion", n)
	}
	if a, b := done["deleting, from the top"], done["deleting, chosen, from the top"]; a == 0 || b <= a {
		t.Errorf("%d packets were served with deletion, %d with chosen headers", a, b)
	}
}
