package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/quantity"
	"github.com/everbloom-go/everbloom/internal/replace"
)

// uniq prints the lines that were not there before.
type uniq struct {
	*env
	needs
	rules    lines.Rules
	state    string // file that remembers lines; empty: memory does
	count    bool   // print a number instead of lines
	repeated bool   // print the others
	stats    bool
	quiet    bool

	set      *everbloom.Set
	counts   bool // the kind counts duplicates
	isNew    []bool
	keys     atomic.Uint64 // read so far
	fresh    uint64        // of these looked new
	lost     bool          // some lines that are in the set could not be printed
	selected uint64        // lines
}

func newUniq(e *env) *cobra.Command {
	u := &uniq{env: e}
	cmd := &cobra.Command{
		Use:     "uniq [--state FILE] [INPUT...]",
		GroupID: groupUse,
		Short:   "Print the lines not seen before",
		Long: `Uniq prints each line the first time that it comes, in the order of the input,
as soon as it is read. The input need not be sorted, and may be endless: about
ten bytes per line are kept instead of the lines. A new line may be taken for a
repeated one and dropped: at most at the rate --fpr, one in a thousand, and as
good as never with a filter that uniq itself has made. -v tells about it.

With --state the lines are remembered in FILE, from one run to the next. FILE is
made if it is not there; --items and --fpr count only then. It is written at the
end of the input, and also after an interruption (Ctrl-C), when it holds the
lines printed so far. It is not written if the output cannot be: the lines come
again in the next run. While one uniq runs with FILE, others wait. FILE is a
filter: everbloom info and query can read it.

` + lineRules + `
Lines without a key are never printed.

` + keyRules + `
The whole line is printed, also if only a part of it is the key.`,
		Example: `  everbloom uniq urls.txt more-urls.txt.gz > all-urls.txt
  everbloom uniq --state seen.bloom today.txt > new-today.txt
  tail -F access.log | everbloom uniq --field 1
  everbloom uniq -d --fpr 0.01% --items 100M huge.txt`,
		Args: cobra.ArbitraryArgs,
		RunE: verb(u.run),
	}
	f := cmd.Flags()
	f.StringVar(&u.state, "state", "", "remember lines in `FILE`")
	f.BoolVarP(&u.repeated, "repeated", "d", false, "print the lines seen before instead, each time that they come")
	f.BoolVarP(&u.count, "count", "c", false, "print only how many lines there would be")
	f.BoolVarP(&u.stats, "stats", "v", false, "say at the end what was done (default on a terminal)")
	quietFlag(cmd, &u.quiet)
	u.sizeFlags(cmd, "(to begin with; default 1M)")
	keyFlags(cmd, &u.rules)
	return cmd
}

func (u *uniq) run(ctx context.Context, args []string) error {
	in, err := u.input(args, u.rules, u.quiet)
	if err != nil {
		return err
	}
	u.Grow = true
	var ended error // what ended the input, if anything did
	if u.state == "" {
		if u.set, err = newSet(u.Needs); err == nil {
			ended = u.read(ctx, in)
		}
	} else if err = u.create(in); err == nil {
		err = u.updateFilter(ctx, u.state, func(set *everbloom.Set) error {
			u.set, u.counts = set, set.Info().Duplicates != filter.DuplicatesIgnored
			ended = u.read(ctx, in)
			return u.keep(ended)
		})
	}
	if err != nil && !errors.Is(err, errUnchanged) {
		return err
	}
	u.summarise()
	return u.conclude(ended)
}

// create makes the state unless it is there. Another process may do so at the same
// moment: then that one's stays.
func (u *uniq) create(in *lines.Input) error {
	if u.state == stdout {
		return within(u.state, "is no file: name one that remembers the lines")
	}
	if err := u.checkOutput(u.state, in, false); err != nil {
		return err
	}
	if _, err := os.Stat(u.state); !errors.Is(err, fs.ErrNotExist) {
		return nil // what is wrong with it, if anything, opening says
	}
	set, err := newSet(u.Needs)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		_, err := set.WriteTo(w)
		return err
	}
	if err := replace.Create(u.state, set.Hash().Secret(), write); err != nil {
		return unwritable(u.state, err)
	}
	return nil
}

// read prints the lines of the input.
func (u *uniq) read(ctx context.Context, in *lines.Input) error {
	bar := u.reading("uniq", u.quiet || !u.count, in, &u.keys, nil)
	defer bar.Stop()
	return lines.Each(ctx, in, u.collect, u.print)
}

