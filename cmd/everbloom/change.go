package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// change is what the verbs that change a filter have in common: they load it,
// read all of the input, and write the filter only if nothing went wrong.
type change struct {
	*env
	rules     lines.Rules
	file, out string
	quiet     bool

	set  *everbloom.Set
	keys atomic.Uint64 // read so far

	added, deleted, absent, pinned int
}

// changeRules is the part of the help that these verbs share.
const changeRules = `FILE is replaced as a whole or not at all. It is locked from before it is
loaded until it is replaced, so that changes at the same time come one after
the other and none is lost: another change of FILE waits meanwhile, also while
this one waits for its input. Queries never wait. With -o, FILE stays as it is
and is not locked.`

// flags adds those that all changes have.
func (c *change) flags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&c.out, "output", "o", "", "write to `OUT` instead of replacing FILE; - is the standard output")
	quietFlag(cmd, &c.quiet)
}

// verb returns a verb that calls apply with the input. If it deletes, filters
// that cannot are refused before any input is read. Absent and pinned keys are no
// reason not to save: all others were dealt with.
func (c *change) verb(deletes bool, apply func(context.Context, *lines.Input) error) func(*cobra.Command, []string) error {
	return verb(func(ctx context.Context, args []string) error {
		c.file = args[0]
		err := c.replace(ctx, func(set *everbloom.Set) error {
			c.set = set
			if deletes {
				if err := c.checkDelete(); err != nil {
					return err
				}
			}
			return c.read(ctx, args[1:], apply)
		})
		if err != nil {
			return err
		}
		if !c.quiet {
			c.summarise()
		}
		if c.absent+c.pinned > 0 {
			return errNone
		}
		return nil
	})
}

// replace loads FILE, calls work, and writes FILE or OUT.
func (c *change) replace(ctx context.Context, work func(*everbloom.Set) error) error {
	switch {
	case c.out != "" && !sameFile(c.out, c.file):
		set, err := c.openFilter(c.file)
		if err != nil {
			return err
		}
		if err := work(set); err != nil {
			return err
		}
		return c.saveFilter(ctx, set, c.out)
	case c.file == lines.Stdin:
		return within(c.file, "there is no file to replace: name the output with -o")
	}
	c.out = c.file
	if _, err := os.Stat(c.file); err == nil { // if it is missing, there is more to say than that it cannot be written
		if err := c.checkOutput(c.file, nil, false); err != nil {
			return err
		}
	}
	return c.updateFilter(ctx, c.file, work)
}

// read applies the named inputs to the set in memory.
func (c *change) read(ctx context.Context, names []string, apply func(context.Context, *lines.Input) error) error {
	in, err := c.input(names, c.rules, c.quiet)
	if err != nil {
		return err
	}
	if c.file != lines.Stdin && in.Names(c.file) {
		return within(c.file, "is both the filter and an input: name a list of keys")
	}
	if c.out != c.file {
		if err := c.checkOutput(c.out, in, c.rules.Force); err != nil {
			return err
		}
	}
	bar := c.reading("change", c.quiet, in, &c.keys, c.set)
	defer bar.Stop()
	return errors.Join(apply(ctx, in), ctx.Err())
}

// checkDelete asks the table, not the set, whose filters may be split over shards.
func (c *change) checkDelete() error {
	k, err := kinds.ByName(c.set.Info().Kind)
	if err != nil {
		return err
	}
	if !k.Abilities().Delete {
		return within(c.file, "kind %s cannot delete: rebuild without these keys, or build with --delete", k.Name)
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
	now := quantity.About(info.Keys)
	if info.Exact {
		now = quantity.Keys(info.Keys)
	}
	c.say("%s: %s; now %s, rate %s", c.out, strings.Join(parts, ", "), now, quantity.Rate(info.FPR))
	if c.absent > c.deleted && c.deleted > 0 && info.Duplicates != filter.DuplicatesIgnored {
		c.say("%s: most keys were absent: if this was the wrong list, those deleted may have been others: restore the file", c.out)
	}
	if info.Overfull {
		c.say("%s: %s", c.out, overfull(info))
	}
}

// overfull says why the rate is above the asked one, and what to do.
func overfull(info everbloom.Info) string {
	switch {
	case info.Capacity == 0:
		return "there was no memory for it to grow: the rate keeps rising until there is"
	case info.Keys > info.Capacity:
		return "made for " + quantity.Keys(info.Capacity) + ": rebuild it for more, or the rate keeps rising"
	}
	return "deleted keys have left bits behind, so that the rate is above the asked one: rebuild it from the keys that are left"
}
