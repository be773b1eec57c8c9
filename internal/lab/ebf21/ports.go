package ebf21

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// makerFile is where the first halves of MAC addresses are in a folder with data.
const makerFile = "mac/ieee-oui.csv.gz"

const (
	stations = "stations (MAC)"
	groups   = "groups (multicast)"
)

var ports = lab.Experiment{
	ID:       "ebf21/ports",
	Paper:    paper,
	Title:    "Sec. 1: the tables of a switch, a filter for each port",
	Question: "How many frames go to wrong ports as the tables of stations and of multicast groups grow and change, and is any frame lost?",
	Says: "Sec. 1: \"One Bloom filter is built for all MAC addresses with the same outgoing port. The size of MAC address table dynamically changes, and could increase a lot.\" \"The Bloom filter in each outgoing " +
		"interface is used to determine whether to forward an incoming packet or not. The member of an interface will join and leave the forwarding tables. The size ... is unknown in advance.\"",
	Quick: lab.Params{lab.Int("ports", 8), lab.Ints("entries", 1_000, 4_000, 16_000), lab.Float("rate", 0.01), lab.Int("queries", 2_000), lab.Int("trials", 8)},
	Full:  lab.Params{lab.Int("ports", 48), lab.Ints("entries", 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000), lab.Float("rate", 0.001), lab.Int("queries", 20_000), lab.Int("trials", 10)},
	Data:  []string{makerFile},
	Run:   runPorts,
	Plots: []lab.View{{
		Name: "wrong", Title: "Ports that claim a station that is elsewhere", X: "entries", By: "filter", At: []any{"table", stations}, XAxis: lab.Axis{Label: "stations", Log: true}, Y: lab.Axis{Label: "share of the other ports", Log: true, Percent: true},
		Curves: []lab.Curve{{Measured: "wrong ports"}}, Notes: []string{"A filter without any wrong port has no point."},
	}},
	Claims: []lab.Claim{
		{Name: "no frame is lost, however entries move, join and leave", Printed: "no false negatives", Where: "Sec. 1", Of: lab.Of("lost", "filter", "EBF"), Is: lab.Zero()},
		{Name: "wrong ports, at every size", Printed: "adjustable: the rate is kept", Where: "Sec. 1", Of: lab.Of("wrong ports", "filter", "EBF"), Is: lab.AtMost(lab.Of("asked"))},
		{Name: "wrong ports of a filter of fixed size", Printed: "the size could increase a lot, and is unknown in advance: others cannot keep the rate", Where: "Sec. 1", Of: lab.Of("wrong ports", "filter", "counting, fixed", "entries", 16_000), Is: lab.Above(lab.Of("asked"))},
		{Kind: lab.Own, Name: "no frame is lost by evergreen", Printed: "no false negatives", Of: lab.Of("lost", "filter", "evergreen"), Is: lab.Zero()},
		{Kind: lab.Own, Name: "wrong ports of evergreen", Printed: "the rate is kept", Of: lab.Of("wrong ports", "filter", "evergreen"), Is: lab.AtMost(lab.Of("asked"))},
		{Kind: lab.Question, Name: "fast memory, bits per entry", Of: lab.Of("fast bits", "entries", 16_000), Is: lab.Shows(), Show: []lab.Pick{lab.Of("slow bits", "entries", 16_000, "table", stations)}},
	},
}

// portTable is the truth beside the filters: which ports a key is at, as bits.
type portTable struct {
	filters []filter.Deleter
	keys    []filter.Key
	at      map[filter.Key]uint64
	many    bool // groups are at several ports
}

func newPorts(name string, n int, items, salt uint64, rate float64, many bool) (t portTable, err error) {
	t = portTable{at: map[filter.Key]uint64{}, many: many}
	for i := range n {
		var f filter.Deleter
		switch salt := salt + uint64(i); name {
		case "EBF":
			f, err = elastic.New(elastic.Config{Items: items, FPR: rate, Salt: salt})
		case "evergreen":
			f, err = evergreen.New(evergreen.Config{Items: items, FPR: rate})
		default:
			f, err = counting.New(counting.Config{Items: items, FPR: rate, Salt: salt})
		}
		if err != nil {
			return t, err
		}
		t.filters = append(t.filters, f)
	}
	return t, nil
}

// set changes the ports of a key.
func (t *portTable) set(k filter.Key, to uint64) error {
	for changed := t.at[k] ^ to; changed != 0; changed &= changed - 1 {
		port := bits.TrailingZeros64(changed)
		if to>>port&1 == 0 {
			if err := t.filters[port].Delete(k); err != nil {
				return err
			}
		} else if _, err := t.filters[port].Add(k); err != nil {
			return err
		}
	}
	t.at[k] = to
	return nil
}

