package compare

import (
	"context"
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// A curve is what an entrant promises for each rate that it is asked for.
type curve struct {
	entrant
	offers []offer
}

// An offer is a rate that is asked for, and what comes of it.
type offer struct {
	asked, rate float64
	fast, all   float64 // bits per key
}

// sweep asks all entrants for rates from one in two down to 1e-9.
func sweep(n uint64) []curve {
	var curves []curve
	for _, x := range entrants() {
		c := curve{entrant: x}
		for exponent := 0.3; exponent <= 9; exponent += 0.1 {
			asked := math.Pow(10, -exponent)
			if p, err := x.predict(n, asked); err == nil && p.FPR > 0 {
				c.offers = append(c.offers, offer{asked, p.FPR, p.FastBitsPerKey, p.FastBitsPerKey + p.SlowBitsPerKey})
			}
		}
		curves = append(curves, c)
	}
	return curves
}

// within is the offer with the lowest rate that fits into so many bits per key;
// none if nothing does.
func (c curve) within(bits float64) (best offer, ok bool) {
	for _, o := range c.offers {
		if o.all <= bits && (!ok || o.rate < best.rate) {
			best, ok = o, true
		}
	}
	return best, ok
}

// An allotment is what an entrant makes of a number of bits per key.
type allotment struct {
	bits  float64
	name  string
	fits  bool
	offer offer

	all        float64 // bits per key of the filter that was built
	yes, asked int
}

type allotments []allotment

// atEqualMemory gives all entrants the same memory in all, and has them make the
// best of it.
func atEqualMemory(ctx context.Context, e *lab.Env, curves []curve) (allotments, error) {
	var list allotments
	n, k := e.Int("keys"), newKeys(e.Rand(2))
	for _, bits := range e.Floats("memory") {
		for _, c := range curves {
			a := allotment{bits: bits, name: c.name}
			if a.offer, a.fits = c.within(bits); a.fits {
				f, err := c.make(uint64(n), a.offer.asked)
				if err == nil {
					_, err = fill(f, k, 0, n)
				}
				if err = firstOf(err, ctx.Err()); err != nil {
					return nil, fmt.Errorf("%s in %v bits: %w", c.name, bits, err)
				}
				a.read(f, k, n, e.Int("queries"))
			}
			list = append(list, a)
		}
	}
	return list, nil
}

func (a *allotment) read(f filter.Filter, k keys, n, queries int) {
	info := f.Info()
	a.all = float64(info.FastBits+info.SlowBits) / float64(n)
	a.asked, a.yes = queries, yeses(f, k, queries)
}

// checks are about what evergreen pays.
func (list allotments) checks() []lab.Check {
	var checks []lab.Check
	last := list[len(list)-1].bits
	own, ok := allotment{}, true
	lowest, better := "", 0
	for _, a := range list {
		if a.bits == last && a.name == "evergreen" {
			own = a
		}
	}
	for _, a := range list {
		if a.bits != last || !a.fits || a.name == own.name {
			continue
		}
		if a.offer.rate >= own.offer.rate {
			ok = false
			lowest = a.name
			continue
		}
		better++
	}
	ours := fmt.Sprintf("%s against lower ones of all %d others that fit", percent(own.offer.rate), better)
	if !ok {
		ours = fmt.Sprintf("%s, but %s has no lower one", percent(own.offer.rate), lowest)
	}
	return append(checks, lab.Holds(fmt.Sprintf("rate of evergreen with %v bits per key in all", last),
		"at equal total memory evergreen loses on rate to everything (design 4)", ours, ok && own.fits && better > 0, "by the formulas; elastic does not fit at all"))
}

func (list allotments) table(e *lab.Env) lab.Table {
	t := lab.Table{
		Name: "equal-memory", Title: "Equal memory in all: the lowest rate that each kind can have",
		Columns: []string{"bits per key", "kind", "asked rate", "rate by formula", "bits per key built", "measured rate"},
		Notes: []string{fmt.Sprintf("Sized by formula for %d keys; built and measured with %d keys and %d queries.",
			e.Int("planned keys"), e.Int("keys"), e.Int("queries"))},
	}
	for _, a := range list {
		if !a.fits {
			t.Add(lab.Digits(a.bits, 3), a.name, "does not fit", dash, dash, dash)
			continue
		}
		measured := percent(float64(a.yes) / float64(a.asked))
		if a.yes == 0 {
			measured = "none"
		}
		t.Add(lab.Digits(a.bits, 3), a.name, percent(a.offer.asked), percent(a.offer.rate), lab.Digits(a.all, 4), measured)
	}
	return t
}

// curvePlot draws rates over memory, all of it or that which queries read.
func curvePlot(curves []curve, all bool) lab.Plot {
	p := lab.Plot{
		Name: "rate-over-all", Title: "The rate that memory buys, all of it counted",
		X: lab.Axis{Label: "bits per key, fast and slow", Max: 120}, Y: lab.Axis{Label: "false positives", Log: true},
	}
	if !all {
		p.Name, p.Title, p.X = "rate-over-fast", "The rate that fast memory buys", lab.Axis{Label: "bits per key that queries read", Max: 60}
	}
	for _, c := range curves {
		if c.name == "parallel" || c.name == "dynamic" {
			continue // as counting, before they grow
		}
		s := lab.Series{Name: c.name, Color: colours[c.name]}
		for _, o := range c.offers {
			x := o.fast
			if all {
				x = o.all
			}
			if x <= p.X.Max {
				s.Points = append(s.Points, lab.Point{X: x, Y: o.rate})
			}
		}
		if len(s.Points) > 1 {
			p.Series = append(p.Series, s)
		}
	}
	return p
}
