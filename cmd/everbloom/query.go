package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/progress"
	"github.com/everbloom-go/everbloom/filter"
)

// query prints the lines whose keys may be in a set, as grep does for patterns.
type query struct {
	*env
	invert, count, quiet bool

	set      *everbloom.Set
	selected uint64        // lines
	keys     atomic.Uint64 // asked so far
}

func newQuery(e *env) *cobra.Command {
	q := &query{env: e}
	cmd := &cobra.Command{
		Use:     "query FILE [INPUT...]",
		GroupID: groupUse,
		Short:   "Print the lines that may be in the set",
		Long: `Query prints the lines whose keys may be in the set, in their order. Lines
that are in the set are always printed; others now and then, at the filter's
rate. With -v it prints the lines that certainly are not in the set.

` + lineRules + `
They are in no set, so that -v prints them.

The exit status is 0 if a line was selected, 1 if none was, 2 in case of
trouble.`,
		Example: `  everbloom query seen.bloom urls.txt
  everbloom query -v seen.bloom urls.txt | sort -u > new-urls.txt
  everbloom query -c seen.bloom urls.txt
  echo alice | everbloom query -q users.bloom && echo "perhaps"`,
		Args: atLeast(1, "a filter file"),
		RunE: verb(q.run),
	}
	f := cmd.Flags()
	f.BoolVarP(&q.invert, "invert", "v", false, "select the lines that are not in the set")
	f.BoolVarP(&q.count, "count", "c", false, "print only how many lines were selected")
	f.BoolVarP(&q.quiet, "quiet", "q", false, "print nothing and stop at the first selected line")
	return cmd
}

// errEnough ends reading early.
var errEnough = errors.New("enough")

// run judges blocks in parallel and prints them in order. An error that comes
// after selected lines still is an error.
func (q *query) run(ctx context.Context, args []string) (err error) {
	if q.set, err = q.openFilter(args[0]); err != nil {
		return err
	}
	in, err := q.input(args[1:], q.quiet)
	if err != nil {
		return err
	}
	// Lines on the way to the same terminal would run into a bar.
	bar := q.progress(!q.count && !q.quiet, func() progress.State {
		return progress.State{Label: "query", Bytes: true, Done: in.Done(), Total: in.Size(), Keys: q.keys.Load()}
	})
	err = lines.Each(ctx, in, q.judge, q.print)
	bar.Stop()
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	return q.conclude()
}

// conclude prints the count, if that is wanted, and chooses the exit status.
func (q *query) conclude() error {
	if q.count && !q.quiet {
		if _, err := fmt.Fprintln(q.stdout, q.selected); err != nil {
			return err
		}
	}
	if q.selected == 0 {
		return errNone
	}
	return nil
}

// verdict is what became of a block.
type verdict struct {
	keys     []filter.Key
	has      []bool
	selected uint64
	text     []byte // the selected lines
}

// judge selects the lines of a block.
func (q *query) judge(b *lines.Block, v *verdict) error {
	v.keys = appendKeys(v.keys[:0], b.Text, q.set.Hash())
	if cap(v.has) < len(v.keys) {
		v.has = make([]bool, cap(v.keys))
	}
	q.set.MayContainBatch(v.keys, v.has)
	v.selected, v.text = 0, v.text[:0]
	has := v.has
	var line []byte
	for text := b.Text; len(text) > 0; {
		line, text = lines.Cut(text)
		yes := false
		if len(lines.Key(line)) > 0 {
			yes, has = has[0], has[1:]
		}
		if yes == q.invert {
			continue
		}
		v.selected++
		if !q.count && !q.quiet {
			v.text = append(v.text, line...)
		}
	}
	return nil
}

// print writes the selected lines of a block. A last line without newline gets
// one, or it would run into what comes next.
func (q *query) print(_ *lines.Block, v *verdict) error {
	q.keys.Add(uint64(len(v.keys)))
	q.selected += v.selected
	switch {
	case q.quiet && q.selected > 0:
		return errEnough
	case q.quiet, q.count, v.selected == 0:
		return nil
	}
	if v.text[len(v.text)-1] != '\n' {
		v.text = append(v.text, '\n')
	}
	_, err := q.stdout.Write(v.text)
	return err
}
