package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"
	"github.com/everbloom-go/everbloom/filter"
)

// deleteStatus is the part of the help about exit statuses.
const deleteStatus = `The exit status is 0 if everything was done, 1 if some keys were absent or
pinned (a pinned key cannot be told apart from others), 2 in case of trouble.`

func newDelete(e *env) *cobra.Command {
	c := &change{env: e}
	cmd := &cobra.Command{
		Use:     "delete FILE [INPUT...]",
		GroupID: groupChange,
		Short:   "Delete keys",
		Long: `Delete takes keys out of the filter in FILE, which must be of a kind that can
do that: see everbloom plan --delete. Kinds evergreen and elastic refuse to
delete an absent key. Other kinds may take it for a present one, and that one is
then absent: give them only keys that were added.

` + lineRules + `

` + keyRules + `

` + deleteStatus + `

` + changeRules,
		Example: `  everbloom delete users.bloom left.txt
  echo alice | everbloom delete users.bloom`,
		Args: atLeast(1, "a filter file"),
		RunE: c.verb(true, c.deleteLines),
	}
	c.flags(cmd)
	keyFlags(cmd, &c.rules)
	return cmd
}

// deleteLines deletes the key of every line. A key that stands twice is absent the
// second time, unless the filter counts.
func (c *change) deleteLines(ctx context.Context, in *lines.Input) error {
	return lines.Each(ctx, in, hashLines(c.set.Hash()), func(_ *lines.Block, keys *[]filter.Key) error {
		return c.remove(*keys)
	})
}
