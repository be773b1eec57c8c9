package inpacket

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// switches is the dimension of the servers.
const switches = "switch"

var chains = lab.Experiment{
	ID:       "inpacket/chains",
	Paper:    paper,
	Title:    "Chains of services in packet headers",
	Question: "How often is a packet that comes to its switch twice sent to a service again, to a wrong one, or to one too few, with and without deleting services that are done?",
	Says:     "Sec. V: the filter represents \"a sequence of middlebox services (e.g., firewall, load balancer, DPI)\"; packets are forwarded \"upon match on Bloomed Service IDs, which are removed after leaving the middlebox\".",
	Quick:    chainParams(2_000, 1, 2, 4, 6, 8),
	Full:     chainParams(20_000, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12),
	Run:      runChains,
	Plots: []lab.View{{
		Name: "ports", Title: "Packets served right, whose way leads through the switch twice", X: "length", By: switches, Only: []any{"plain", "plain, chosen", "deleting", "deleting, chosen"},
		XAxis: lab.Axis{Label: "services in the chain"}, Y: lab.Axis{Label: "share of packets", Percent: true, Max: 1.02}, Curves: []lab.Curve{{Measured: "served right"}},
	}},
	Claims: []lab.Claim{
		{Kind: lab.Own, Name: "wrong visits, plain", Printed: "passes times other services times fill^k", Of: lab.Of("wrong visits", switches, "plain"), Is: lab.Matches(lab.Of("wrong visits by the fill"))},
		{Name: "services visited again with deletion", Printed: "removed after leaving the middlebox", Where: "Sec. V", Of: lab.Of("visited again", switches, "deleting"), Is: lab.Below(lab.Of("visited again", switches, "plain"))},
		{Name: "no service is visited again but those that are pinned", Printed: "bits outside of collisions can be removed", Where: "Sec. III", Of: lab.Of("again though deletable", switches, "deleting"), Is: lab.Zero()},
		{Name: "no service is skipped where only services of the chain were deleted", Printed: "without introducing false negatives", Where: "Sec. VI", Of: lab.Of("skipped without a wrong visit"), Is: lab.Zero()},
		{Kind: lab.Question, Name: "services skipped because a wrong one was deleted", Of: lab.Of("skipped", switches, "deleting"), Is: lab.Shows(), Show: []lab.Pick{lab.Of("skipped", switches, "deleting, chosen")}},
		{Kind: lab.Question, Name: "a switch that knows no ports: packets served right", Of: lab.Of("served right", switches, "deleting, from the top"), Is: lab.Above(lab.Of("served right", switches, "plain, from the top")), Printed: "does deletion move a chain on?"},
	},
}

// 96 bits are those of two Ethernet addresses.
func chainParams(trials int, lengths ...int) lab.Params {
	return lab.Params{
		lab.Int("bits", 96), lab.Int("hashes", 4), lab.Int("regions", 16), lab.Int("candidates", 16),
		lab.Int("services", 32), lab.Ints("lengths", lengths...), lab.Int("trials", trials),
	}
}

// server is a switch with a table of services and a way to make headers. It sends a packet
// to the first service that is in its header, and looks again when it comes back.
type server struct {
	name   string
	format format
	remove bool // a service is deleted from the header when the packet comes back
	byPort bool // the switch goes on in its table after that service, not from the top
	passes int  // how often the way leads through the switch
}

func servers(e *lab.Env) []server {
	marks, candidates := e.Int("regions"), e.Int("candidates")
	return []server{
		{"plain", headerFormat(e, 1, 1), false, true, 2},
		{"plain, chosen", headerFormat(e, 1, candidates), false, true, 2},
		{"deleting", headerFormat(e, marks, 1), true, true, 2},
		{"deleting, chosen", headerFormat(e, marks, candidates), true, true, 2},
		{"plain, from the top", headerFormat(e, 1, 1), false, false, 1},
		{"deleting, from the top", headerFormat(e, marks, 1), true, false, 1},
		{"deleting, chosen, from the top", headerFormat(e, marks, candidates), true, false, 1},
	}
}

// visits is what a packet met.
type visits struct {
	wrong    int     // visits to services that are not in the chain
	expected float64 // how many of these, by the fill, if nothing is deleted
	twice    int     // visits to services of the chain where the packet had been
	skipped  int     // services of the chain that were never visited
	pinned   int     // services of the chain that could not be deleted after a visit
	expired  bool    // the TTL ended it
}

