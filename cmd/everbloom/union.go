package main

import (
	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom"
)

func newUnion(e *env) *cobra.Command {
	m := &merge{env: e, verb: (*everbloom.Set).Union}
	cmd := &cobra.Command{
		Use:     "union -o OUT FILE FILE...",
		GroupID: groupMerge,
		Short:   "Merge filters: what is in any of them",
		Long: `Union writes a filter that holds every key of every FILE.

` + mergeRules,
		Example: `  everbloom union -o week.bloom mon.bloom tue.bloom wed.bloom
  everbloom union -o all.bloom all.bloom today.bloom`,
		Args: withOutput(&m.out, atLeast(2, "two filter files or more")),
		RunE: verb(m.run),
	}
	m.flags(cmd)
	return cmd
}
