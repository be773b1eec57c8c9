package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/progress"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/quantity"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
)

// bench measures all kinds on this machine.
type bench struct {
	*env
	wish
	json   bool
	rounds int
	done   atomic.Int64 // measurements made
}

func newBench(e *env) *cobra.Command {
	b := &bench{env: e}
	cmd := &cobra.Command{
		Use:     "bench [INPUT...]",
		GroupID: groupChoose,
		Short:   "Measure all kinds of filter on this machine",
		Long: `Fill a filter of each kind and ask it about keys that are present (hit) and
absent (miss), one by one, and about both in batches. If the kind can, delete
all keys in the end. Do so in several rounds, one kind after the other in each,
and show the median of the rounds, in nanoseconds per key. The keys are hashed
before. The rate is the share of absent keys that were found.

The present keys are those of the INPUTs, or made up if none is named.`,
		Example: `  everbloom bench
  everbloom bench --items 10M --fpr 0.1%
  everbloom bench --json urls.txt`,
		RunE: verb(b.run),
	}
	b.sizeFlags(cmd, "(default: 1000000, or the number of lines)")
	cmd.Flags().IntVar(&b.rounds, "rounds", 5, "measure `N` times")
	cmd.Flags().BoolVar(&b.json, "json", false, "print a JSON array")
	return cmd
}

// maxBench keys and as many absent ones take 1.5 GiB.
const maxBench = 100_000_000

// result is one kind's line; times are in nanoseconds per key.
type result struct {
	Kind       string  `json:"kind"`
	BitsPerKey float64 `json:"bits_per_key"`
	FPR        float64 `json:"fpr"`
	Insert     float64 `json:"insert_ns"`
	Hit        float64 `json:"hit_ns"`
	Miss       float64 `json:"miss_ns"`
	Batch      float64 `json:"batch_ns"`
	Delete     float64 `json:"delete_ns,omitempty"` // 0 if the kind cannot
	Error      string  `json:"error,omitempty"`     // why there are no numbers
}

// run measures with as many absent keys as there are present ones.
func (b *bench) run(ctx context.Context, args []string) error {
	if b.rounds < 1 {
		return fmt.Errorf("--rounds: %d must be at least 1", b.rounds)
	}
	if b.Items > maxBench {
		return fmt.Errorf("--items: %d must be at most %d: all keys are kept in memory", b.Items, maxBench)
	}
	present, err := b.presentKeys(ctx, args)
	if err != nil {
		return err
	}
	b.Items = cmp.Or(b.Items, uint64(len(present)))
	b.FPR = cmp.Or(b.FPR, 0.001)
	bar := b.progress(false, func() progress.State {
		return progress.State{Label: "bench", Done: b.done.Load(), Total: int64(b.rounds * len(b.kinds))}
	})
	defer bar.Stop()
	results, err := b.measureAll(ctx, present, absentKeys(len(present)))
	if err != nil {
		return err
	}
	bar.Stop()
	return b.print(results, len(present))
}

// presentKeys reads or makes up the keys that go into the filters.
func (b *bench) presentKeys(ctx context.Context, args []string) ([]filter.Key, error) {
	if len(args) == 0 {
		return madeUp(filter.XXH3(1), int(cmp.Or(b.Items, 1_000_000))), nil
	}
	in, err := b.input(args, lines.Rules{Force: true}, false)
	if err != nil {
		return nil, err
	}
	var all []filter.Key
	err = lines.Each(ctx, in, hashLines(filter.Hash{}), func(_ *lines.Block, keys *[]filter.Key) error {
		all = append(all, *keys...)
		return nil
	})
	if err == nil && len(all) == 0 {
		err = within(args[0], "no keys: name a file with one key per line")
	}
	return all, err
}

// absentKeys are as good as certainly not among the present ones.
func absentKeys(n int) []filter.Key { return madeUp(filter.XXH3(2), n) }

// madeUp returns hashed numbers; another hash gives other keys.
func madeUp(h filter.Hash, n int) []filter.Key {
	keys := make([]filter.Key, n)
	for i := range keys {
		keys[i] = h.Uint64(uint64(i))
	}
	return keys
}

// measureAll takes the kinds in turns, so that whatever else the machine does
// meanwhile hits all of them.
func (b *bench) measureAll(ctx context.Context, present, absent []filter.Key) ([]result, error) {
	rounds := make([][]result, len(b.kinds))
	for range b.rounds {
		for i, k := range b.kinds {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			rounds[i] = append(rounds[i], b.measure(k, present, absent))
			b.done.Add(1)
		}
	}
	medians := make([]result, len(rounds))
	for i, r := range rounds {
		medians[i] = medianOf(r)
	}
	return medians, nil
}

