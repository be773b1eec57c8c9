package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/spool"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/terminal"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/quantity"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// build makes a filter from a list of keys.
type build struct {
	*env
	needs
	rules lines.Rules
	out   string
	like  string   // file with a set whose kind, shape and hash to take
	asked []string // names of the flags of needs, which like excludes
	quiet bool
	keys  atomic.Uint64 // read so far
	added uint64        // of these looked new

	comment string // an input that begins with a comment
	prefix  byte   // of it
}

func newBuild(e *env) *cobra.Command {
	b := &build{env: e}
	cmd := &cobra.Command{
		Use:     "build -o FILE [INPUT...]",
		GroupID: groupUse,
		Short:   "Make a filter from a list of keys",
		Long: `Build makes a filter from a list of keys and writes it to FILE, which is
replaced as a whole or not at all.

` + lineRules + `

` + keyRules + `

Without --items the filter is made for as many keys as there are lines: files
are read twice, and of pipes the hashed keys are kept, 8 bytes each, beyond
8 MiB in a temporary file.

With --like the filter gets the kind, the shape and the hash of another one,
its secret included, so that the two can be merged. It has as much room as the
other one.`,
		Example: `  everbloom build -o words.bloom /usr/share/dict/words
  everbloom build -o seen.bloom --fpr 0.1% urls.txt.gz more-urls.txt
  cut -f1 log.tsv | everbloom build -o users.bloom --items 10M --fpr 1%
  everbloom build -o blocked.bloom --field 2 --comment '#' hosts.txt
  everbloom build -o users.bloom --kind bloom --hash siphash users.txt
  everbloom build -o all.bloom --delete --slow-file /var/tmp/slow huge.txt
  everbloom build -o tuesday.bloom --like monday.bloom tuesday.txt`,
		Args: withOutput(&b.out, cobra.ArbitraryArgs),
		RunE: verb(b.run),
	}
	b.sizeFlags(cmd, "(default: the number of lines)")
	b.needFlags(cmd)
	b.makeFlags(cmd)
	chooseHash := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		return errors.Join(b.checkLike(cmd), chooseHash(cmd, args))
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) { b.asked = append(b.asked, f.Name) })
	cmd.Flags().StringVarP(&b.out, "output", "o", "", "`FILE` to write (required)")
	cmd.Flags().StringVar(&b.like, "like", "", "take kind, shape and hash of the filter in `OTHER`, so that the two can be merged")
	quietFlag(cmd, &b.quiet)
	keyFlags(cmd, &b.rules)
	return cmd
}

// checkLike refuses flags that ask for what --like decides.
func (b *build) checkLike(cmd *cobra.Command) error {
	for _, name := range b.asked {
		if b.like != "" && cmd.Flags().Changed(name) {
			return fmt.Errorf("--like takes kind, shape and hash from %s: leave out --%s", b.like, name)
		}
	}
	return nil
}

// run checks all that it can before it reads the first key: a list may be long.
func (b *build) run(ctx context.Context, args []string) error {
	sibling, err := b.prepare()
	if err != nil {
		return err
	}
	in, err := b.input(args, b.rules, b.quiet)
	if err != nil {
		return err
	}
	if err := b.checkOutput(b.out, in, b.rules.Force); err != nil {
		return err
	}
	start := time.Now()
	set, err := b.fill(ctx, in, sibling)
	if set != nil {
		defer func() { _ = set.Close() }() // removes the slow file
	}
	if err != nil {
		return err
	}
	if err := b.saveFilter(ctx, set, b.out); err != nil {
		return err
	}
	if !b.quiet {
		b.summarise(set, time.Since(start))
	}
	return nil
}

// prepare returns the empty set that --like asks for. Else it tries the needs on a
// tiny set.
func (b *build) prepare() (*everbloom.Set, error) {
	if b.like == "" {
		n := b.Needs
		n.Items = 1
		set, err := newSet(n)
		if err != nil {
			return nil, err
		}
		return nil, set.Close()
	}
	set, err := b.openFilter(b.like)
	if err != nil {
		return nil, err
	}
	if err := set.Clear(); err != nil {
		return nil, within(b.like, "%s: build both filters with the same --kind, --items, --fpr, --shards and --hash", fault.Text(err))
	}
	return set, nil
}

// fill adds all keys to the set, which it makes if there is none.
func (b *build) fill(ctx context.Context, in *lines.Input, set *everbloom.Set) (*everbloom.Set, error) {
	if set == nil && b.Items == 0 {
		if !in.Again() {
			return b.fillSpooled(ctx, in)
		}
		n, err := b.count(ctx, in)
		if err != nil {
			return nil, err
		}
		if b.Items = n; n == 0 {
			return nil, errNoKeys
		}
	}
	if set == nil {
		var err error
		if set, err = newSet(b.Needs); err != nil {
			return nil, err
		}
	}
	bar := b.reading("build", b.quiet, in, &b.keys, set)
	defer bar.Stop()
	return set, lines.Each(ctx, in, hashLines(set.Hash()), func(block *lines.Block, keys *[]filter.Key) error {
		b.observe(block)
		return b.add(set, *keys)
	})
}

