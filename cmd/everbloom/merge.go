package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// merge is what union and intersect have in common.
type merge struct {
	*env
	out          string
	quiet, force bool
	verb         func(set, other *everbloom.Set) error
	intersects   bool
}

// mergeRules is the part of the help that both share.
const mergeRules = `The filters must be of one kind, with the same --hash and --shards; filters
with a secret hash (siphash) must have the same secret. Those of kind evergreen
may have been built with any --items and --fpr. Those of other kinds must have
been built with the same; they may have grown since. everbloom build --like FILE
makes a filter that can be merged with FILE. Kind scalable cannot be merged,
kinds dynamic and parallel cannot be intersected.

Among the filters "-" is the standard input. OUT may be one of them: then it is
locked from before it is loaded until it is replaced, so that no other change of
it is lost. ` + outputRules

func newUnion(e *env) *cobra.Command {
	return (&merge{env: e, verb: (*everbloom.Set).Union}).command(&cobra.Command{
		Use:   "union -o OUT FILE FILE...",
		Short: "Merge filters: what is in any of them",
		Long:  `Union writes a filter that holds every key of every FILE.`,
		Example: `  everbloom union -o week.bloom mon.bloom tue.bloom wed.bloom
  everbloom union -o all.bloom all.bloom today.bloom`,
	})
}

func newIntersect(e *env) *cobra.Command {
	return (&merge{env: e, verb: (*everbloom.Set).Intersect, intersects: true}).command(&cobra.Command{
		Use:   "intersect -o OUT FILE FILE...",
		Short: "Merge filters: what is in all of them",
		Long: `Intersect writes a filter that holds every key that all FILEs have in common.
Its rate of false positives is at most that of each of them.`,
		Example: `  everbloom intersect -o both.bloom monday.bloom tuesday.bloom
  everbloom intersect -o - mon.bloom tue.bloom | everbloom query - users.txt`,
	})
}

// command adds what both have.
func (m *merge) command(cmd *cobra.Command) *cobra.Command {
	cmd.GroupID = groupMerge
	cmd.Long += "\n\n" + mergeRules
	cmd.Args = withOutput(&m.out, atLeast(2, "two filter files or more"))
	cmd.RunE = verb(m.run)
	cmd.Flags().StringVarP(&m.out, "output", "o", "", "`FILE` to write (required); - is the standard output")
	cmd.Flags().BoolVar(&m.force, "force", false, "write a filter even to a terminal")
	quietFlag(cmd, &m.quiet)
	return cmd
}

// run merges the files into the first, or into the output if that is one of them.
func (m *merge) run(ctx context.Context, args []string) error {
	if err := m.checkOutput(m.out, nil, m.force); err != nil {
		return err
	}
	first := slices.IndexFunc(args, func(name string) bool { return sameFile(name, m.out) })
	inPlace := first >= 0
	names := slices.Clone(args)
	if inPlace {
		names[0], names[first] = names[first], names[0]
	}
	set, err := m.mergeFiles(ctx, names, inPlace)
	if err != nil {
		return err
	}
	if !m.quiet {
		m.say("%s: %d filters merged, %s, rate %s", m.out, len(args), m.count(set.Info()), quantity.Rate(set.Info().FPR))
	}
	return nil
}

// mergeFiles returns the set that it has written.
func (m *merge) mergeFiles(ctx context.Context, names []string, inPlace bool) (set *everbloom.Set, err error) {
	if inPlace {
		return set, m.updateFilter(ctx, names[0], func(s *everbloom.Set) error {
			set = s
			return m.mergeInto(ctx, set, names)
		})
	}
	if set, err = m.openFilter(names[0]); err != nil {
		return nil, err
	}
	if err := m.mergeInto(ctx, set, names); err != nil {
		return nil, err
	}
	return set, m.saveFilter(ctx, set, m.out)
}

// mergeInto merges the files after the first into set, which is the first, one
// after the other, so that two filters are in memory.
func (m *merge) mergeInto(ctx context.Context, set *everbloom.Set, names []string) error {
	for _, name := range names[1:] {
		if err := ctx.Err(); err != nil {
			return err
		}
		other, err := m.openFilter(name)
		if err != nil {
			return err
		}
		if err := m.verb(set, other); err != nil {
			return m.unmergeable(names[0], name, set, err)
		}
	}
	return ctx.Err()
}

// count tells the number of keys, and how good that number is. An intersection
// may hold keys of one filter that the other had taken for its own.
func (m *merge) count(info everbloom.Info) string {
	switch {
	case info.Exact:
		return quantity.Keys(info.Keys)
	case m.intersects && !info.Saturated():
		return "at most " + quantity.About(info.Keys)
	}
	return quantity.About(info.Keys)
}

// unmergeable says which files differ, and in what.
func (m *merge) unmergeable(a, b string, set *everbloom.Set, err error) error {
	mismatch := new(filter.MismatchError)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return within(a, "kind %s cannot do that: these can: %s", set.Info().Kind, strings.Join(m.able(), ", "))
	case errors.Is(err, filter.ErrFull):
		return fmt.Errorf("%s and %s: together they do not fit; nothing was written: build both with larger --items", a, b)
	case !errors.As(err, &mismatch):
		return fmt.Errorf("%s and %s: %w", a, b, err)
	}
	text := mismatch.Field + " differs"
	if mismatch.One != "" {
		text = fmt.Sprintf("%s is %s in %s and %s in %s", mismatch.Field, mismatch.One, a, mismatch.Other, b)
	}
	return fmt.Errorf("%s and %s: %s: build one of them again, with --like and the name of the other", a, b, text)
}

// able lists the kinds that can be merged this way.
func (m *merge) able() (names []string) {
	for _, k := range kinds.All() {
		if k.Abilities().Merge && (!m.intersects || !k.UnionOnly) {
			names = append(names, k.Name)
		}
	}
	return names
}
