package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/terminal"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/quantity"
	"github.com/everbloom-go/everbloom/internal/timing"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// bench measures all kinds on this machine.
type bench struct {
	*env
	needs
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
	bar := b.progress(false, func() terminal.State {
		return terminal.State{Label: "bench", Done: b.done.Load(), Total: int64(b.rounds * len(kinds.All()))}
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
	results, rounds := make([]result, len(kinds.All())), timing.Rounds{}
	for range b.rounds {
		turns := timing.NewTurns(timing.Wall)
		for i, k := range kinds.All() {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			results[i] = b.measure(k, present, absent, turns)
			b.done.Add(1)
		}
		rounds.Add(turns)
	}
	for i := range results {
		results[i].setTimes(rounds)
	}
	return results, nil
}

// The operations that are timed.
const (
	benchInsert = "insert"
	benchHit    = "hit"
	benchMiss   = "miss"
	benchBatch  = "batch"
	benchDelete = "delete"
)

// setTimes fills in the medians.
func (r *result) setTimes(rounds timing.Rounds) {
	for work, to := range map[string]*float64{
		benchInsert: &r.Insert, benchHit: &r.Hit, benchMiss: &r.Miss, benchBatch: &r.Batch, benchDelete: &r.Delete,
	} {
		*to = rounds.Nanos(r.Kind, work)
	}
}

// measure fills and asks one filter.
func (b *bench) measure(k kinds.Kind, present, absent []filter.Key, turns *timing.Turns) result {
	r := result{Kind: k.Name}
	f, err := k.New(kinds.Config{Items: b.Items, FPR: b.FPR})
	if err != nil {
		r.Error = fault.Text(err)
		return r
	}
	set := everbloom.NewSet(f, filter.Hash{})
	time := func(work string, keys []filter.Key, do func([]filter.Key)) {
		turns.Time(timing.Lap{k.Name, work}, len(keys), func() { do(keys) })
	}
	time(benchInsert, present, func(keys []filter.Key) { err = addAll(set, keys) })
	if err != nil {
		r.Error = fault.Text(err)
		return r
	}
	yes := 0
	time(benchHit, present, func(keys []filter.Key) { yes = countYes(set, keys) })
	time(benchMiss, absent, func(keys []filter.Key) { yes = countYes(set, keys) })
	r.FPR = float64(yes) / float64(len(absent))
	time(benchBatch, present, func(keys []filter.Key) { askBatches(set, keys) })
	time(benchBatch, absent, func(keys []filter.Key) { askBatches(set, keys) })
	r.BitsPerKey = float64(f.Info().FastBits+f.Info().SlowBits) / float64(len(present))
	if k.Abilities().Delete {
		time(benchDelete, present, func(keys []filter.Key) { deleteAll(set, keys) })
	}
	return r
}

func addAll(set *everbloom.Set, keys []filter.Key) error {
	for _, k := range keys {
		if _, err := set.AddKey(k); err != nil {
			return err
		}
	}
	return nil
}

// deleteAll ignores that some keys are pinned, and that later copies of a key are absent.
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

func askBatches(set *everbloom.Set, keys []filter.Key) {
	const batch = 1024
	answers := make([]bool, batch)
	for part := range slices.Chunk(keys, batch) {
		set.MayContainBatch(part, answers)
	}
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
