package sum

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// equalMemory gives all methods the same number of bits.
func equalMemory(ctx context.Context, e *lab.Env, result *lab.Result) error {
	n, per := float64(e.Int("keys")), e.Float("bits per key")
	table := lab.Table{
		Name: "memory", Title: fmt.Sprintf("%v bits per key in all, half of the keys deleted", per),
		Columns: []string{"method", "positions per key", "k", "false negatives", "left over", "strangers"},
	}
	list := methodsOf(per*n, n)
	found := make([]meanMistakes, len(list))
	for i, m := range list {
		var err error
		if found[i], err = m.deleteShare(ctx, e, 0.5); err != nil {
			return err
		}
		table.Add(m.name, float64(m.shape.Bits)/n, m.shape.Hashes, found[i].denied, found[i].leftover, found[i].strangers)
	}
	result.Tables = append(result.Tables, table)
	result.Checks = append(result.Checks, lab.Holds(fmt.Sprintf("%v bits per key for each", per), "speed and size are preferred over 100% correctness, so the collision array (Key Solution Ideas)",
		fmt.Sprintf("deleted keys left over: array %s, counters %s; strangers: array %s, counters %s", found[0].leftover, found[1].leftover, found[0].strangers, found[1].strangers),
		found[0].leftover.Mean < found[1].leftover.Mean && found[0].strangers.Mean < found[1].strangers.Mean, "fewer wrong answers of both sorts than counters in the same memory"))
	return nil
}

// churned replaces keys one by one and looks at the errors again and again.
func churned(ctx context.Context, e *lab.Env, result *lab.Result) error {
	p := e.Floats("rates")[len(e.Floats("rates"))-1]
	s, err := bloom.Config{Items: uint64(e.Int("keys")), FPR: p}.Shape()
	if err != nil {
		return err
	}
	denied, yes := churnPlots(p)
	list := methods(s)
	all := make([][]meanMistakes, len(list))
	for i, m := range list {
		if all[i], err = m.turnover(ctx, e); err != nil {
			return err
		}
		a := lab.Series{Name: m.name, Style: lab.LinePoints, Color: i + 1}
		b, c := a, a
		b.Name, c.Name, c.Style = m.name+", left over", m.name+", strangers", lab.Dashed
		for j, v := range all[i] {
			x := float64(j) / float64(e.Int("reports per turnover"))
			a.Points = append(a.Points, v.denied.At(x))
			b.Points = append(b.Points, v.leftover.At(x))
			c.Points = append(c.Points, lab.Point{X: x, Y: v.strangers.Mean})
		}
		denied.Series, yes.Series = append(denied.Series, a), append(yes.Series, b, c)
	}
	result.Plots = append(result.Plots, denied, yes)
	result.Checks = append(result.Checks, churnChecks(e.Int("reports per turnover"), list, all)...)
	again, err := comeBack(e, s)
	result.Checks = append(result.Checks, again)
	return err
}

func churnPlots(p float64) (denied, yes lab.Plot) {
	x := lab.Axis{Label: "turnovers: times that all keys were replaced"}
	return lab.Plot{Name: "denied", Title: fmt.Sprintf("Keys of the set that are denied, P = %v", p), X: x, Y: lab.Axis{Label: "false negatives", Percent: true}},
		lab.Plot{Name: "yes", Title: fmt.Sprintf("Keys that are not in the set and get a yes, P = %v", p), X: x, Y: lab.Axis{Label: "share of keys", Percent: true}}
}

// turnover returns the state at each report, the first before anything was
// deleted.
func (m method) turnover(ctx context.Context, e *lab.Env) ([]meanMistakes, error) {
	per := e.Int("reports per turnover")
	reports := int(e.Float("turnovers"))*per + 1
	trials, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) ([]mistakes, error) {
		return m.live(r, e.Int("keys"), e.Int("queries"), reports, per)
	})
	if err != nil {
		return nil, err
	}
	out := make([]meanMistakes, reports)
	for i := range out {
		at := make([]mistakes, len(trials))
		for j, t := range trials {
			at[j] = t[i]
		}
		out[i] = average(at)
	}
	return out, nil
}

// live is the life of one filter: each step deletes a random key and adds a new
// one.
func (m method) live(r *rand.Rand, n, queries, reports, perTurnover int) ([]mistakes, error) {
	f, err := m.build()
	if err != nil {
		return nil, err
	}
	keys := lab.RandomKeys(r, n)
	if _, _, err := filter.AddBatch(f, keys); err != nil {
		return nil, err
	}
	var gone []filter.Key
	out := []mistakes{ask(f, keys, gone, lab.RandomKeys(r, queries))}
	for len(out) < reports {
		for range n / perTurnover {
			i := r.IntN(n)
			_ = f.Delete(keys[i]) // refused or not, the key is no longer in the set
			gone = append(gone, keys[i])
			keys[i] = filter.Key(r.Uint64())
			if _, err := f.Add(keys[i]); err != nil {
				return nil, err
			}
		}
		out = append(out, ask(f, keys, gone, lab.RandomKeys(r, queries)))
	}
	return out, nil
}

// churnChecks looks at the end of the turnovers, and where the second filter
// becomes worse than the array.
func churnChecks(perTurnover int, list []method, all [][]meanMistakes) []lab.Check {
	end := len(all[0]) - 1
	turnovers := float64(end) / float64(perTurnover)
	array, second := all[0], all[2]
	turn := "never"
	for i := end; i > 0 && second[i].denied.Mean > array[i].leftover.Mean; i-- {
		turn = fmt.Sprintf("from %v turnovers on", float64(i)/float64(perTurnover))
	}
	checks := []lab.Check{lab.Show("the share of live keys that the second filter denies exceeds the share of deleted ones that the array keeps", turn)}
	for i, m := range list {
		v := all[i][end]
		checks = append(checks, lab.Show(fmt.Sprintf("%s after %v turnovers", m.name, turnovers),
			fmt.Sprintf("denied %s, left over %s, strangers %s", lab.Percent(v.denied.Mean), lab.Percent(v.leftover.Mean), lab.Percent(v.strangers.Mean))))
	}
	return append(checks, lab.Holds(fmt.Sprintf("false negatives after %v turnovers", turnovers), "prevented by array and counters, introduced by the second filter (Key Solution Ideas)",
		fmt.Sprintf("array %v, counters %v, second filter %s", array[end].denied.Mean, all[1][end].denied.Mean, second[end].denied),
		array[end].denied.Mean == 0 && all[1][end].denied.Mean == 0 && second[end].denied.Mean > 0, "none, none, some"))
}

// comeBack deletes keys from a pair and adds them again, as addresses do.
func comeBack(e *lab.Env, s bloom.Shape) (lab.Check, error) {
	f, err := buildPair(s)
	if err != nil {
		return lab.Check{}, err
	}
	keys := lab.RandomKeys(e.Rand(1), e.Int("keys"))
	for _, change := range []func() error{
		func() error { _, _, err := filter.AddBatch(f, keys); return err },
		func() error { _, _, _, err := filter.DeleteBatch(f, keys); return err },
		func() error { _, _, err := filter.AddBatch(f, keys); return err },
	} {
		if err := change(); err != nil {
			return lab.Check{}, err
		}
	}
	return lab.Show("second filter: keys that were deleted and added again", lab.Percent(1-lab.YesShare(f, keys))+" are denied"), nil
}
