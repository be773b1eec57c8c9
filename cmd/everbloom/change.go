package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/progress"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/quantity"
	"github.com/everbloom-go/everbloom/filter"
)

// change is what the verbs that change a filter have in common: they load it,
// read all of the input, and write the filter only if nothing went wrong.
type change struct {
	*env
	out      string
	separate bool // out is not FILE
	quiet    bool

	set    *everbloom.Set
	loaded fs.FileInfo   // FILE as it was when it was loaded
	keys   atomic.Uint64 // read so far

	added, deleted, absent, pinned int
}

// changeRules is the part of the help that these verbs share.
const changeRules = `FILE is replaced as a whole or not at all. Two changes of one FILE must not
run at the same time: the one that ends last finds FILE changed and gives up.`

// flags adds those that all changes have.
func (c *change) flags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&c.out, "output", "o", "", "write to `OUT` instead of replacing FILE")
	cmd.Flags().BoolVar(&c.quiet, "quiet", false, "say nothing unless something is wrong")
}

// verb returns a verb that calls apply with the input. If it deletes, filters
// that cannot are refused before any input is read.
func (c *change) verb(deletes bool, apply func(context.Context, *lines.Input) error) func(*cobra.Command, []string) error {
	return verb(func(ctx context.Context, args []string) (err error) {
		file := args[0]
		c.loaded, _ = os.Stat(file) // open will say what is wrong
		if c.set, err = c.openFilter(file); err != nil {
			return err
		}
		if c.separate = c.out != ""; !c.separate {
			c.out = file
		}
		if deletes {
			if err := c.checkDelete(file); err != nil {
				return err
			}
		}
		in, err := c.input(args[1:], c.quiet)
		if err != nil {
			return err
		}
		if in.Names(file) {
			return within(file, "is both the filter and an input: name a list of keys")
		}
		if err := c.checkOutput(c.out, in, false); err != nil {
			return err
		}
		return c.do(ctx, in, apply)
	})
}

// do applies the changes in memory and saves the outcome. Absent and pinned keys
// are no reason not to save: all others were dealt with.
func (c *change) do(ctx context.Context, in *lines.Input, apply func(context.Context, *lines.Input) error) error {
	bar := c.progress(c.quiet, func() progress.State {
		return progress.State{Label: "change", Bytes: true, Done: in.Done(), Total: in.Size(), Keys: c.keys.Load(), Notes: rateSoFar(c.set)}
	})
	err := apply(ctx, in)
	bar.Stop()
	if err != nil {
		return err
	}
	if err := c.checkUnchanged(); err != nil {
		return err
	}
	if err := c.saveFilter(ctx, c.set, c.out); err != nil {
		return err
	}
	if !c.quiet {
		c.summarise()
	}
	if c.absent+c.pinned > 0 {
		return errNone
	}
	return nil
}

// checkUnchanged refuses to undo what somebody else did to FILE meanwhile. Every
// change is a new file under the old name.
func (c *change) checkUnchanged() error {
	now, err := os.Stat(c.out)
	if err != nil || c.loaded == nil || c.separate {
		return nil
	}
	if !os.SameFile(now, c.loaded) {
		return within(c.out, "was changed by somebody else meanwhile; nothing was changed: run this again")
	}
	return nil
}

// checkDelete asks the table, not the set, whose filters may be split over shards.
func (c *change) checkDelete(file string) error {
	k, err := c.kindOf(c.set)
	if err != nil {
		return err
	}
	if !k.Abilities().Delete {
		return within(file, "kind %s cannot delete: rebuild without these keys, or build with --delete", k.Name)
	}
	return nil
}

// add adds a run of keys. After an error the set is of no use, and is not saved.
func (c *change) add(keys []filter.Key) error {
	c.keys.Add(uint64(len(keys)))
	n, err := c.set.AddBatch(keys, nil)
	c.added += n
	if errors.Is(err, filter.ErrFull) {
		return within(c.out, "full after reading %s; nothing was changed: build a larger one", quantity.Keys(c.keys.Load()))
	}
	return err
}

// remove deletes a run of keys, and counts those that could not be.
func (c *change) remove(keys []filter.Key) error {
	c.keys.Add(uint64(len(keys)))
	deleted, absent, pinned, err := c.set.DeleteBatch(keys, nil)
	c.deleted, c.absent, c.pinned = c.deleted+deleted, c.absent+absent, c.pinned+pinned
	return err
}

// summarise says in one line what was done.
func (c *change) summarise() {
	info := c.set.Info()
	parts := []string{quantity.Keys(c.keys.Load()) + " read"}
	for _, p := range []struct {
		n    int
		what string
	}{{c.added, "new"}, {c.deleted, "deleted"}, {c.absent, "absent"}, {c.pinned, "pinned"}} {
		if p.n > 0 {
			parts = append(parts, quantity.Count(uint64(p.n))+" "+p.what)
		}
	}
	about := "about "
	if info.Exact {
		about = ""
	}
	c.say("%s: %s; now %s%s, rate %s", c.out, strings.Join(parts, ", "), about, quantity.Keys(info.Keys), quantity.Rate(info.FPR))
	if c.absent > c.deleted && c.deleted > 0 && info.Duplicates != filter.DuplicatesIgnored {
		c.say("%s: most keys were absent: if this was the wrong list, those deleted may have been others: restore the file", c.out)
	}
	if info.Overfull {
		c.say("%s: made for %s: rebuild it for more, or the rate keeps rising", c.out, quantity.Keys(info.Capacity))
	}
}
