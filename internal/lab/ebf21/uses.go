package ebf21

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// The tables of Sec. 1, and where real entries of them are in a folder with data.
const (
	lists    = "black and white list"
	stations = "stations (MAC)"
	groups   = "groups (multicast)"
	routes   = "routes"

	blackFile = "ip/ipsum.txt.gz"
	makerFile = "mac/ieee-oui.csv.gz"
	routeFile = "lpm/bart-prefixes.txt.gz"
)

var uses = lab.Experiment{
	ID:       "ebf21/uses",
	Title:    "Sec. 1: black lists, MAC and multicast tables, routes",
	Question: "How often does a filter claim an entry of another one, as tables of several filters grow and change, and is any entry missed?",
	Says: "Sec. 1: a white list beside a black list makes up for its false positives; one filter for all MAC addresses of a port, and for the groups of an interface; filters that determine the length of the matching prefix. " +
		"In all of them entries come and go, and their number is unknown in advance. No number is printed.",
	Params: lab.Params{lab.Int("ports", 8).Full(48), lab.Ints("entries", 1_000, 4_000, 16_000).Full(1_000, 4_000, 16_000, 64_000), lab.Float("rate", 0.01).Full(0.001), lab.Int("queries", 2_000).Full(20_000), lab.Int("trials", 6)},
	Data:   []string{blackFile, makerFile, routeFile},
	Run:    runUses,
	Plots: []lab.View{{
		Name: "wrong", Title: "Filters that claim an entry of another one", X: "entries", By: "table", XAxis: lab.Axis{Label: "entries", Log: true}, Y: lab.Axis{Label: "share of the other filters", Log: true, Percent: true},
		Curves: []lab.Curve{{Measured: "wrong"}, {Formula: "asked", Style: lab.Dashed, Once: true}},
	}},
	Claims: []lab.Claim{
		{Name: "no entry is missed, however entries move, join and leave", Printed: "the lists should be deletable and adjustable; no false negatives", Where: "Sec. 1", Of: lab.Of("missed"), Is: lab.Zero()},
		{Name: "friendly addresses that the black list blocks, and listed ones that the white list lets through", Printed: "the result might be a false positive: at most the rate", Where: "Sec. 1", Of: wrongIn(lists), Is: lab.AtMost(lab.Of("asked"))},
		{Name: "wrong ports of stations", Printed: "the size of MAC address table dynamically changes: the rate is kept", Where: "Sec. 1", Of: wrongIn(stations), Is: lab.AtMost(lab.Of("asked"))},
		{Name: "wrong ports of groups", Printed: "members join and leave the forwarding tables: the rate is kept", Where: "Sec. 1", Of: wrongIn(groups), Is: lab.AtMost(lab.Of("asked"))},
		{Name: "lengths of prefixes that are tried in vain", Printed: "used to determine the length of the matching prefix: all but the rate are not tried", Where: "Sec. 1", Of: wrongIn(routes), Is: lab.AtMost(lab.Of("asked"))},
	},
}

func wrongIn(table string) lab.Pick { return lab.Of("wrong", "table", table) }

// usage is one of the tables.
type usage struct {
	name    string
	filters int
	draw    func(r *rand.Rand) uint64               // makes an entry up
	at      func(number uint64, r *rand.Rand) []int // the filters that an entry is to be in

	file  string // of real entries
	parse func(text string) (uint64, bool)
	free  uint64 // bits of real entries that are made up
	real  []uint64
}

