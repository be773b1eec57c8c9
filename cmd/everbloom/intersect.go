package main

import (
	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom"
)

func newIntersect(e *env) *cobra.Command {
	m := &merge{env: e, verb: (*everbloom.Set).Intersect, intersects: true}
	cmd := &cobra.Command{
		Use:     "intersect -o OUT FILE FILE...",
		GroupID: groupMerge,
		Short:   "Merge filters: what is in all of them",
		Long: `Intersect writes a filter that holds every key that all FILEs have in common.
Its rate of false positives is at most that of each of them.

` + mergeRules,
		Example: `  everbloom intersect -o both.bloom monday.bloom tuesday.bloom
  everbloom intersect -o - mon.bloom tue.bloom | everbloom query - users.txt`,
		Args: withOutput(&m.out, atLeast(2, "two filter files or more")),
		RunE: verb(m.run),
	}
	m.flags(cmd)
	return cmd
}
