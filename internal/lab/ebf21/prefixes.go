package ebf21

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// routeFile is where routes are in a folder with data.
const routeFile = "lpm/bart-prefixes.txt.gz"

var prefixes = lab.Experiment{
	ID:       "ebf21/prefixes",
	Paper:    paper,
	Title:    "Sec. 1: longest prefix matching",
	Question: "How many tables of routes are read for a look-up, if a filter for each length of prefix is asked first and routes come and go?",
	Says: "Sec. 1: \"the Bloom filter is used to determine the length of the matching prefix. The candidates of the LPM, the entries containing addresses, change dynamically and the number of " +
		"candidates can be enormous.\" No number is printed.",
	Quick: lab.Params{lab.Int("routes", 5_000), lab.Float("rate", 0.01), lab.Int("look-ups", 10_000), lab.Int("trials", 4)},
	Full:  lab.Params{lab.Int("routes", 1_000_000), lab.Float("rate", 0.01), lab.Int("look-ups", 1_000_000), lab.Int("trials", 2)},
	Data:  []string{routeFile},
	Run:   runPrefixes,
	Claims: []lab.Claim{
		{Name: "no look-up is wrong", Printed: "the Bloom filter is used to determine the length of the matching prefix", Where: "Sec. 1", Of: lab.Of("wrong"), Is: lab.Zero()},
		{Name: "tables read for an address of a route, EBF", Printed: "the length of the matching prefix is determined: one table, and false positives of 32 filters", Where: "Sec. 1", Of: lab.Of("tables read", "filter", ebf, "addresses", ofRoutes), Is: lab.AtMost(lab.Of("most"))},
		{Name: "tables read for any address, EBF", Printed: "one table at most, and false positives of 32 filters", Where: "Sec. 1", Of: lab.Of("tables read", "filter", ebf, "addresses", anyAddress), Is: lab.AtMost(lab.Of("most"))},
		{Name: "EBF to filters made for a tenth of the routes", Printed: "the number of candidates changes dynamically", Where: "Sec. 1", Of: lab.Of("tables read", "filter", ebf).Minus(lab.Of("tables read", "filter", standard)), Is: lab.Below(lab.Number(0))},
		{Kind: lab.Question, Name: "tables read without filters", Printed: "not said", Of: lab.Of("lengths tried", "filter", ebf), Is: lab.Shows(), Show: []lab.Pick{lab.Of("tables read")}},
	},
}

// The addresses that are looked up.
const (
	ofRoutes   = "of routes"
	anyAddress = "any"
)

// route is an IPv4 prefix.
type route struct {
	address uint32
	length  int
}

func (r route) cut(length int) route {
	return route{uint32(uint64(r.address) >> (32 - length) << (32 - length)), length}
}

// key tells lengths apart, too: all filters may share a hash.
func (r route) key() filter.Key { return filter.Hash{}.Uint64(uint64(r.address)<<8 | uint64(r.length)) }

// routesFor reads real routes, all or a random part of them, or makes some up.
func routesFor(e *lab.Env, n int) (list []route, note string, err error) {
	r, seen := e.Rand(0), map[route]bool{}
	if e.Data == "" {
		// Of real routes six in ten have 24 bits; the others have fewer.
		for len(list) < n {
			next := route{r.Uint32(), 24 - max(0, r.IntN(40)-24)}
			if next = next.cut(next.length); !seen[next] {
				seen[next] = true
				list = append(list, next)
			}
		}
		return list, "Routes are made up: six in ten have 24 bits, the others 9 to 23.", nil
	}
	err = lab.Lines(e.Data, routeFile, func(text string) error {
		p, err := netip.ParsePrefix(text)
		if err == nil && p.Addr().Is4() {
			four := p.Masked().Addr().As4()
			list = append(list, route{binary.BigEndian.Uint32(four[:]), p.Bits()})
		}
		return err
	})
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	list = list[:min(n, len(list))]
	return list, fmt.Sprintf("Routes are %d IPv4 prefixes of a real table, %s.", len(list), routeFile), err
}

