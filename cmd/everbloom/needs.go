package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
)

// needs are what the flags ask for.
type needs struct{ everbloom.Needs }

// sizeFlags adds the flags for the number of keys and the rate.
func (n *needs) sizeFlags(cmd *cobra.Command, items string) {
	cmd.Flags().Var(countFlag(&n.Items), "items", "number of keys, such as 1000000, 1e6, 10M or 250k "+items)
	cmd.Flags().Var(rateFlag(&n.FPR), "fpr", "rate of false positives, such as 0.01 or 1% (default 0.001)")
}

// needFlags adds the flags for what the set has to do.
func (n *needs) needFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&n.Delete, "delete", false, "keys will be deleted, safely")
	f.BoolVar(&n.KnownDeletes, "known-deletes", false, "with --delete, a promise: only keys that were added are deleted, each at most as often")
	f.BoolVar(&n.Grow, "grow", false, "the number of keys is unknown")
	f.BoolVar(&n.Merge, "merge", false, "the set will be united or intersected with others")
	f.BoolVar(&n.Untrusted, "untrusted", false, "keys may be chosen by others: hash them with a secret")
	f.Var(spareFlag(&n.Spare), "spare", "what to save first: time, fast (memory that queries read) or total (memory)")
	complete(cmd, "spare", "time", "fast", "total")
}

// makeFlags adds the flags for how the set is made. Before the verb runs, the hash of
// untrusted keys is chosen: all keys must meet the same one.
func (n *needs) makeFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&n.Kind, "kind", "", "`KIND` of filter (default: the one that everbloom plan puts first)")
	f.Var(hashFlag(&n.Hash), "hash", "xxh3, murmur3 (both also with :SEED) or siphash (a secret, as with --untrusted)")
	f.IntVar(&n.Shards, "shards", 0, "split the keys over `N` filters, for programs that write in parallel (default 1)")
	f.StringVar(&n.SlowFile, "slow-file", "", "keep memory that queries never read in the scratch `PATH` meanwhile (kinds evergreen and elastic)")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if n.Untrusted && !n.Hash.Secret() {
			if f.Changed("hash") {
				return fmt.Errorf("--hash: %s has no secret, --untrusted needs one: leave out one of them", n.Hash.Name())
			}
			n.Hash = filter.NewSipHash()
		}
		return nil
	}
	var names []string
	for _, k := range kinds.All() {
		names = append(names, cobra.CompletionWithDesc(k.Name, k.Title))
	}
	complete(cmd, "kind", names...)
	complete(cmd, "hash", "xxh3", "siphash", "murmur3")
}
