package ebf21

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// The tables of Sec. 1, and where real entries of them are in a folder with data.
const (
	lists    = "black and white list"
	stations = "stations (MAC)"
	groups   = "groups (multicast)"
	routes   = "routes"

	fixedSize = "counting, fixed" // made for the first number of entries

	blackFile = "ip/ipsum.txt.gz"
	makerFile = "mac/ieee-oui.csv.gz"
	routeFile = "lpm/bart-prefixes.txt.gz"
)

var useFiles = []string{blackFile, makerFile, routeFile}

var uses = lab.Experiment{
	ID:       "ebf21/uses",
	Paper:    paper,
	Title:    "Sec. 1: black lists, MAC and multicast tables, routes",
	Question: "How often does a filter claim an entry of another one, as tables of several filters grow and change, and is any entry missed?",
	Says: "Sec. 1: a white list beside a black list makes up for its false positives; one filter for all MAC addresses of a port, and for the groups of an interface; filters that determine the length of the matching prefix. " +
		"In all of them entries come and go, and their number is unknown in advance. No number is printed.",
	Quick: lab.Params{lab.Int("ports", 8), lab.Ints("entries", 1_000, 4_000, 16_000), lab.Float("rate", 0.01), lab.Int("queries", 2_000), lab.Int("trials", 6)},
	Full:  lab.Params{lab.Int("ports", 48), lab.Ints("entries", 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000), lab.Float("rate", 0.001), lab.Int("queries", 20_000), lab.Int("trials", 10)},
	Data:  useFiles,
	Run:   runUses,
	Plots: []lab.View{{
		Name: "wrong", Title: "Ports that claim a station that is elsewhere", X: "entries", By: "filter", At: []any{"table", stations}, XAxis: lab.Axis{Label: "stations", Log: true}, Y: lab.Axis{Label: "share of the other ports", Log: true, Percent: true},
		Curves: []lab.Curve{{Measured: "wrong"}}, Notes: []string{"A filter without any wrong port has no point."},
	}},
	Claims: []lab.Claim{
		{Name: "no entry is missed, however entries move, join and leave", Printed: "the lists should be deletable and adjustable; no false negatives", Where: "Sec. 1", Of: lab.Of("missed", "filter", ebf), Is: lab.Zero()},
		{Name: "friendly addresses that the black list blocks, and listed ones that the white list lets through", Printed: "the result might be a false positive: at most the rate", Where: "Sec. 1", Of: wrongIn(lists), Is: lab.AtMost(lab.Of("asked"))},
		{Name: "wrong ports of stations", Printed: "the size of MAC address table dynamically changes: the rate is kept", Where: "Sec. 1", Of: wrongIn(stations), Is: lab.AtMost(lab.Of("asked"))},
		{Name: "wrong ports of groups", Printed: "members join and leave the forwarding tables: the rate is kept", Where: "Sec. 1", Of: wrongIn(groups), Is: lab.AtMost(lab.Of("asked"))},
		{Name: "lengths of prefixes that are tried in vain", Printed: "used to determine the length of the matching prefix: all but the rate are not tried", Where: "Sec. 1", Of: wrongIn(routes), Is: lab.AtMost(lab.Of("asked"))},
		{Name: "a filter of fixed size", Printed: "the size could increase a lot, and is unknown in advance: others cannot keep the rate", Where: "Sec. 1", Of: lab.Of("wrong", "filter", fixedSize, "entries", 16_000), Is: lab.Above(lab.Of("asked"))},
		{Kind: lab.Own, Name: "no entry is missed by evergreen", Printed: "no false negatives", Of: lab.Of("missed", "filter", "evergreen"), Is: lab.Zero()},
		{Kind: lab.Own, Name: "the rate of evergreen", Printed: "the rate is kept", Of: lab.Of("wrong", "filter", "evergreen"), Is: lab.AtMost(lab.Of("asked"))},
		{Kind: lab.Question, Name: "fast memory, bits per entry", Of: lab.Of("fast bits", "entries", 16_000, "table", stations), Is: lab.Shows(), Show: []lab.Pick{lab.Of("slow bits", "entries", 16_000, "table", stations)}},
	},
}

