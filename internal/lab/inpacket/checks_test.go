package inpacket

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/inpacket/forward"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
)

// small is an environment of a few packets.
func small(x lab.Experiment, seed uint64, trials int) *lab.Env {
	params := slices.Clone(x.Quick)
	for i := range params {
		if params[i].Name == "trials" {
			params[i].Value = trials
		}
	}
	return &lab.Env{Params: params, Seed: seed}
}

// packets are those of a contender in a small network.
func packets(t *testing.T, links int, sort func(*lab.Env) contender) (contender, []forward.Outcome) {
	t.Helper()
	e := small(trees, 1, 100)
	nets, err := networks(e)
	if err != nil {
		t.Fatal(err)
	}
	c := sort(e)
	outs, err := race(t.Context(), e, nets[1].graph, links, []contender{c})
	if err != nil {
		t.Fatal(err)
	}
	return c, outs[0]
}

// Equal seeds give equal results however many workers there are.
func TestResultsDependOnTheSeedOnly(t *testing.T) {
	run := func(seed uint64, workers int) []lab.Check {
		e := small(goals, seed, 20)
		e.Workers = workers
		result, err := goals.Do(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		return result.Checks
	}
	one := run(1, 1)
	if !slices.Equal(one, run(1, 3)) {
		t.Error("three workers find something else than one")
	}
	if slices.Equal(one, run(2, 1)) {
		t.Error("seed 2 finds the same as seed 1")
	}
}

func TestMistakesBeyondTheFillAreSeen(t *testing.T) {
	c, outs := packets(t, 28, deleting)
	m := measured(c, 28, outs)
	labtest.Reproduced(t, expectedCheck("as they are", []measure{m}))
	for i := range m.claimed {
		m.claimed[i] *= 2
	}
	labtest.Differs(t, expectedCheck("doubled", []measure{m}))
}

// A choice by the links beside the tree is what the fill does not predict.
func TestChosenHeadersAreBetterThanTheirFill(t *testing.T) {
	c, outs := packets(t, 28, func(e *lab.Env) contender { return plain(e).chosen(e) })
	labtest.Differs(t, expectedCheck("chosen", []measure{measured(c, 28, outs)}))
}

// Three times the same packets say no more than once.
func TestTogetherCountsPacketsOnce(t *testing.T) {
	c, outs := packets(t, 28, deleting)
	m := measured(c, 28, outs)
	one, three := together([]measure{m})[0], together([]measure{m, m, m})[0]
	a, b := lab.Mean(one.claimed), lab.Mean(three.claimed)
	if a.N != b.N || math.Abs(b.Mean-3*a.Mean) > 1e-9 || math.Abs(b.StandardError()-3*a.StandardError()) > 1e-9 {
		t.Errorf("once %v, three times %v", a, b)
	}
	if !slices.Equal(one.claimed, m.claimed) || &one.claimed[0] == &m.claimed[0] {
		t.Error("the sum of one is not a copy of it")
	}
}

func TestMissedReceiversAreSeen(t *testing.T) {
	c, outs := packets(t, 12, deleting)
	labtest.Reproduced(t, missedCheck([]measure{measured(c, 12, outs)}))
	outs[7].Missed = 1
	labtest.Differs(t, missedCheck([]measure{measured(c, 12, outs)}))
}

func TestLessNeedsMoreThanChance(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var low, high, same []float64
	for range 500 {
		v := r.NormFloat64()
		low, high, same = append(low, v), append(high, v+0.5+r.NormFloat64()), append(same, v+r.NormFloat64())
	}
	self := func(v float64) float64 { return v }
	labtest.Reproduced(t, less("lower", "", low, high, self))
	labtest.Differs(t, less("higher", "", high, low, self))
	labtest.Differs(t, less("by chance", "", low, same, self))
	labtest.Differs(t, less("equal", "", low, low, self))
}

func TestOneWorsePacketIsSeen(t *testing.T) {
	_, kept := packets(t, 28, kept)
	_, deleted := packets(t, 28, deleting)
	labtest.Reproduced(t, neverMore("as they are", "c", deleted, kept))
	labtest.Differs(t, neverMore("the other way round", "c", kept, deleted))
	for name, spoil := range map[string]func(*forward.Outcome){
		"transmissions": func(o *forward.Outcome) { o.Transmissions += 10_000 },
		"storm":         func(o *forward.Outcome) { o.Storm = true },
		"returns":       func(o *forward.Outcome) { o.Returned += 10_000 },
	} {
		i := slices.IndexFunc(kept, func(o forward.Outcome) bool { return !o.Storm })
		worse := slices.Clone(deleted)
		spoil(&worse[i])
		labtest.Differs(t, neverMore(name, "c", worse, kept))
	}
}

// The literal reading of "avoiding loops" would be confirmed if it were true.
func TestNoCirclesWouldBeSeen(t *testing.T) {
	e := small(loops, 1, 1)
	list := append(fourAndKept(e), plain(e).onward(), deleting(e).onward())
	s := &sweep{net: network{name: "none"}, list: list}
	s.outs = [][][]forward.Outcome{make([][]forward.Outcome, len(list))}
	for c := range list {
		outs := []forward.Outcome{{Transmissions: 8}, {Transmissions: 8}}
		s.outs[0][c] = outs
		s.all = append(s.all, []measure{measured(list[c], 8, outs)})
	}
	checks := s.loopChecks()
	at := slices.IndexFunc(checks, func(c lab.Check) bool { return strings.HasPrefix(c.Name, "circles, at any size") })
	labtest.Reproduced(t, checks[at])
	labtest.Differs(t, checks[0]) // nothing is gained where there is nothing to gain
}

func TestContendersAreWhatTheyAreCalled(t *testing.T) {
	e := small(trees, 1, 1)
	for _, c := range fourAndKept(e) {
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
	}
	if c := deleting(e).onward(); !c.rules.SkipReverse || !c.rules.Delete {
		t.Errorf("%+v", c)
	}
}

func TestFillFallsOnTheWay(t *testing.T) {
	_, outs := packets(t, 20, deleting)
	fills := fillByHops(outs)
	if len(fills) < 4 || !slices.IsSortedFunc(fills, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) {
		t.Errorf("%v", fills)
	}
	if fillByHops(nil) != nil {
		t.Error("nothing has a fill")
	}
}

func TestSpoiltChainsAreSeen(t *testing.T) {
	effort.OneGoroutine(t)
	e := small(chains, 1, 500)
	lengths := []int{4}
	fresh := func() [][][]service {
		found, err := serveAll(t.Context(), e, 4, servers(e))
		if err != nil {
			t.Fatal(err)
		}
		return [][][]service{found}
	}
	for i, spoil := range []func([][]service){
		func(by [][]service) { each(by[servesPlain], func(s *service) { s.Wrong += 1 }) },
		func(by [][]service) { by[servesPlain][3].Twice-- },
		func(by [][]service) { by[servesDeleting] = by[servesPlain] },
		func(by [][]service) { by[servesDeleting][3].Twice, by[servesDeleting][3].Pinned = 1, 0 },
	} {
		all := fresh()
		labtest.Reproduced(t, chainChecks(lengths, all)[i])
		spoil(all[0])
		labtest.Differs(t, chainChecks(lengths, all)[i])
	}
	all := fresh()
	each(all[0][servesDeleting], func(s *service) { s.Skipped = 0 })
	labtest.Reproduced(t, chainChecks(lengths, all)[4])
}

func each(list []service, do func(*service)) {
	for i := range list {
		do(&list[i])
	}
}

// Without deletion a switch that knows no ports never gets beyond its first service.
func TestDeletionIsWhatMovesAChainOn(t *testing.T) {
	e := small(chains, 1, 500)
	found, err := serveAll(t.Context(), e, 3, servers(e))
	if err != nil {
		t.Fatal(err)
	}
	if n := count(found[topPlain], served); n != 0 {
		t.Errorf("%d packets were served without deletion", n)
	}
	if a, b := count(found[topDeleting], served), count(found[topDeletingChosen], served); a == 0 || b <= a {
		t.Errorf("%d packets were served with deletion, %d with chosen headers", a, b)
	}
}