// usages reads the real entries that there are in the folder with data.
func usages(e *lab.Env) ([]usage, error) {
	ports := e.Int("ports")
	address := func(r *rand.Rand) uint64 { return uint64(r.Uint32()) }
	station := func(r *rand.Rand) uint64 { return r.Uint64() >> 16 }
	route := func(r *rand.Rand) uint64 { return uint64(r.Uint32())<<8 | uint64(24-max(0, r.IntN(40)-24)) } // six in ten have 24 bits
	one := func(n int) func(uint64, *rand.Rand) []int {
		return func(_ uint64, r *rand.Rand) []int { return []int{r.IntN(n)} }
	}
	some := func(_ uint64, r *rand.Rand) []int { return r.Perm(ports)[:1+r.IntN(4)] }
	length := func(number uint64, _ *rand.Rand) []int { return []int{int(number & 0xff)} }
	list := []usage{
		{name: lists, filters: 2, draw: address, at: one(2), file: blackFile, parse: parseAddress},
		{name: stations, filters: ports, draw: station, at: one(ports), file: makerFile, parse: parseMaker, free: 1<<24 - 1},
		{name: groups, filters: ports, draw: station, at: some, file: makerFile, parse: parseMaker, free: 1<<24 - 1},
		{name: routes, filters: 33, draw: route, at: length, file: routeFile, parse: parseRoute},
	}
	for i := range list {
		u := &list[i]
		if len(lab.Experiment{Data: []string{u.file}}.Files(e.Data)) == 0 {
			continue
		}
		err := lab.Lines(e.Data, u.file, func(text string) error {
			if number, ok := u.parse(text); ok { // else a heading, a remark or an entry of IPv6
				u.real = append(u.real, number)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		e.Rand(0).Shuffle(len(u.real), func(i, j int) { u.real[i], u.real[j] = u.real[j], u.real[i] })
	}
	return list, nil
}

func parseAddress(text string) (uint64, bool) {
	before, _, _ := strings.Cut(text, "\t")
	number, ok := parseRoute(before + "/32")
	return number >> 8, ok
}

func parseMaker(text string) (uint64, bool) {
	_, rest, _ := strings.Cut(text, ",")
	number, _, _ := strings.Cut(rest, ",")
	maker, err := strconv.ParseUint(number, 16, 24)
	return maker << 24, err == nil
}

// parseRoute reads a prefix as an address before eight bits for the length.
func parseRoute(text string) (uint64, bool) {
	p, err := netip.ParsePrefix(text)
	if err != nil || !p.Addr().Is4() {
		return 0, false
	}
	four := p.Masked().Addr().As4()
	return uint64(binary.BigEndian.Uint32(four[:]))<<8 | uint64(p.Bits()), true
}

// spot is an entry in one of the filters.
type spot struct {
	at     int
	number uint64
}

// spotOf is an entry as a filter knows it: that of a length has the first bits of routes.
func (u usage) spotOf(number uint64, at int) spot {
	if u.name == routes {
		number = number>>(40-at)<<(40-at) | uint64(at)
	}
	return spot{at, number}
}

// directory is the truth beside the filters.
type directory struct {
	usage
	filters []*elastic.Filter
	hash    filter.Hash
	spots   []spot
	in      map[spot]bool
}

func newDirectory(u usage, items uint64, rate float64, r *rand.Rand) (*directory, error) {
	d := &directory{usage: u, hash: filter.XXH3(r.Uint64()), in: map[spot]bool{}}
	for range u.filters {
		f, err := elastic.New(elastic.Config{Items: items, FPR: rate, Salt: r.Uint64()})
		if err != nil {
			return nil, err
		}
		d.filters = append(d.filters, f)
	}
	return d, nil
}

// join puts an entry into some filters.
func (d *directory) join(number uint64, r *rand.Rand) error {
	for _, i := range d.at(number, r) {
		s := d.spotOf(number, i)
		if d.in[s] {
			continue
		}
		if _, err := d.filters[i].Add(d.hash.Uint64(s.number)); err != nil {
			return err
		}
		d.in[s] = true
		d.spots = append(d.spots, s)
	}
	return nil
}

// leave takes any spot out of its filter.
func (d *directory) leave(r *rand.Rand) (spot, error) {
	i, last := r.IntN(len(d.spots)), len(d.spots)-1
	s := d.spots[i]
	d.spots[i], d.spots = d.spots[last], d.spots[:last]
	delete(d.in, s)
	return s, d.filters[s.at].Delete(d.hash.Uint64(s.number))
}

// grow has a tenth of the spots leave and a tenth move, and adds entries up to n spots.
func (d *directory) grow(n int, r *rand.Rand) error {
	for i := range len(d.spots) / 5 {
		s, err := d.leave(r)
		if err == nil && i%2 == 0 {
			err = d.join(s.number, r)
		}
		if err != nil {
			return err
		}
	}
	for len(d.spots) < n {
		number := d.draw(r)
		if len(d.real) > 0 {
			number, d.real = d.real[0]|number&d.free, d.real[1:]
		}
		if err := d.join(number, r); err != nil {
			return err
		}
	}
	return nil
}

// ask asks all filters about entries: how many are missed, and the share of wrong claims.
func (d *directory) ask(queries int, r *rand.Rand) lab.Figures {
	missed, wrong, others := 0.0, 0.0, 0.0
	for range queries {
		number := d.spots[r.IntN(len(d.spots))].number
		for i, f := range d.filters {
			s := d.spotOf(number, i)
			claims := f.MayContain(d.hash.Uint64(s.number))
			missed += lab.OneIf(d.in[s] && !claims)
			wrong += lab.OneIf(!d.in[s] && claims)
			others += lab.OneIf(!d.in[s])
		}
	}
	return lab.Figures{"missed": missed, "wrong": wrong / max(1, others)}
}

func runUses(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	list, err := usages(e)
	if err != nil {
		return nil, err
	}
	rate, sizes, queries := e.Float("rate"), e.Ints("entries"), e.Int("queries")
	return lab.Find(ctx, e, lab.Sweep{
		Name: "tables", Title: fmt.Sprintf("Answers about entries, %d ports", e.Int("ports")), Trials: e.Int("trials"),
		Dims: []lab.Dim{lab.AmongAll("table", list, func(u usage) string { return u.name })}, Trace: lab.Along("entries", sizes...),
		Follow: func(at lab.At, r *rand.Rand) (out []lab.Figures, err error) {
			u := list[at.Int("table")]
			d, err := newDirectory(u, uint64(max(64, sizes[0]/u.filters)), rate, r)
			for _, size := range sizes {
				if err == nil {
					err = d.grow(size, r)
				}
				if err != nil {
					return nil, err
				}
				out = append(out, d.ask(queries, r))
			}
			return out, nil
		},
		Metrics: []lab.Metric{
			{Name: "missed"},
			{Name: "wrong", Unit: lab.InPercent, Asked: func(at lab.At) int { return queries * max(1, list[at.Int("table")].filters-4) }},
		},
		Formulas: []lab.Formula{lab.Fixed("asked", lab.InPercent, rate)},
	}, lab.Notes{
		"With a folder of data, addresses are those of a real list, stations begin with the numbers of real makers and routes are real ones; else, and where there are more entries, they are made up. " +
			"With each growth a tenth of the entries leaves, and a tenth moves: to other ports, or from one list to the other. Filters are made for the first size.",
	})
}
