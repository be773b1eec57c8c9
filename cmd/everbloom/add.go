package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"
	"github.com/everbloom-go/everbloom/filter"
)

func newAdd(e *env) *cobra.Command {
	c := &change{env: e}
	cmd := &cobra.Command{
		Use:     "add FILE [INPUT...]",
		GroupID: groupChange,
		Short:   "Add keys",
		Long: `Add puts more keys into the filter in FILE.

` + lineRules + `

` + keyRules + `

` + changeRules,
		Example: `  everbloom add seen.bloom today.txt
  echo alice | everbloom add users.bloom
  everbloom add -o with-today.bloom seen.bloom today.txt`,
		Args: atLeast(1, "a filter file"),
		RunE: c.verb(false, c.addLines),
	}
	c.flags(cmd)
	keyFlags(cmd, &c.rules)
	return cmd
}

// addLines adds the key of every line. The order does not matter to a set, but
// keeping it makes equal inputs give equal files.
func (c *change) addLines(ctx context.Context, in *lines.Input) error {
	return lines.Each(ctx, in, hashLines(c.set.Hash()), func(_ *lines.Block, keys *[]filter.Key) error {
		return c.add(*keys)
	})
}
