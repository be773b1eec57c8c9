package compare

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var growing = lab.Experiment{
	ID:       "all/growing",
	Title:    "The kinds that grow",
	Question: "What becomes of the rate and of the memory when a set grows to many times the size that it began with?",
	Says: "README: evergreen, scalable and partition keep the rate; scalable takes 12.6 bits per key for 1 % if its first size was right, 14 to 48 after it has grown; " +
		"dynamic and parallel have a rate that rises; elastic takes thousands of bits per key.",
	Quick: lab.Params{lab.Int("first size", 1_000), lab.Int("keys", 64_000), lab.Int("sizes", 13), lab.Float("rate", 0.01), lab.Int("queries", 10_000)},
	Full:  lab.Params{lab.Int("first size", 10_000), lab.Int("keys", 1_280_000), lab.Int("sizes", 29), lab.Float("rate", 0.01), lab.Int("queries", 300_000)},
	Run:   runGrowing,
}

// A moment is what a filter was like with some number of keys.
type moment struct {
	keys           int
	fast, slow     float64 // bits per key
	yes, asked     int
	denied, looked int
}

// A life is all of them.
type life struct {
	entrant
	moments []moment
	lo, hi  float64 // bits per key, after it had grown to twice its first size
}

func runGrowing(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	var grow []entrant
	for _, x := range entrants() {
		if x.kind.Grows {
			grow = append(grow, x)
		}
	}
	lives, err := lab.TryTrials(ctx, e, len(grow), func(i int, r *rand.Rand) (life, error) {
		return live(ctx, e, grow[i], newKeys(r))
	})
	if err != nil {
		return nil, err
	}
	return &lab.Result{
		Tables: []lab.Table{lifeTable(lives)},
		Plots:  []lab.Plot{lifeRates(lives, e.Float("rate")), lifeBits(lives)},
		Checks: lifeChecks(lives, e.Float("rate")),
		Notes:  []string{fmt.Sprintf("All are made for %d keys. Bits per key are those of the whole filter, fast and slow, by its own account.", e.Int("first size"))},
	}, nil
}

// live grows a filter.
func live(ctx context.Context, e *lab.Env, x entrant, k keys) (life, error) {
	l := life{entrant: x, lo: math.Inf(1)}
	first, most, queries := e.Int("first size"), e.Int("keys"), e.Int("queries")
	f, err := x.make(uint64(first), e.Float("rate"))
	if err != nil {
		return l, err
	}
	n := 0
	for i := range e.Int("sizes") {
		size := int(float64(first) * math.Pow(float64(most)/float64(first), float64(i)/float64(e.Int("sizes")-1)))
		for ; n < size; n++ {
			if _, err := f.Add(k.member(n)); err != nil || ctx.Err() != nil {
				return l, fmt.Errorf("%s: %w", x.name, firstOf(err, ctx.Err()))
			}
			// Info is cheap, but not free.
			if grown := n + 1; grown >= 2*first && grown%max(1, first/8) == 0 {
				b := bitsOf(f, grown)
				l.lo, l.hi = min(l.lo, b), max(l.hi, b)
			}
		}
		m := moment{keys: n, asked: queries, looked: min(n, queries)}
		info := f.Info()
		m.fast, m.slow = float64(info.FastBits)/float64(n), float64(info.SlowBits)/float64(n)
		for j := range queries {
			if f.MayContain(k.stranger(i*queries + j)) {
				m.yes++
			}
		}
		m.denied = denied(f, k, n-m.looked, m.looked)
		l.moments = append(l.moments, m)
	}
	return l, nil
}

func bitsOf(f filter.Filter, n int) float64 {
	info := f.Info()
	return float64(info.FastBits+info.SlowBits) / float64(n)
}

func (m moment) rate() float64 { return float64(m.yes) / float64(m.asked) }