func wrongIn(table string) lab.Pick { return lab.Of("wrong", "table", table, "filter", ebf) }

// usage is one of the tables: how many filters it has, and where its entries are from.
type usage struct {
	name    string
	filters int
	number  func(i int, r *rand.Rand) uint64
	at      func(number uint64, r *rand.Rand) []int // the filters that an entry is to be in
}

// cut is a number as a filter knows it: of routes the filter of each length has the first
// bits only.
func (u usage) cut(number uint64, at int) uint64 {
	if u.name != routes {
		return number
	}
	return number>>(40-at)<<(40-at) | uint64(at) // the address stands above eight bits for the length
}

// usages reads real entries, or makes some up.
func usages(e *lab.Env) ([]usage, error) {
	listed, makers, prefixes, err := realEntries(e)
	if err != nil {
		return nil, err
	}
	address := func(i int, r *rand.Rand) uint64 {
		if i >= len(listed) {
			return uint64(r.Uint32())
		}
		return uint64(listed[i])
	}
	station := func(_ int, r *rand.Rand) uint64 { // a maker's number before a random one
		maker := uint64(r.Uint32() >> 8)
		if len(makers) > 0 {
			maker = makers[r.IntN(len(makers))]
		}
		return maker<<24 | uint64(r.Uint32()>>8)
	}
	prefix := func(i int, r *rand.Rand) uint64 {
		if i < len(prefixes) {
			return prefixes[i]
		}
		return uint64(r.Uint32())<<8 | uint64(24-max(0, r.IntN(40)-24)) // six in ten have 24 bits
	}
	one := func(n int) func(uint64, *rand.Rand) []int {
		return func(_ uint64, r *rand.Rand) []int { return []int{r.IntN(n)} }
	}
	ports := e.Int("ports")
	return []usage{
		{lists, 2, address, one(2)},
		{stations, ports, station, one(ports)},
		{groups, ports, station, func(_ uint64, r *rand.Rand) []int { return r.Perm(ports)[:1+r.IntN(4)] }},
		{routes, 33, prefix, func(number uint64, _ *rand.Rand) []int { return []int{int(number & 0xff)} }},
	}, nil
}

// spot is a number in one of the filters.
type spot struct {
	at     int
	number uint64
}

// directory is the truth beside the filters.
type directory struct {
	usage
	filters []filter.Deleter
	hash    filter.Hash
	drawn   int
	entries []uint64
	spots   map[uint64][]spot // of an entry
	in      map[spot]bool
}

func newDirectory(u usage, name string, items uint64, rate float64, r *rand.Rand) (*directory, error) {
	d := &directory{usage: u, hash: filter.XXH3(r.Uint64()), spots: map[uint64][]spot{}, in: map[spot]bool{}}
	for range u.filters {
		var f filter.Deleter
		var err error
		switch name {
		case ebf:
			f, err = elastic.New(elastic.Config{Items: items, FPR: rate, Salt: r.Uint64()})
		case fixedSize:
			f, err = counting.New(counting.Config{Items: items, FPR: rate, Salt: r.Uint64()})
		default:
			f, err = evergreen.New(evergreen.Config{Items: items, FPR: rate})
		}
		if err != nil {
			return nil, err
		}
		d.filters = append(d.filters, f)
	}
	return d, nil
}

// set puts an entry into filters, and takes it out of those it was in.
func (d *directory) set(number uint64, at []int) error {
	for _, s := range d.spots[number] {
		if err := d.filters[s.at].Delete(d.hash.Uint64(s.number)); err != nil {
			return err
		}
		delete(d.in, s)
	}
	delete(d.spots, number)
	for _, i := range at {
		s := spot{i, d.cut(number, i)}
		if d.in[s] { // another route with the same first bits
			continue
		}
		if _, err := d.filters[i].Add(d.hash.Uint64(s.number)); err != nil {
			return err
		}
		d.in[s] = true
		d.spots[number] = append(d.spots[number], s)
	}
	return nil
}