// right reports whether every service of the chain was visited once, and no other. The
// order is that of the table.
func (v visits) right() bool { return v.wrong+v.twice+v.skipped == 0 && !v.expired }

// serve makes a header for the chain, a part of the table in its order, and sends it round.
func (s server) serve(table []filter.Key, chain []int, salt uint64) (v visits, err error) {
	var ids, others []filter.Key
	for i, id := range table {
		if slices.Contains(chain, i) {
			ids = append(ids, id)
		} else {
			others = append(others, id)
		}
	}
	goal := deletable.FewestFalse(others...)
	if s.remove {
		goal = goal.And(deletable.MostDeletable(ids...))
	}
	h, err := s.format.choose(ids, goal, salt)
	if err != nil {
		return v, err
	}
	v.expected = float64(s.passes*len(others)) * h.rate()
	been := map[int]int{}
	for range s.passes {
		s.pass(&h, table, chain, been, &v)
	}
	for _, i := range chain {
		if been[i] == 0 {
			v.skipped++
		}
	}
	return v, nil
}

// pass serves the packet from its arrival until the switch lets it go.
func (s server) pass(h *header, table []filter.Key, chain []int, been map[int]int, v *visits) {
	for i, visited := 0, 0; i < len(table); i++ {
		if !h.has(table[i]) {
			continue
		}
		if visited++; visited > ttl {
			v.expired = true
			return
		}
		inChain := slices.Contains(chain, i)
		if !inChain {
			v.wrong++
		} else if been[i] > 0 {
			v.twice++
		}
		been[i]++
		if s.remove && h.remove(table[i]) != nil && inChain {
			v.pinned++
		}
		if !s.byPort {
			i = -1
		}
	}
}

// serveAll sends a packet with a random chain through all servers.
func serveAll(table []filter.Key, length int, list []server, r *rand.Rand) ([]visits, error) {
	chain, salt, found := r.Perm(len(table))[:length], r.Uint64(), make([]visits, len(list))
	for i, s := range list {
		var err error
		if found[i], err = s.serve(table, chain, salt); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func runChains(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	list, table := servers(e), lab.RandomKeys(e.Rand(1), e.Int("services"))
	share := func(name string, is func(visits) bool) lab.Metric[visits] {
		return lab.Metric[visits]{Name: name, Unit: lab.InPercent, Of: func(v visits) float64 { return lab.OneIf(is(v)) }, Asked: lab.Each(1)}
	}
	g, err := lab.Sweep(ctx, e, lab.Spec[visits]{
		Name: "chains", Title: "Packets with a chain of services", Dims: []lab.Dim{lab.Along("length", e.Ints("lengths")...)}, Trials: e.Int("trials"),
		Trace:  lab.AmongAll(switches, list, func(s server) string { return s.name }),
		Follow: func(at lab.At, r *rand.Rand) ([]visits, error) { return serveAll(table, at.Int("length"), list, r) },
		Metrics: []lab.Metric[visits]{
			share("served right", visits.right),
			{Name: "visited again", Of: func(v visits) float64 { return float64(v.twice) }},
			{Name: "wrong visits", Of: func(v visits) float64 { return float64(v.wrong) }, Asked: lab.Each(1)},
			{Name: "wrong visits by the fill", Of: func(v visits) float64 { return v.expected }},
			share("skipped", func(v visits) bool { return v.skipped > 0 }),
			{Name: "again though deletable", Of: func(v visits) float64 { return lab.OneIf(v.twice > v.pinned) }},
			{Name: "skipped without a wrong visit", Of: func(v visits) float64 { return lab.OneIf(v.skipped > 0 && v.wrong == 0 && !v.expired) }},
		},
		Notes: []string{
			fmt.Sprintf("A switch with %d services and headers of %d bits. Served right: every service of the chain once, in order, and no other.", e.Int("services"), e.Int("bits")),
			"A service that is found by mistake is visited and then deleted, though it was never inserted: that takes bits of others. The promise of the paper is for elements of the set.",
		},
	})
	return &lab.Result{Grids: []*lab.Grid{g}}, err
}
