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

var chains = lab.Experiment{
	ID:       "inpacket/chains",
	Paper:    "[DlBF10]",
	Title:    "Chains of services in packet headers",
	Question: "How often is a packet that comes to its switch twice sent to a service again, to a wrong one, or to one too few, with and without deleting services that are done?",
	Says:     "Sec. V: the filter represents \"a sequence of middlebox services (e.g., firewall, load balancer, DPI)\"; packets are forwarded \"upon match on Bloomed Service IDs, which are removed after leaving the middlebox\".",
	Quick:    chainParams(2_000, 1, 2, 4, 6, 8),
	Full:     chainParams(20_000, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12),
	Run:      runChains,
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

// The servers, by number: first those that know ports and are passed twice, then those
// that look from the top of their table, once.
const (
	servesPlain = iota
	servesPlainChosen
	servesDeleting
	servesDeletingChosen
	topPlain
	topDeleting
	topDeletingChosen
)

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

// serveAll sends packets with chains of one length through all servers.
func serveAll(ctx context.Context, e *lab.Env, length int, list []server) ([][]service, error) {
	table := make([]filter.Key, e.Int("services"))
	for i := range table {
		table[i] = forward.ServiceID(fmt.Sprint("service ", i), 0)
	}
	by := make([][]service, len(list))
	trials, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) ([]service, error) {
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
	})
	for _, t := range trials {
		for i, s := range t {
			by[i] = append(by[i], s)
		}
	}
	return by, err
}

func runChains(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	list, lengths := servers(e), e.Ints("lengths")
	all := make([][][]service, len(lengths)) // by length, then by server
	for i, length := range lengths {
		e.Progress(i, len(lengths))
		var err error
		if all[i], err = serveAll(ctx, e, length, list); err != nil {
			return nil, err
		}
	}
	return &lab.Result{
		Plots: []lab.Plot{
			chainPlot("ports", "Packets served right, whose way leads through the switch twice", list, lengths, all,
				servesPlain, servesPlainChosen, servesDeleting, servesDeletingChosen),
			chainPlot("top", "Packets served right by a switch that knows no ports, once", list, lengths, all,
				topPlain, topDeleting, topDeletingChosen),
		},
		Tables: []lab.Table{chainTable(list, lengths, all)},
		Checks: chainChecks(lengths, all),
		Notes: []string{
			fmt.Sprintf("A switch with %d services and headers of %d bits. Served right: every service of the chain once, in order, and no other.", e.Int("services"), e.Int("bits")),
			"A switch that knows the port from which a packet comes back goes on in its table after that service; one that does not looks from the top.",
			"Chosen headers are those with the fewest services that are found by mistake or, where they are deleted, pinned.",
		},
	}, nil
}
