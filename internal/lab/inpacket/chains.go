package inpacket

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var chains = lab.Experiment{
	ID:       "inpacket/chains",
	Title:    "Chains of services in packet headers",
	Question: "How often is a packet that comes to its switch twice sent to a service again, to a wrong one, or to one too few, with and without deleting services that are done?",
	Says:     "Sec. V: the filter represents \"a sequence of middlebox services (e.g., firewall, load balancer, DPI)\"; packets are forwarded \"upon match on Bloomed Service IDs, which are removed after leaving the middlebox\".",
	Params: lab.Params{ // 96 bits are those of two Ethernet addresses
		lab.Int("bits", 96), lab.Int("hashes", 4), lab.Int("regions", 16), lab.Int("candidates", 16), lab.Int("services", 32),
		lab.Ints("lengths", 1, 2, 4, 6, 8).Full(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12), lab.Int("trials", 2_000).Full(5_000),
	},
	Run: runChains,
	Plots: []lab.View{{
		Name: "right", Title: "Packets served right, whose way leads through the switch twice", X: "length", By: headers, Only: []any{"plain", "deleting", "deleting, by mistakes", "deleting, by both"},
		XAxis: lab.Axis{Label: "services in the chain"}, Y: lab.Axis{Label: "share of packets", Percent: true, Max: 1.02}, Curves: []lab.Curve{{Measured: "served right"}},
	}},
	Claims: []lab.Claim{
		{Name: "services visited again with deletion", Printed: "removed after leaving the middlebox", Where: "Sec. V", Of: lab.Of("visited again", headers, "deleting"), Is: lab.Below(lab.Of("visited again", headers, "plain"))},
		{Name: "no service is visited again but those that are pinned", Printed: "bits outside of collisions can be removed", Where: "Sec. III", Of: lab.Of("again though deletable", headers, "deleting"), Is: lab.Zero()},
		{Name: "no service is skipped where only services of the chain were deleted", Printed: "without introducing false negatives", Where: "Sec. VI", Of: lab.Of("skipped without a wrong visit"), Is: lab.Zero()},
		{Kind: lab.Question, Name: "services skipped because a wrong one was deleted", Of: lab.Of("skipped", headers, "deleting"), Is: lab.Shows(), Show: []lab.Pick{lab.Of("skipped", headers, "deleting, by both")}},
		{Name: "switches that match service IDs", Printed: "relying on a substrate of switch programmability (OpenFlow)", Where: "Sec. V", Is: lab.NotMeasured("a switch here asks for one service after the other, in software")},
		{Kind: lab.Question, Name: "packets served right", Of: lab.Of("served right", headers, "deleting"), Is: lab.Shows(), Show: []lab.Pick{lab.Of("served right", headers, "deleting, by both")}},
	},
}

// visits is what a packet met.
type visits struct {
	wrong   int // visits to services that are not in the chain
	twice   int // visits to services of the chain where the packet had been
	skipped int // services of the chain that were never visited
	pinned  int // services of the chain that could not be deleted after a visit
}

// right reports whether every service of the chain was visited once, and no other. The
// order is that of the table.
func (v visits) right() bool { return v.wrong+v.twice+v.skipped == 0 }

func (v visits) figures() lab.Figures {
	return lab.Figures{
		"served right": lab.OneIf(v.right()), "skipped": lab.OneIf(v.skipped > 0), "visited again": float64(v.twice), "wrong visits": float64(v.wrong),
		"again though deletable": lab.OneIf(v.twice > v.pinned), "skipped without a wrong visit": lab.OneIf(v.skipped > 0 && v.wrong == 0),
	}
}

// serve makes a header for a chain, a part of the table, and sends it through the switch
// twice. The switch asks for one service after the other.
func (c contender) serve(table []filter.Key, chain []int, salt uint64) (v visits, err error) {
	var ids, others []filter.Key
	for i, id := range table {
		if slices.Contains(chain, i) {
			ids = append(ids, id)
		} else {
			others = append(others, id)
		}
	}
	h, err := c.choose(ids, others, salt)
	if err != nil {
		return v, err
	}
	been := map[filter.Key]bool{}
	for _, id := range slices.Concat(table, table) {
		if !h.has(id) {
			continue
		}
		inChain := slices.Contains(ids, id)
		if !inChain {
			v.wrong++
		} else if been[id] {
			v.twice++
		}
		been[id] = true
		if c.remove && h.remove(id) != nil && inChain {
			v.pinned++
		}
	}
	for _, id := range ids {
		if !been[id] {
			v.skipped++
		}
	}
	return v, nil
}

// serveAll sends a packet with a random chain with all headers.
func serveAll(table []filter.Key, length int, list []contender, r *rand.Rand) (found []visits, err error) {
	chain, salt := r.Perm(len(table))[:length], r.Uint64()
	for _, c := range list {
		v, err := c.serve(table, chain, salt)
		if err != nil {
			return nil, err
		}
		found = append(found, v)
	}
	return found, nil
}

func runChains(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	list, table := contenders(e)[:8], lab.RandomKeys(e.Rand(1), e.Int("services"))
	return lab.Find(ctx, e, lab.Sweep{
		Name: "chains", Title: "Packets with a chain of services", Dims: []lab.Dim{lab.Along("length", e.Ints("lengths")...)}, Trials: e.Int("trials"),
		Trace: lab.AmongAll(headers, list, contender.String),
		Follow: func(at lab.At, r *rand.Rand) (out []lab.Figures, err error) {
			found, err := serveAll(table, at.Int("length"), list, r)
			for _, v := range found {
				out = append(out, v.figures())
			}
			return out, err
		},
		Metrics: []lab.Metric{
			{Name: "served right", Unit: lab.InPercent, Asked: lab.Each(1)},
			{Name: "skipped", Unit: lab.InPercent, Asked: lab.Each(1)},
			{Name: "visited again"},
			{Name: "wrong visits", Asked: lab.Each(1)},
			{Name: "again though deletable"},
			{Name: "skipped without a wrong visit"},
		},
		Notes: []string{"A service that is found by mistake is visited and then deleted, though it was never inserted: that takes bits of others. The promise of the paper is for elements of the set."},
	})
}
