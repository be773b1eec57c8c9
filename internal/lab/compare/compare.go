package compare

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var compare = lab.Experiment{
	ID:       "all/compare",
	Title:    "All kinds on one workload",
	Question: "What does each kind cost in memory and in time, at an equal rate and at equal memory, and what can it do?",
	Says: "README, \"Which filter should I take?\": bits per key of every kind at 1 % and 0.1 %; blocked has the fastest queries; \"the rate that is measured is at most the one that was asked for\". " +
		"Design 4: at equal total memory (80 bits) evergreen loses on rate to everything; a Go map of 64-bit keys takes 194 to 303 bits per key.",
	Quick: lab.Params{
		lab.Int("keys", 20_000), lab.Float("rate", 0.01), lab.Int("queries", 100_000), lab.Int("rounds", 3), lab.Int("stride", 1_000),
		lab.Floats("memory", 12, 24, 48, 84), lab.Int("planned keys", 1_000_000),
	},
	Full: lab.Params{
		lab.Int("keys", 1_000_000), lab.Float("rate", 0.01), lab.Int("queries", 2_000_000), lab.Int("rounds", 5), lab.Int("stride", 1_000),
		lab.Floats("memory", 12, 24, 48, 84), lab.Int("planned keys", 1_000_000),
	},
	Run: runCompare,
}

// A finding is what one entrant was like.
type finding struct {
	entrant
	fast, slow     float64 // bits per key
	yes, asked     int
	denied, refuse int
	times          times
	canDelete      bool
}

func (f finding) all() float64 { return f.fast + f.slow }

func (f finding) rate() float64 { return float64(f.yes) / float64(max(f.asked, 1)) }

func runCompare(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	e.Progress(0, 3)
	found, err := atEqualRate(ctx, e)
	if err != nil {
		return nil, err
	}
	e.Progress(2, 3)
	curves := sweep(uint64(e.Int("planned keys")))
	memory, err := atEqualMemory(ctx, e, curves)
	if err != nil {
		return nil, err
	}
	result := &lab.Result{
		Tables: []lab.Table{rateTable(found, e), abilityTable(), memory.table(e)},
		Plots:  []lab.Plot{memoryPlot(found), timePlot(found), curvePlot(curves, true), curvePlot(curves, false)},
		Notes: []string{
			"Every kind is made for the number of keys that it gets, which is the best case of those that grow. Bits per key are what Info says; fast ones are read by queries, slow ones by changes only.",
			"Times are processor time. The kinds take turns in strides, round by round; a figure is the median of the rounds. With so few keys most filters are in the processor's caches: docs/benchmarks.md has fifty million keys, and rivals.",
			"Rates over memory are by the formulas of the kinds (dynamic and parallel are as counting before they grow, and not drawn), which \"equal memory\" measures where a rate can be measured.",
		},
	}
	result.Checks = append(rateChecks(found, e.Float("rate")), readmeChecks()...)
	result.Checks = append(result.Checks, memory.checks()...)
	result.Checks = append(result.Checks, fastest(found), mapCheck(found))
	return result, nil
}