// errNoKeys is also what becomes of a pipe whose first command failed: it must not
// replace a filter.
var errNoKeys = errors.New("no keys in the input: give --items to make an empty filter")

// count counts the lines that hold a key.
func (b *build) count(ctx context.Context, in *lines.Input) (uint64, error) {
	bar := b.reading("count", b.quiet, in, &b.keys, nil)
	defer bar.Stop()
	var sum uint64
	err := lines.Each(ctx, in, countLines, func(_ *lines.Block, n *uint64) error {
		sum += *n
		return nil
	})
	return sum, err
}

// fillSpooled keeps the hashed keys until their number is known.
func (b *build) fillSpooled(ctx context.Context, in *lines.Input) (set *everbloom.Set, err error) {
	var kept spool.Spool
	defer func() { err = errors.Join(err, kept.Close()) }()
	if err := b.keep(ctx, in, &kept); err != nil {
		return nil, err
	}
	if b.Items = kept.Len(); b.Items == 0 {
		return nil, errNoKeys
	}
	if set, err = newSet(b.Needs); err != nil {
		return nil, err
	}
	bar := b.progress(b.quiet, func() terminal.State {
		done := b.keys.Load()
		return terminal.State{Label: "build", Done: int64(done), Total: int64(b.Items), Keys: done, Notes: rateSoFar(set)}
	})
	defer bar.Stop()
	return set, kept.Each(func(keys []filter.Key) error {
		return errors.Join(ctx.Err(), b.add(set, keys))
	})
}

// keep reads all keys into the spool.
func (b *build) keep(ctx context.Context, in *lines.Input, kept *spool.Spool) error {
	bar := b.reading("read", b.quiet, in, &b.keys, nil)
	defer bar.Stop()
	defer b.keys.Store(0)
	return lines.Each(ctx, in, hashLines(b.Hash), func(block *lines.Block, keys *[]filter.Key) error {
		b.observe(block)
		b.keys.Add(uint64(len(*keys)))
		return kept.Append(*keys)
	})
}

// observe finds inputs that begin with a comment, the most common way to get keys
// that were not meant as such.
func (b *build) observe(block *lines.Block) {
	if block.First == 1 && len(b.rules.Comments) == 0 && b.rules.Field == 0 && (block.Text[0] == '#' || block.Text[0] == ';') {
		b.comment = block.Name
		b.prefix = block.Text[0]
	}
}

// add puts keys into the set and counts them.
func (b *build) add(set *everbloom.Set, keys []filter.Key) error {
	added, err := set.AddBatch(keys, nil)
	b.added += uint64(added)
	b.keys.Add(uint64(len(keys)))
	if errors.Is(err, filter.ErrFull) {
		return fmt.Errorf("full after about %s: %s: %w", quantity.Keys(b.keys.Load()), b.more(), err)
	}
	return err
}

// more says how to get a filter with more room.
func (b *build) more() string {
	if b.like != "" {
		return "build a larger one without --like"
	}
	if b.Kind != "" {
		return "give a larger --items, or --grow in place of --kind"
	}
	return "give a larger --items, or --grow"
}

// summarise says in one line what was made.
func (b *build) summarise(set *everbloom.Set, took time.Duration) {
	info, keys := set.Info(), b.keys.Load()
	parts := []string{quantity.Keys(keys)}
	if float64(info.Keys) < 0.95*float64(keys) { // closer, it may be the estimate
		parts = append(parts, "about "+quantity.Count(info.Keys)+" different")
	}
	if bits := info.BitsPerKey(); bits > 0 {
		parts = append(parts, quantity.Short(bits)+" bits per key")
	}
	if file, err := os.Stat(b.out); err == nil {
		parts = append(parts, quantity.Bytes(float64(file.Size())))
	}
	parts = append(parts, "rate "+quantity.Rate(info.FPR), quantity.Duration(took))
	if keys >= 10_000 { // fewer say nothing about the speed
		parts = append(parts, quantity.Short(float64(keys)/took.Seconds())+" keys/s")
	}
	b.say("%s: %s: %s", b.out, info.Kind, strings.Join(parts, ", "))
	if seen := keys - min(keys, b.added); info.Duplicates == filter.DuplicatesPin && seen > keys/50 {
		b.say("%s: %s looked as if they were in it already: a key that is added twice cannot be deleted", b.out, quantity.Keys(seen))
	}
	if b.comment != "" {
		b.say("%s: begins with %q: if that is a comment, give --comment '%c', or such lines are keys", b.comment, b.prefix, b.prefix)
	}
	if info.Overfull {
		b.say("%s: made for %s, so the rate is above the asked one: %s", b.out, quantity.Keys(info.Capacity), b.more())
	}
}
