package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/quantity"
	"github.com/everbloom-go/everbloom/filter"
)

// merge is what union and intersect have in common.
type merge struct {
	*env
	out   string
	quiet bool
	verb  func(set, other *everbloom.Set) error
	about string // how good the number of keys of the result is
}

// mergeRules is the part of the help that both share.
const mergeRules = `The filters must be of one kind, shape and hash: build them with the same
--items, --fpr, --kind, --hash and --shards. OUT may be one of them; it is
replaced as a whole or not at all.`

// flags adds those that both have.
func (m *merge) flags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&m.out, "output", "o", "", "`FILE` to write (required)")
	cmd.Flags().BoolVar(&m.quiet, "quiet", false, "say nothing unless something is wrong")
}

// run merges the files one after the other, so that two filters are in memory.
func (m *merge) run(ctx context.Context, args []string) error {
	if err := m.checkOutput(m.out, nil, false); err != nil {
		return err
	}
	set, err := m.openFilter(args[0])
	if err != nil {
		return err
	}
	for _, path := range args[1:] {
		if err := ctx.Err(); err != nil {
			return err
		}
		other, err := m.openFilter(path)
		if err != nil {
			return err
		}
		if err := m.verb(set, other); err != nil {
			return unmergeable(args[0], path, set, other, err)
		}
	}
	if err := m.saveFilter(ctx, set, m.out); err != nil {
		return err
	}
	if !m.quiet {
		info := set.Info()
		m.say("%s: %d filters merged, %s %s, rate %s", m.out, len(args), m.about, quantity.Keys(info.Keys), quantity.Rate(info.FPR))
	}
	return nil
}

// unmergeable says which files differ, and in what.
func unmergeable(a, b string, set, other *everbloom.Set, err error) error {
	text := strings.TrimSuffix(plain(err), ": "+filter.ErrIncompatible.Error())
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return within(a, "kind %s cannot do that: everbloom plan --merge tells which can", set.Info().Kind)
	case errors.Is(err, filter.ErrFull):
		return fmt.Errorf("%s and %s: together they do not fit; nothing was written: build both with larger --items", a, b)
	case !errors.Is(err, filter.ErrIncompatible):
		return fmt.Errorf("%s and %s: %w", a, b, err)
	case set.Hash() != other.Hash() && set.Hash().Name() == other.Hash().Name():
		text = "their " + set.Hash().Name() + " secrets differ"
	}
	text = strings.NewReplacer(" in one and ", " in "+a+" and ", " in the other", " in "+b).Replace(text)
	return fmt.Errorf("%s and %s: %s: build both with the same --items, --fpr, --kind, --hash and --shards", a, b, text)
}