// measure fills and asks one filter.
func (b *bench) measure(k kinds.Kind, present, absent []filter.Key) result {
	r := result{Kind: k.Name}
	f, err := k.New(kinds.Config{Items: b.Items, FPR: b.FPR})
	if err != nil {
		r.Error = plain(err)
		return r
	}
	set := everbloom.NewSet(f, filter.Hash{})
	r.Insert = perKey(present, func() {
		for _, key := range present {
			if _, err = set.AddKey(key); err != nil {
				return
			}
		}
	})
	if err != nil {
		r.Error = plain(err)
		return r
	}
	yes := 0
	r.Hit = perKey(present, func() { yes = countYes(set, present) })
	r.Miss = perKey(absent, func() { yes = countYes(set, absent) })
	r.FPR = float64(yes) / float64(len(absent))
	r.Batch = (askBatches(set, present) + askBatches(set, absent)) / 2
	r.BitsPerKey = float64(f.Info().FastBits+f.Info().SlowBits) / float64(len(present))
	if k.Abilities().Delete {
		r.Delete = perKey(present, func() { deleteAll(set, present) })
	}
	return r
}

// deleteAll takes pinned keys, and the later copies of keys that are there twice,
// in its stride.
func deleteAll(set *everbloom.Set, keys []filter.Key) {
	for _, k := range keys {
		_ = set.DeleteKey(k)
	}
}

// countYes uses the answers, so that no compiler can leave out the questions.
func countYes(set *everbloom.Set, keys []filter.Key) (yes int) {
	for _, k := range keys {
		if set.MayContainKey(k) {
			yes++
		}
	}
	return yes
}

// askBatches returns nanoseconds per key.
func askBatches(set *everbloom.Set, keys []filter.Key) float64 {
	const batch = 1024
	answers := make([]bool, batch)
	return perKey(keys, func() {
		for part := range slices.Chunk(keys, batch) {
			set.MayContainBatch(part, answers)
		}
	})
}

// perKey returns the nanoseconds that do takes for each key.
func perKey(keys []filter.Key, do func()) float64 {
	start := time.Now()
	do()
	return float64(time.Since(start).Nanoseconds()) / float64(len(keys))
}

// medianOf takes the median of each time; the rest is the same in all rounds.
func medianOf(rounds []result) result {
	median := func(field func(result) float64) float64 {
		var values []float64
		for _, r := range rounds {
			values = append(values, field(r))
		}
		slices.Sort(values)
		n := len(values)
		return (values[(n-1)/2] + values[n/2]) / 2
	}
	m := rounds[0]
	m.Insert = median(func(r result) float64 { return r.Insert })
	m.Hit = median(func(r result) float64 { return r.Hit })
	m.Miss = median(func(r result) float64 { return r.Miss })
	m.Batch = median(func(r result) float64 { return r.Batch })
	m.Delete = median(func(r result) float64 { return r.Delete })
	return m
}

// print shows a table. A kind that could not be measured has the reason in place
// of its numbers.
func (b *bench) print(results []result, keys int) error {
	if b.json {
		return printJSON(b.stdout, results)
	}
	t := tabwriter.NewWriter(b.stdout, 0, 0, 2, ' ', 0)
	rounds := "one round"
	if b.rounds > 1 {
		rounds = fmt.Sprintf("median of %d rounds", b.rounds)
	}
	rates := make([]float64, len(results))
	for i, r := range results {
		rates[i] = r.FPR
	}
	rate := quantity.RateFormat(rates...)
	// Flush reports what goes wrong.
	_, _ = fmt.Fprintf(t, "%s, %s, nanoseconds per key\n\n", quantity.Keys(uint64(keys)), rounds)
	_, _ = fmt.Fprintln(t, "kind\tbits/key\trate\tinsert\thit\tmiss\tbatch\tdelete")
	for _, r := range results {
		if r.Error != "" {
			_, _ = fmt.Fprintf(t, "%s\t%s\n", r.Kind, r.Error)
			continue
		}
		_, _ = fmt.Fprintf(t, "%s\t%.2f\t%s\t%.1f\t%.1f\t%.1f\t%.1f\t%s\n", r.Kind, r.BitsPerKey, rate(r.FPR), r.Insert, r.Hit, r.Miss, r.Batch, r.deleteText())
	}
	return t.Flush()
}

// deleteText has a dash for kinds that cannot delete.
func (r result) deleteText() string {
	if r.Delete == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", r.Delete)
}
