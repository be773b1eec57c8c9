package sum

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var deletion = lab.Experiment{
	ID:       "sum/deletion",
	Paper:    "[Sum]",
	Title:    "Three ways to delete",
	Question: "What do a collision array, counters and a second filter of deleted keys cost, and which errors do they make?",
	Says: "Key Solution Ideas: counters of 4 bits \"suffice for most practical scenarios, with an extremely low probability of overflow\", take up more space than a collision array, but are \"100% accurate in deleting members\"; " +
		"a bit on which two deleted keys collided stays set in the collision array and is reset by counters. A second filter of deleted keys \"takes up the same amount of space as the collision array\", " +
		"brings \"a greater possibility of false negatives\" and \"causes even more error in the result\". Conclusion: false negatives are introduced, or the size increases \"by at least roughly double\".",
	Quick: deletionParams(1_000, 20, 5_000),
	Full:  deletionParams(10_000, 200, 20_000),
	Run:   runDeletion,
}

func deletionParams(keys, trials, queries int) lab.Params {
	return lab.Params{
		lab.Int("keys", keys), lab.Floats("rates", 0.01, 0.001), lab.Floats("deleted shares", 0.1, 0.5, 0.9),
		lab.Float("bits per key", 24), lab.Float("turnovers", 4), lab.Int("reports per turnover", 2), lab.Int("trials", trials), lab.Int("queries", queries),
	}
}

func runDeletion(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	result := &lab.Result{Notes: []string{
		"\"Left over\" are keys that were deleted and are still answered with yes; some of them would be in a filter without them, too. Strangers are keys that never were in the set.",
		"The second filter of deleted keys has the shape of the first. It is made here of two standard filters: it can deny keys that are in the set, so everbloom has no such kind.",
	}}
	if err := equalRate(ctx, e, result); err != nil {
		return nil, err
	}
	if err := equalMemory(ctx, e, result); err != nil {
		return nil, err
	}
	return result, churned(ctx, e, result)
}

// mistakes are the shares of wrong answers of one filter.
type mistakes struct {
	denied    float64 // keys in the set: false negatives
	leftover  float64 // keys that were deleted
	strangers float64
	setBits   float64 // to those of a filter that never had the deleted keys
	differ    int     // bits in which they differ

	deniedKeys, askedKeys int // of those in the set
}

// means of the mistakes over trials.
type meanMistakes struct {
	denied, leftover, strangers, setBits lab.Estimate
	differ, deniedKeys, askedKeys        int
}

func average(trials []mistakes) (m meanMistakes) {
	m.denied = lab.Figure(trials, func(t mistakes) float64 { return t.denied })
	m.leftover = lab.Figure(trials, func(t mistakes) float64 { return t.leftover })
	m.strangers = lab.Figure(trials, func(t mistakes) float64 { return t.strangers })
	m.setBits = lab.Figure(trials, func(t mistakes) float64 { return t.setBits })
	for _, t := range trials {
		m.differ += t.differ
		m.deniedKeys += t.deniedKeys
		m.askedKeys += t.askedKeys
	}
	return m
}

// deleteShare fills filters, deletes the first part of the keys and asks about
// all.
func (m method) deleteShare(ctx context.Context, e *lab.Env, share float64) (meanMistakes, error) {
	n := e.Int("keys")
	gone := int(share * float64(n))
	trials, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (mistakes, error) {
		f, err := m.build()
		if err != nil {
			return mistakes{}, err
		}
		keys := lab.RandomKeys(r, n)
		if _, _, err := filter.AddBatch(f, keys); err != nil {
			return mistakes{}, err
		}
		if _, _, _, err := filter.DeleteBatch(f, keys[:gone]); err != nil {
			return mistakes{}, err
		}
		t := ask(f, keys[gone:], keys[:gone], lab.RandomKeys(r, e.Int("queries")))
		t.setBits, t.differ, err = m.compareBits(f, keys[gone:])
		return t, err
	})
	if err != nil {
		return meanMistakes{}, fmt.Errorf("%s: %w", m.name, err)
	}
	return average(trials), nil
}

// ask counts wrong answers.
func ask(f filter.Filter, live, gone, strangers []filter.Key) mistakes {
	denied := len(live) - lab.CountYes(f, live)
	return mistakes{
		denied: float64(denied) / float64(max(1, len(live))), deniedKeys: denied, askedKeys: len(live),
		leftover: lab.YesShare(f, gone), strangers: lab.YesShare(f, strangers),
	}
}