// pick draws ports for a key: one, or for a group up to four.
func (t *portTable) pick(r *rand.Rand) (at uint64) {
	for range 1 + r.IntN(4) {
		at |= 1 << r.IntN(len(t.filters))
		if !t.many {
			break
		}
	}
	return at
}

// grow adds keys up to a number and gives a fifth of all new ports.
func (t *portTable) grow(n int, key func() filter.Key, r *rand.Rand) error {
	for len(t.keys) < n {
		k := key()
		if _, there := t.at[k]; there {
			continue
		}
		t.keys = append(t.keys, k)
		if err := t.set(k, t.pick(r)); err != nil {
			return err
		}
	}
	for range n / 5 {
		if err := t.set(t.keys[r.IntN(n)], t.pick(r)); err != nil {
			return err
		}
	}
	return nil
}

// sent is what became of frames, and the memory of the table per entry.
type sent struct{ lost, wrong, fast, slow float64 }

// ask sends frames to known stations or groups.
func (t *portTable) ask(queries int, r *rand.Rand) (s sent) {
	others := 0
	for range queries {
		k := t.keys[r.IntN(len(t.keys))]
		for port, f := range t.filters {
			claims := f.MayContain(k)
			switch there := t.at[k]>>port&1 == 1; {
			case there && !claims:
				s.lost++
			case !there:
				others++
				if claims {
					s.wrong++
				}
			}
		}
	}
	s.wrong /= float64(max(1, others))
	for _, f := range t.filters {
		s.fast += float64(f.Info().FastBits) / float64(len(t.keys))
		s.slow += float64(f.Info().SlowBits) / float64(len(t.keys))
	}
	return s
}

func runPorts(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	makers, note, err := makersOf(e)
	if err != nil {
		return nil, err
	}
	n, rate, sizes := e.Int("ports"), e.Float("rate"), e.Ints("entries") // a group is at up to four ports
	g, err := lab.Sweep(ctx, e, lab.Spec[sent]{
		Name: "ports", Title: fmt.Sprintf("Frames to known entries, %d ports", n), Dims: []lab.Dim{lab.Among("table", stations, groups), lab.Among("filter", "EBF", "evergreen", "counting, fixed")}, Trials: e.Int("trials"),
		Trace: lab.Along("entries", sizes...),
		Follow: func(at lab.At, r *rand.Rand) (out []sent, err error) {
			many := at.Name("table") == groups
			t, err := newPorts(at.Name("filter"), n, uint64(max(64, sizes[0]/n)), r.Uint64(), rate, many)
			if err != nil {
				return nil, err
			}
			hash := filter.XXH3(r.Uint64())
			key := func() filter.Key { // a maker's number before a random one
				return hash.Uint64(makers[r.IntN(len(makers))]<<24 | uint64(r.Uint32()>>8))
			}
			for _, size := range sizes {
				if err := t.grow(size, key, r); err != nil {
					return nil, err
				}
				out = append(out, t.ask(e.Int("queries"), r))
			}
			return out, nil
		},
		Metrics: []lab.Metric[sent]{
			{Name: "lost", Of: func(s sent) float64 { return s.lost }},
			{Name: "wrong ports", Unit: lab.InPercent, Of: func(s sent) float64 { return s.wrong }, Asked: lab.Each(e.Int("queries") * (n - 4))},
			{Name: "fast bits", Of: func(s sent) float64 { return s.fast }},
			{Name: "slow bits", Of: func(s sent) float64 { return s.slow }},
		},
		Formulas: []lab.Formula{lab.Fixed("asked", lab.InPercent, rate)},
		Notes:    []string{note, "After each growth a fifth of the entries get other ports: stations move, groups are joined and left. The fixed filter is made for the first size."},
	})
	return &lab.Result{Grids: []*lab.Grid{g}}, err
}

// makersOf reads the numbers of real makers, or makes some up.
func makersOf(e *lab.Env) (list []uint64, note string, err error) {
	if e.Data == "" {
		r := e.Rand(0)
		for range 30_000 {
			list = append(list, uint64(r.Uint32()>>8))
		}
		return list, "Addresses are made up.", nil
	}
	err = lab.Lines(e.Data, makerFile, func(text string) error {
		fields := strings.SplitN(text, ",", 3)
		if len(fields) < 3 {
			return nil // the rest of an entry in several lines
		}
		if v, err := strconv.ParseUint(fields[1], 16, 24); err == nil { // not the heading
			list = append(list, v)
		}
		return nil
	})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%s: no maker of network cards", makerFile)
	}
	return list, fmt.Sprintf("Addresses begin with one of %d real makers, %s.", len(list), makerFile), err
}
