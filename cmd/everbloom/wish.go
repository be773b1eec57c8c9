package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// wish is what the flags ask for.
type wish struct{ everbloom.Needs }

// sizeFlags adds the flags for the number of keys and the rate.
func (w *wish) sizeFlags(cmd *cobra.Command, items string) {
	cmd.Flags().Var((*countFlag)(&w.Items), "items", "number of keys, such as 1000000, 1e6, 10M or 250k "+items)
	cmd.Flags().Var((*rateFlag)(&w.FPR), "fpr", "rate of false positives, such as 0.01 or 1% (default 0.001)")
}

// needFlags adds the flags for what the set has to do.
func (w *wish) needFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&w.Delete, "delete", false, "keys will be deleted, safely")
	f.BoolVar(&w.Grow, "grow", false, "the number of keys is unknown")
	f.BoolVar(&w.Merge, "merge", false, "the set will be united or intersected with others")
	f.BoolVar(&w.Untrusted, "untrusted", false, "keys may be chosen by others: hash them with a secret")
	f.Var((*spareFlag)(&w.Spare), "spare", "what to save first: time, fast (memory that queries read) or total (memory)")
	complete(cmd, "spare", "time", "fast", "total")
}

// makeFlags adds the flags for how the set is made. Before the verb runs, the hash of
// untrusted keys is chosen: all keys must meet the same one.
func (w *wish) makeFlags(cmd *cobra.Command, e *env) {
	f := cmd.Flags()
	f.StringVar(&w.Kind, "kind", "", "`KIND` of filter (default: the one that everbloom plan puts first)")
	f.Var((*hashFlag)(&w.Hash), "hash", "xxh3, murmur3 (both also with :SEED) or siphash (a secret, as with --untrusted)")
	f.IntVar(&w.Shards, "shards", 0, "split the keys over `N` filters, for programs that write in parallel (default 1)")
	f.StringVar(&w.SlowFile, "slow-file", "", "keep memory that queries never read in the scratch `PATH` meanwhile (kinds evergreen and elastic)")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if w.Untrusted && !w.Hash.Secret() {
			if f.Changed("hash") {
				return fmt.Errorf("--hash: %s has no secret, --untrusted needs one: leave out one of them", w.Hash.Name())
			}
			w.Hash = filter.NewSipHash()
		}
		return nil
	}
	var names []string
	for _, k := range e.kinds {
		names = append(names, cobra.CompletionWithDesc(k.Name, k.Title))
	}
	complete(cmd, "kind", names...)
	complete(cmd, "hash", "xxh3", "siphash", "murmur3")
}

// complete tells the shell what a flag may be.
func complete(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // no such flag: an error in the program that every test would meet
	}
}

// The flags below are the values of package pflag for what Needs has. Their String
// is the default that the help shows: empty where zero stands for one that the
// flag's text explains.

// countFlag is a number of keys.
type countFlag uint64

func (f *countFlag) Set(text string) error {
	n, err := quantity.ParseCount(text)
	*f = countFlag(n)
	return err
}

func (f *countFlag) String() string {
	if *f == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(*f), 10)
}

func (f *countFlag) Type() string { return "N" }

// rateFlag is a rate of false positives.
type rateFlag float64

func (f *rateFlag) Set(text string) error {
	x, err := quantity.ParseRate(text)
	*f = rateFlag(x)
	return err
}

func (f *rateFlag) String() string {
	if *f == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*f), 'g', -1, 64)
}

func (f *rateFlag) Type() string { return "P" }

// spareFlag is what to save first.
type spareFlag everbloom.Resource

func (f *spareFlag) Set(text string) error {
	r, err := everbloom.ParseResource(text)
	*f = spareFlag(r)
	return err
}

func (f *spareFlag) String() string { return everbloom.Resource(*f).String() }
func (f *spareFlag) Type() string   { return "RESOURCE" }

// hashFlag is a hash. Neither its String nor an error shows a secret.
type hashFlag filter.Hash

func (f *hashFlag) Set(text string) error {
	h, err := filter.ParseHash(text)
	*f = hashFlag(h)
	return err
}

func (f *hashFlag) String() string { return filter.Hash(*f).Name() }
func (f *hashFlag) Type() string   { return "HASH" }