// grow has a tenth of the entries leave, adds others up to a number, and moves a tenth.
func (d *directory) grow(n int, r *rand.Rand) error {
	for range len(d.entries) / 10 {
		i, last := r.IntN(len(d.entries)), len(d.entries)-1
		if err := d.set(d.entries[i], nil); err != nil {
			return err
		}
		d.entries[i], d.entries = d.entries[last], d.entries[:last]
	}
	for ; len(d.entries) < n; d.drawn++ {
		number := d.number(d.drawn, r)
		if len(d.spots[number]) > 0 {
			continue
		}
		d.entries = append(d.entries, number)
		if err := d.set(number, d.at(number, r)); err != nil {
			return err
		}
	}
	for range n / 10 {
		number := d.entries[r.IntN(n)]
		if err := d.set(number, d.at(number, r)); err != nil {
			return err
		}
	}
	return nil
}

// answered is what filters said of entries, and the memory of the table per entry.
type answered struct{ missed, wrong, fast, slow float64 }

// ask asks all filters about entries.
func (d *directory) ask(queries int, r *rand.Rand) (a answered) {
	others := 0
	for range queries {
		number := d.entries[r.IntN(len(d.entries))]
		for i, f := range d.filters {
			s := spot{i, d.cut(number, i)}
			claims := f.MayContain(d.hash.Uint64(s.number))
			switch {
			case d.in[s] && !claims:
				a.missed++
			case !d.in[s]:
				others++
				a.wrong += lab.OneIf(claims)
			}
		}
	}
	a.wrong /= float64(max(1, others))
	for _, f := range d.filters {
		a.fast += float64(f.Info().FastBits) / float64(len(d.entries))
		a.slow += float64(f.Info().SlowBits) / float64(len(d.entries))
	}
	return a
}

func runUses(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	list, err := usages(e)
	if err != nil {
		return nil, err
	}
	rate, sizes, queries := e.Float("rate"), e.Ints("entries"), e.Int("queries")
	g, err := lab.Sweep(ctx, e, lab.Spec[answered]{
		Name: "tables", Title: fmt.Sprintf("Answers about entries, %d ports", e.Int("ports")), Trials: e.Int("trials"),
		Dims: []lab.Dim{lab.AmongAll("table", list, func(u usage) string { return u.name }), lab.Among("filter", ebf, "evergreen", fixedSize)}, Trace: lab.Along("entries", sizes...),
		Follow: func(at lab.At, r *rand.Rand) (out []answered, err error) {
			u := list[at.Int("table")]
			d, err := newDirectory(u, at.Name("filter"), uint64(max(64, sizes[0]/u.filters)), rate, r)
			for _, size := range sizes {
				if err == nil {
					err = d.grow(size, r)
				}
				if err != nil {
					return nil, err
				}
				out = append(out, d.ask(queries, r))
			}
			return out, ctx.Err()
		},
		Metrics: []lab.Metric[answered]{
			{Name: "missed", Of: func(a answered) float64 { return a.missed }},
			{Name: "wrong", Unit: lab.InPercent, Of: func(a answered) float64 { return a.wrong }, Asked: func(at lab.At) int { return queries * max(1, list[at.Int("table")].filters-4) }},
			{Name: "fast bits", Of: func(a answered) float64 { return a.fast }},
			{Name: "slow bits", Of: func(a answered) float64 { return a.slow }},
		},
		Formulas: []lab.Formula{lab.Fixed("asked", lab.InPercent, rate)},
	})
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{
		"With a folder of data, addresses are those of a real list, stations begin with the numbers of real makers and routes are real ones; else, and where there are more entries, they are made up. " +
			"With each growth a tenth of the entries leaves, and a tenth moves: to other ports, or from one list to the other. The fixed filter is made for the first size.",
	}}, err
}