func lifeChecks(lives []life, asked float64) (checks []lab.Check) {
	lost, looked := 0, 0
	for _, l := range lives {
		checks = append(checks, l.rateCheck(asked))
		for _, m := range l.moments {
			lost, looked = lost+m.denied, looked+m.looked
		}
		if l.name == "scalable" {
			checks = append(checks, lab.Holds("scalable: bits per key after it has grown", "14 to 48 (README)",
				fmt.Sprintf("%s to %s", lab.Digits(l.lo, 4), lab.Digits(l.hi, 4)), l.lo >= 13.5 && l.hi < 48.5, "inside, by the digits printed, from twice the first size on"))
		}
	}
	return append(checks, lab.Holds("no member denied by any", "a key that is in the set is never denied (README)",
		fmt.Sprintf("%d of %d members denied", lost, looked), lost == 0, "not one"))
}

// rateCheck tells those that keep the rate from those whose rate rises.
func (l life) rateCheck(asked float64) lab.Check {
	last, kept, highest := l.moments[len(l.moments)-1], true, 0.0
	for _, m := range l.moments {
		_, most := theory.BinomialInterval(float64(m.asked), asked, lab.Sigmas)
		kept = kept && float64(m.yes) <= most
		highest = max(highest, m.rate())
	}
	ours := fmt.Sprintf("%s in the end, at most %s", percent(last.rate()), percent(highest))
	if l.kind.Drifts {
		return lab.Holds(l.name+": rate", "it rises (README)", ours, !kept, fmt.Sprintf("above the asked rate by more than %d standard deviations at some size", lab.Sigmas))
	}
	return lab.Holds(l.name+": rate", "it is kept (README)", ours, kept,
		fmt.Sprintf("at no size more yeses than the asked rate gives and %d standard deviations of the binomial distribution", lab.Sigmas))
}

func lifeTable(lives []life) lab.Table {
	t := lab.Table{
		Name: "sizes", Title: "Rate and memory on the way",
		Columns: []string{"kind", "keys", "fast bits per key", "slow", "all", "measured rate", "members denied"},
	}
	for _, l := range lives {
		for _, m := range l.moments {
			t.Add(l.name, m.keys, m.fast, orDash(m.slow), m.fast+m.slow, percent(m.rate()), m.denied)
		}
	}
	return t
}

func lifeRates(lives []life, asked float64) lab.Plot {
	p := lab.Plot{
		Name: "rate", Title: "The rate while the set grows",
		X: lab.Axis{Label: "keys", Log: true}, Y: lab.Axis{Label: "false positives", Log: true, Percent: true},
		Notes: []string{"Sizes at which no query was answered wrongly have no point, since the axis has no 0: a small evergreen filter has room to spare."},
	}
	for _, l := range lives {
		s := lab.Series{Name: l.name, Style: lab.LinePoints, Color: colours[l.name]}
		for _, m := range l.moments {
			if m.yes > 0 {
				s.Points = append(s.Points, lab.Point{X: float64(m.keys), Y: m.rate()})
			}
		}
		if len(s.Points) > 0 {
			p.Series = append(p.Series, s)
		}
	}
	ends := lives[0].moments
	p.Series = append(p.Series, lab.Series{Name: "asked", Style: lab.Dashed, Color: colours["bloom"], Points: []lab.Point{
		{X: float64(ends[0].keys), Y: asked}, {X: float64(ends[len(ends)-1].keys), Y: asked},
	}})
	return p
}

func lifeBits(lives []life) lab.Plot {
	p := lab.Plot{
		Name: "bits", Title: "All memory while the set grows",
		X: lab.Axis{Label: "keys", Log: true}, Y: lab.Axis{Label: "bits per key", Log: true},
	}
	for _, l := range lives {
		s := lab.Series{Name: l.name, Style: lab.LinePoints, Color: colours[l.name]}
		for _, m := range l.moments {
			s.Points = append(s.Points, lab.Point{X: float64(m.keys), Y: m.fast + m.slow})
		}
		p.Series = append(p.Series, s)
	}
	return p
}