// errUnchanged ends an update that has nothing to save.
var errUnchanged = errors.New("nothing is new")

// keep decides whether the state is saved: whatever ended the input, if every line in
// it was printed.
func (u *uniq) keep(ended error) error {
	switch {
	case u.lost:
		return ended
	case u.fresh == 0:
		return errUnchanged
	}
	return nil
}

// conclude prints the count and says what an interruption left behind.
func (u *uniq) conclude(ended error) error {
	if u.count {
		if _, err := fmt.Fprintln(u.stdout, u.selected); err != nil {
			return err
		}
	}
	if !errors.Is(ended, context.Canceled) {
		return ended
	}
	if u.state == "" {
		return &partial{ended, "without --state nothing is remembered"}
	}
	return &partial{ended, u.state + " holds the lines so far: run this again to go on"}
}

// hashed is a block with its lines and their keys.
type hashed struct {
	lines []lines.Span
	keys  []filter.Key
	text  []byte // what to print
}

// collect hashes the keys of a block.
func (u *uniq) collect(b *lines.Block, h *hashed) error {
	hash := u.set.Hash()
	h.lines = b.Cut()
	h.keys = appendKeys(h.keys[:0], b, h.lines, hash)
	return nil
}

// print adds the keys of a block in their order and prints the lines. After an
// error it prints those that are in the set.
func (u *uniq) print(b *lines.Block, h *hashed) error {
	done, failed := u.add(h.keys)
	u.keys.Add(uint64(done))
	h.text = h.text[:0]
	start, key := uint32(0), 0
	for _, l := range h.lines {
		line := b.Text[start:l.End]
		start = l.End
		if l.From == l.To {
			continue
		}
		if key == done {
			break
		}
		if isNew := u.isNew[key]; isNew != u.repeated {
			u.selected++
			h.text = u.appendLine(h.text, line)
		}
		key++
	}
	if len(h.text) > 0 {
		if _, err := u.stdout.Write(h.text); err != nil {
			u.lost = true
			return err
		}
	}
	return failed
}

// appendLine appends a line, with an end if it has none.
func (u *uniq) appendLine(to, line []byte) []byte {
	if u.count {
		return to
	}
	to = append(to, line...)
	if end := u.rules.End(); line[len(line)-1] != end {
		to = append(to, end)
	}
	return to
}

// add adds keys and notes in isNew which of them were not there. Where duplicates
// count, only those are added, or a key could not be deleted later.
func (u *uniq) add(keys []filter.Key) (done int, err error) {
	if cap(u.isNew) < len(keys) {
		u.isNew = make([]bool, cap(keys))
	}
	u.isNew = u.isNew[:len(keys)]
	for i, k := range keys {
		if u.isNew[i] = false; u.counts && u.set.MayContainKey(k) {
			continue
		}
		if u.isNew[i], err = u.set.AddKey(k); err != nil {
			return i, u.explain(err, u.keys.Load()+uint64(i))
		}
		if u.isNew[i] {
			u.fresh++
		}
	}
	return len(keys), nil
}

// explain says what to do about a set without room.
func (u *uniq) explain(err error, read uint64) error {
	if errors.Is(err, filter.ErrFull) {
		return within(u.state, "full after reading %s: remove it, and uniq makes one that grows", quantity.Keys(read))
	}
	return err
}

// summarise says what was done and how wrong it may be.
func (u *uniq) summarise() {
	info, keys := u.set.Info(), u.keys.Load()
	if info.Overfull && !u.quiet {
		u.say("%s: made for %s, so more new lines than asked for are dropped, about %s: remove it, and uniq makes one that grows",
			u.state, quantity.Keys(info.Capacity), quantity.Rate(info.FPR))
	}
	if u.quiet || !u.stats && !u.shown {
		return
	}
	repeated := keys - u.fresh
	u.say("%s lines, %s new, %s repeated%s", quantity.Count(keys), quantity.Count(u.fresh), quantity.Count(repeated), u.doubt(info, repeated))
}

// doubt says how many of the repeated lines may have been new: none if the set
// knows so well what it holds that it counts its keys.
func (u *uniq) doubt(info everbloom.Info, repeated uint64) string {
	if repeated == 0 || info.Exact && !u.counts {
		return ""
	}
	dropped := float64(u.fresh) * info.FPR / (1 - min(info.FPR, 0.999))
	return fmt.Sprintf("; of these about %s may have been new (rate %s)", quantity.Count(min(uint64(dropped+0.5), repeated)), quantity.Rate(info.FPR))
}