// equalRate gives all methods the same m and k, as the text does.
func equalRate(ctx context.Context, e *lab.Env, result *lab.Result) error {
	table := lab.Table{
		Name: "deletion", Title: fmt.Sprintf("%d keys, equal m and k", e.Int("keys")),
		Columns: []string{"P", "deleted", "method", "bits, to a standard filter", "false negatives", "left over", "strangers", "set bits, to a new filter"},
	}
	for _, p := range e.Floats("rates") {
		s, err := bloom.Config{Items: uint64(e.Int("keys")), FPR: p}.Shape()
		if err != nil {
			return err
		}
		for _, share := range e.Floats("deleted shares") {
			list := methods(s)
			found := make([]meanMistakes, len(list))
			for i, m := range list {
				if found[i], err = m.deleteShare(ctx, e, share); err != nil {
					return err
				}
				v := found[i]
				table.Add(p, lab.Percent(share), m.name, float64(m.bits)/float64(s.Bits), v.denied, v.leftover, v.strangers, v.setBits)
			}
			if share == 0.5 {
				result.Checks = append(result.Checks, equalChecks(s, p, list, found, float64(e.Int("keys")))...)
			}
		}
	}
	result.Tables = append(result.Tables, table)
	return nil
}

// equalChecks holds the words of the text against half of the keys deleted.
func equalChecks(s bloom.Shape, p float64, list []method, found []meanMistakes, n float64) []lab.Check {
	at := func(name string) string { return fmt.Sprintf("%s, P = %v, half deleted", name, p) }
	array, counters, second := found[0], found[1], found[2]
	exact := theory.BloomFPR(float64(s.Bits), float64(s.Hashes), n/2)
	load := float64(s.Hashes) * n / float64(s.Bits)
	return []lab.Check{
		lab.Holds(at("false negatives of array and counters"), "prevented by the collision flag, and by counters (Implementation)", fmt.Sprintf("%v and %v", array.denied.Mean, counters.denied.Mean),
			array.denied.Mean == 0 && counters.denied.Mean == 0, "not a single one"),
		lab.Holds(at("counters"), "100% accurate in deleting members (Key Solution Ideas)", fmt.Sprintf("%d bits differ from filters that never had the deleted keys", counters.differ), counters.differ == 0, "not a single bit"),
		lab.Holds(at("collision array"), "would not clear a bit on which deleted members collided (Key Solution Ideas)", fmt.Sprintf("%s times the set bits of a new filter", array.setBits),
			array.setBits.Mean > 1 && array.setBits.Mean > counters.setBits.Mean, "more set bits than without the deleted keys"),
		lab.PredictedRate(at("false negatives of the second filter, counted"), "P of its m and k with the deleted keys", exact, second.deniedKeys, second.askedKeys),
		greaterPossibility(at("false negatives of the second filter"), second, array, exact),
		lab.Holds(at("errors of the second filter"), "even more error in the result than the collision array (Key Solution Ideas)",
			fmt.Sprintf("wrong answers about all keys that were ever in the set: %s, array %s", lab.Percent(second.wrong()), lab.Percent(array.wrong())), second.wrong() > array.wrong(), "more wrong answers, of both sorts together").
			Because("the second filter denies all deleted keys, while the array keeps those that are pinned, and few live keys are denied by a filter that is half full; the turnovers show what more deletions do to either. But its errors are false negatives"),
		lab.Exact(fmt.Sprintf("space of the collision array to a standard filter, P = %v", p), "2 (\"roughly double\", Conclusion)", float64(list[0].bits)/float64(s.Bits)),
		lab.Holds(fmt.Sprintf("space of the second filter, P = %v", p), "the same amount of space as the collision array (Key Solution Ideas)", fmt.Sprintf("%d and %d bits", list[2].bits, list[0].bits), list[2].bits == list[0].bits, "as many bits"),
		lab.Holds(fmt.Sprintf("space of counters, P = %v", p), "more space than the collision array (Key Solution Ideas)", fmt.Sprintf("%.1f times", float64(list[1].bits)/float64(list[0].bits)), list[1].bits > list[0].bits, "more bits"),
		lab.Holds(fmt.Sprintf("overflow of a 4-bit counter, P = %v", p), "extremely low probability (Key Solution Ideas)", fmt.Sprintf("%s for a counter, at most %s for any of them",
			lab.Digits(theory.CountingOverflow(load, 4), 2), lab.Digits(theory.CountingOverflowBound(float64(s.Bits), load, 4), 2)),
			theory.CountingOverflowBound(float64(s.Bits), load, 4) < 1e-6, "less than one filter in a million"),
	}
}

// greaterPossibility compares the false negatives of the second filter with those of
// the array. Where chance may give none it only shows.
func greaterPossibility(name string, second, array meanMistakes, exact float64) lab.Check {
	ours := fmt.Sprintf("%d of %d keys, array %d", second.deniedKeys, second.askedKeys, array.deniedKeys)
	const least = 10 // expected: chance gives none once in 22,000 times
	if exact*float64(second.askedKeys) < least {
		return lab.Show(name, ours+"; too few keys to see one for certain")
	}
	return lab.Holds(name, "a greater possibility of false negatives (Key Solution Ideas)", ours, second.deniedKeys > array.deniedKeys, "more keys of the set are denied than by the array")
}

// wrong is the share of wrong answers about keys that were added, half of which
// were deleted.
func (m meanMistakes) wrong() float64 { return (m.denied.Mean + m.leftover.Mean) / 2 }
