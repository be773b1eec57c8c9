package inpacket

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/inpacket/forward"
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
	Plots: []lab.View{
		byServer("ports", "Packets served right, whose way leads through the switch twice", "plain", "plain, chosen", "deleting", "deleting, chosen"),
		byServer("top", "Packets served right by a switch that knows no ports, once", "plain, from the top", "deleting, from the top", "deleting, chosen, from the top"),
	},
	Claims: []lab.Claim{
		{Kind: lab.Own, Name: "wrong visits, plain", Printed: "passes times other services times fill^k", Of: lab.Of("wrong visits", switches, "plain"), Is: lab.Matches(lab.Of("wrong visits by the fill"))},
		{Name: "services visited again with deletion", Printed: "removed after leaving the middlebox", Where: "Sec. V", Of: lab.Of("visited again", switches, "deleting"), Is: lab.Below(lab.Of("visited again", switches, "plain"))},
		{Name: "no service is visited again but those that are pinned", Printed: "bits outside of collisions can be removed", Where: "Sec. III", Of: lab.Of("again though deletable", switches, "deleting"), Is: lab.Zero()},
		{Name: "no service is skipped where only services of the chain were deleted", Printed: "without introducing false negatives", Where: "Sec. VI", Of: lab.Of("skipped without a wrong visit"), Is: lab.Zero()},
		{
			Kind: lab.Question, Name: "services skipped because a wrong one was deleted", Of: lab.Of("skipped", switches, "deleting"), Is: lab.Shows(), Show: []lab.Pick{lab.Of("skipped", switches, "deleting, chosen")},
		},
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

// server is a way to make headers for chains and to serve them.
type server struct {
	name   string
	config forward.Config
	rules  forward.Switch // without its table
	chosen bool
}

// fromTheTop is in the names of those that know no ports.
const fromTheTop = ", from the top"

func servers(e *lab.Env) []server {
	bare := forward.Config{Bits: e.Int("bits"), Hashes: e.Int("hashes"), Regions: 1, Candidates: 1}
	marked := bare
	marked.Regions = e.Int("regions")
	chosen := func(c forward.Config) forward.Config {
		c.Candidates = e.Int("candidates")
		return c
	}
	twice := forward.Switch{ByPort: true, Passes: 2}
	twiceDeleting, once, onceDeleting := twice, forward.Switch{}, forward.Switch{Delete: true}
	twiceDeleting.Delete = true
	return []server{
		{"plain", bare, twice, false},
		{"plain, chosen", chosen(bare), twice, true},
		{"deleting", marked, twiceDeleting, false},
		{"deleting, chosen", chosen(marked), twiceDeleting, true},
		{"plain" + fromTheTop, bare, once, false},
		{"deleting" + fromTheTop, marked, onceDeleting, false},
		{"deleting, chosen" + fromTheTop, chosen(marked), onceDeleting, true},
	}
}

// service is one packet: what it met, and how many wrong services it was to be
// expected to meet if nothing was deleted.
type service struct {
	forward.Visits
	expected float64
}

// serve makes a header for the chain and sends it round. A chosen header is the one
// with the fewest services that are pinned or found by mistake.
func (s server) serve(table []filter.Key, chain []int, salt uint64) (service, error) {
	s.config.Salt = salt
	s.rules.Table = table
	f, err := forward.New(s.config)
	if err != nil {
		return service{}, err
	}
	var ids, others []filter.Key
	for i, id := range table {
		if slices.Contains(chain, i) {
			ids = append(ids, id)
		} else {
			others = append(others, id)
		}
	}
	goal := deletable.BestFill()
	if s.chosen {
		goal = deletable.FewestFalse(others...)
	}
	if s.chosen && s.rules.Delete {
		goal = goal.And(deletable.MostDeletable(ids...))
	}
	h, err := f.Choose(ids, goal)
	if err != nil {
		return service{}, err
	}
	v, err := s.rules.Serve(h, chain)
	return service{v, float64(max(1, s.rules.Passes)*len(others)) * h.FPR()}, err
}

// serveAll sends a packet with a random chain through all servers.
func serveAll(table []filter.Key, length int, list []server, r *rand.Rand) ([]service, error) {
	chain := r.Perm(len(table))[:length]
	slices.Sort(chain) // the order is that of the table
	salt, found := r.Uint64(), make([]service, len(list))
	for i, s := range list {
		var err error
		if found[i], err = s.serve(table, chain, salt); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func services(e *lab.Env) []filter.Key {
	table := make([]filter.Key, e.Int("services"))
	for i := range table {
		table[i] = forward.ServiceID(fmt.Sprint("service ", i), 0)
	}
	return table
}

func runChains(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	list, table := servers(e), services(e)
	share := func(name string, is func(service) bool) lab.Metric[service] {
		return lab.Metric[service]{Name: name, Unit: lab.InPercent, Of: func(s service) float64 { return lab.OneIf(is(s)) }, Asked: lab.Each(1)}
	}
	g, err := lab.Sweep(ctx, e, lab.Spec[service]{
		Name: "chains", Title: "Packets with a chain of services", Dims: []lab.Dim{lab.Along("length", e.Ints("lengths")...)}, Trials: e.Int("trials"),
		Trace:  lab.AmongAll(switches, list, func(s server) string { return s.name }),
		Follow: func(at lab.At, r *rand.Rand) ([]service, error) { return serveAll(table, at.Int("length"), list, r) },
		Metrics: []lab.Metric[service]{
			share("served right", func(s service) bool { return s.Done() }),
			{Name: "visited again", Of: func(s service) float64 { return float64(s.Twice) }},
			{Name: "wrong visits", Of: func(s service) float64 { return float64(s.Wrong) }, Asked: lab.Each(1)},
			{Name: "wrong visits by the fill", Of: func(s service) float64 { return s.expected }},
			share("skipped", func(s service) bool { return s.Skipped > 0 }),
			share("ended by the TTL", func(s service) bool { return s.Expired }),
			{Name: "again though deletable", Of: func(s service) float64 { return lab.OneIf(s.Twice > s.Pinned) }},
			{Name: "skipped without a wrong visit", Of: func(s service) float64 { return lab.OneIf(s.Skipped > 0 && s.Wrong == 0 && !s.Expired) }},
		},
		Notes: []string{
			fmt.Sprintf("A switch with %d services and headers of %d bits. Served right: every service of the chain once, in order, and no other.", e.Int("services"), e.Int("bits")),
			"A switch that knows the port from which a packet comes back goes on in its table after that service; one that does not looks from the top.",
			"Chosen headers are those with the fewest services that are found by mistake or, where they are deleted, pinned.",
			"A service that is found by mistake is visited and then deleted, though it was never inserted: that takes bits of others. The promise of the paper is for elements of the set.",
		},
	})
	return &lab.Result{Grids: []*lab.Grid{g}}, err
}

func byServer(name, title string, only ...any) lab.View {
	return lab.View{
		Name: name, Title: title, X: "length", By: switches, Only: only, XAxis: lab.Axis{Label: "services in the chain"}, Y: lab.Axis{Label: "share of packets", Percent: true, Max: 1.02}, Curves: []lab.Curve{{Measured: "served right"}},
	}
}