// atEqualRate fills all entrants and measures them.
func atEqualRate(ctx context.Context, e *lab.Env) ([]*finding, error) {
	n, k := e.Int("keys"), newKeys(e.Rand(0))
	var found []*finding
	for _, x := range append(entrants(), entrant{name: exactName, make: func(uint64, float64) (filter.Filter, error) {
		return exact{map[filter.Key]struct{}{}}, nil
	}}) {
		found = append(found, &finding{entrant: x})
	}
	for _, f := range found {
		if err := f.measure(e, k); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		if f.name == exactName {
			f.fast = exactBits(k, n)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	e.Progress(1, 3)
	return found, timeAll(ctx, e, found, k)
}

// measure finds memory and rate of one filter.
func (f *finding) measure(e *lab.Env, k keys) error {
	n := e.Int("keys")
	made, err := f.make(uint64(n), e.Float("rate"))
	if err != nil {
		return err
	}
	if f.refuse, err = fill(made, k, 0, n); err != nil {
		return err
	}
	info := made.Info()
	f.fast, f.slow = float64(info.FastBits)/float64(n), float64(info.SlowBits)/float64(n)
	f.asked = e.Int("queries")
	f.yes = yeses(made, k, f.asked)
	f.denied = denied(made, k, 0, n)
	f.canDelete = !errors.Is(filter.Delete(made, k.member(0)), errors.ErrUnsupported)
	return nil
}

// rateChecks holds every kind to the two promises that all make.
func rateChecks(found []*finding, asked float64) (checks []lab.Check) {
	for _, f := range found {
		if f.name == exactName {
			continue
		}
		_, most := theory.BinomialInterval(float64(f.asked), asked, lab.Sigmas)
		checks = append(checks, lab.Holds("rate of "+f.name, "the rate that is measured is at most the one that was asked for (README)",
			fmt.Sprintf("%d of %d: %s", f.yes, f.asked, percent(f.rate())), float64(f.yes) <= most,
			fmt.Sprintf("at most %.0f: the asked rate and %d standard deviations of the binomial distribution; lower ones are welcome", most, lab.Sigmas)))
	}
	none, asked2 := 0, 0
	for _, f := range found {
		none, asked2 = none+f.denied, asked2+1
	}
	return append(checks, lab.Holds("no member denied by any", "a key that is in the set is never denied (README)",
		fmt.Sprintf("%d members denied by %d sets", none, asked2), none == 0, "not one"))
}

// A map of 8-byte keys without values has groups of 8 control bytes and 8 slots of 16
// bytes, between 7/16 and 7/8 of which are filled. Bits per key.
const (
	leastMap = 136 / 8 * 8 / 0.875
	mostMap  = 136 / 8 * 8 / 0.4375
)

// mapCheck is about the exact set.
func mapCheck(found []*finding) lab.Check {
	for _, f := range found {
		if f.name == exactName {
			check := lab.Holds("bits per key of a Go map", "194 to 303 (design 4)", lab.Digits(f.fast, 4), f.fast >= 193.5 && f.fast < 303.5, "inside, by the digits printed")
			if f.fast >= leastMap && f.fast <= mostMap {
				check = check.Because("The range was measured over a doubling of large maps. Groups of 8 slots take 136 bytes and are filled from 7/16 to 7/8, which is 155 to 311 bits per key at other sizes.")
			}
			return check
		}
	}
	return lab.Show("bits per key of a Go map", "not measured")
}

func percent(rate float64) string { return fmt.Sprintf("%.3g %%", 100*rate) }

// dash is written where there is nothing.
const dash = "–"

func orDash(v float64) string {
	if v == 0 || math.IsNaN(v) {
		return dash
	}
	return lab.Digits(v, 3)
}

func rateTable(found []*finding, e *lab.Env) lab.Table {
	t := lab.Table{
		Name: "equal-rate", Title: fmt.Sprintf("%d keys, asked for %s", e.Int("keys"), percent(e.Float("rate"))),
		Columns: []string{
			"kind", "fast bits per key", "slow", "all", "measured rate", "ns per add", "present", "absent", "delete", "present ÷ blocked", "cache lines, present", "absent",
		},
	}
	base := 0.0
	for _, f := range found {
		if f.name == "blocked" {
			base = f.times.median(present)
		}
	}
	for _, f := range found {
		hit, miss := dash, dash
		if f.predict != nil {
			if p, err := f.predict(uint64(e.Int("keys")), e.Float("rate")); err == nil {
				hit, miss = lab.Digits(p.HitLines, 2), lab.Digits(p.MissLines, 2)
			}
		}
		t.Add(f.name, lab.Digits(f.fast, 4), orDash(f.slow), lab.Digits(f.all(), 4), percent(f.rate()),
			orDash(f.times.median(add)), orDash(f.times.median(present)), orDash(f.times.median(absent)), orDash(f.times.median(remove)),
			orDash(f.times.median(present)/base), hit, miss)
	}
	return t
}