// lengths has routes by their length: in a filter, and exactly.
type lengths struct {
	filters [33]filter.Filter
	routes  map[route]bool
	some    [33]bool
}

// lookup finds the longest prefix, and tells how many tables were read and how many
// would be without filters.
func (l *lengths) lookup(address uint32) (found, read, tried int) {
	for length := 32; length >= 0; length-- {
		if !l.some[length] {
			continue
		}
		tried++
		p := route{address, length}.cut(length)
		if l.filters[length].MayContain(p.key()) {
			read++
			if l.routes[p] {
				return length, read, tried
			}
		}
	}
	return -1, read, tried
}

// exact is the longest prefix without filters.
func (l *lengths) exact(address uint32) int {
	for length := 32; length >= 0; length-- {
		if l.routes[route{address, length}.cut(length)] {
			return length
		}
	}
	return -1
}

// announce adds routes; a tenth of them is withdrawn again where filters can delete.
func announce(name string, rate float64, salt uint64, list []route) (l *lengths, err error) {
	l = &lengths{routes: make(map[route]bool, len(list))}
	counts := [33]uint64{}
	for _, r := range list {
		counts[r.length]++
	}
	for length, n := range counts {
		l.some[length] = n > 0
		if name == ebf {
			l.filters[length], err = elastic.New(elastic.Config{Items: 64, FPR: rate, Salt: salt})
		} else {
			l.filters[length], err = bloom.New(bloom.Config{Items: 1 + n/10, FPR: rate, Salt: salt})
		}
		if err != nil {
			return nil, err
		}
	}
	for _, r := range list {
		l.routes[r] = true
		if _, err := l.filters[r.length].Add(r.key()); err != nil {
			return nil, err
		}
	}
	for _, r := range list[:len(list)/10] {
		delete(l.routes, r)
		if name == ebf {
			err = filter.Delete(l.filters[r.length], r.key())
		}
		if err != nil {
			return nil, err
		}
	}
	return l, nil
}

// looked are means over look-ups.
type looked struct{ read, tried, wrong float64 }

func runPrefixes(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	rate, lookups := e.Float("rate"), e.Int("look-ups")
	list, note, err := routesFor(e, e.Int("routes"))
	if err != nil {
		return nil, err
	}
	g, err := lab.Sweep(ctx, e, lab.Spec[looked]{
		Name: "look-ups", Title: "Tables read for a look-up", Trials: e.Int("trials"), Dims: []lab.Dim{lab.Among("filter", ebf, standard)}, Trace: lab.Among("addresses", ofRoutes, anyAddress),
		Follow: func(at lab.At, r *rand.Rand) ([]looked, error) {
			l, err := announce(at.Name("filter"), rate, r.Uint64(), list)
			if err != nil {
				return nil, err
			}
			out := make([]looked, 2)
			for i := range lookups {
				address, o := r.Uint32(), &out[i%2]
				if i%2 == 0 {
					chosen := list[r.IntN(len(list))]
					address = chosen.address | address&uint32(1<<(32-chosen.length)-1)
				}
				found, read, tried := l.lookup(address)
				o.read += float64(read) / float64(lookups/2)
				o.tried += float64(tried) / float64(lookups/2)
				if found != l.exact(address) {
					o.wrong++
				}
			}
			return out, ctx.Err()
		},
		Metrics: []lab.Metric[looked]{
			{Name: "tables read", Of: func(o looked) float64 { return o.read }}, {Name: "lengths tried", Of: func(o looked) float64 { return o.tried }}, {Name: "wrong", Of: func(o looked) float64 { return o.wrong }},
		},
		Formulas: []lab.Formula{{Name: "most", Of: func(lab.At) float64 { return 1 + 32*rate }}},
	})
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{note, "Elastic filters begin with room for 64 routes. A tenth of the routes is withdrawn again; standard filters keep it."}}, err
}
