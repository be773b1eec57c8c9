package main

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/gate/packets"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// newGate puts the verbs of the gate together.
func newGate(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "gate",
		GroupID: groupGate,
		Short:   "Judge packets: reject, follow and ban their sources",
		Long: `Gate is a packet filter and tracker. It rejects packets of sources on a black
list, follows the words that all other sources send for forbidden patterns, and
bans a source that completes three. Tracked and banned sources are kept in
filters that can delete, within a limit of memory.

A filter may take a source for banned that is not: a false positive. With the
kinds that store their keys (evergreen, the default, and elastic) every hit is
confirmed exactly, so that none locks a source out.`,
		Example: `  everbloom gate demo
  everbloom gate run --patterns bad.txt --blacklist ips.txt capture.pcap
  everbloom gate check --users 200k --seeds 20`,
		Args: noVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newGateRun(e), newGateGenerate(e), newGateCheck(e), newGateDemo(e))
	return cmd
}

// gateFlags is what the flags say about a gate.
type gateFlags struct {
	gate.Config
	patterns               string
	blacklists, whitelists []string
}

// makeFlags adds the flags for how the gate is made.
func (g *gateFlags) makeFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&g.Kind, "kind", "", "`KIND` of filter for tracked and banned sources: "+strings.Join(gate.Kinds(), ", ")+" (default evergreen)")
	f.Var(countFlag(&g.Banned), "banned", "number of bad sources expected, those of the black list included (default: a quarter of the users)")
	f.Float64Var(&g.BitsPerUser, "bits", 0, "memory of each set per source expected in it, in `BITS` (default: depends on the kind)")
	f.Var(bytesFlag(&g.Memory), "memory", "limit for sets and states in bytes, such as 16MiB (default: what --bits comes to)")
	f.IntVar(&g.Strikes, "strikes", 3, "completed patterns that ban, `N`")
	f.DurationVar(&g.Window, "window", 0, "how long a strike counts, such as 10m (default: for ever)")
	f.BoolVar(&g.DropFlagged, "drop", false, "hold back the packets that complete a pattern")
	f.Var(confirmFlag(&g.Confirm), "confirm", "look every hit of a banned source up exactly, so that no false positive locks a source out "+
		"(default: on with evergreen and elastic, where it takes no memory; other kinds keep 11 bytes per banned source)")
	f.Lookup("confirm").NoOptDefVal = "true"
	f.IntVar(&g.IPv6Prefix, "ipv6-prefix", 128, "leading bits of an IPv6 address that make a user, `N`")
	f.Var(hashFlag(&g.Hash), "hash", "xxh3, murmur3 (both also with :SEED) or siphash (sources that choose their addresses)")
	complete(cmd, "kind", gate.Kinds()...)
	complete(cmd, "hash", "xxh3", "siphash", "murmur3")
}

// fileFlags adds the flags for lists in files.
func (g *gateFlags) fileFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&g.patterns, "patterns", "", "`FILE` of patterns, one per line: name: w1 w2 …, words of 8 hexadecimal or 32 binary digits")
	f.StringArrayVar(&g.blacklists, "blacklist", nil, "`FILE` of addresses and networks to reject, one per line, possibly compressed; may be repeated")
	f.StringArrayVar(&g.whitelists, "whitelist", nil, "`FILE` of addresses and networks that always pass; may be repeated")
}

// read reads the files that the flags name.
func (g *gateFlags) read() error {
	if g.patterns != "" {
		if err := fromList(g.patterns, func(r io.Reader) error {
			list, err := pattern.Read(r)
			if err == nil {
				g.Patterns, err = pattern.Compile(list)
			}
			return err
		}); err != nil {
			return err
		}
	}
	var err error
	if g.Blacklist, err = readPrefixes(g.blacklists); err != nil {
		return err
	}
	g.Whitelist, err = readPrefixes(g.whitelists)
	return err
}

func readPrefixes(paths []string) (all []netip.Prefix, err error) {
	for _, path := range paths {
		err := fromList(path, func(r io.Reader) error {
			list, err := packets.ReadPrefixes(r)
			all = append(all, list...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// checkValues refuses what a configuration would take for its default.
func (g *gateFlags) checkValues() error {
	var errs []error
	for _, f := range []struct {
		name        string
		value, most int
	}{{"strikes", g.Strikes, 100}, {"ipv6-prefix", g.IPv6Prefix, 128}} {
		if f.value < 1 || f.value > f.most {
			errs = append(errs, fmt.Errorf("--%s: %d must be 1 to %d", f.name, f.value, f.most))
		}
	}
	return errors.Join(errs...)
}

// flagOf names the flags that fill in fields of configurations.
var flagOf = map[string]string{
	"Users": "--users", "Banned": "--banned", "BitsPerUser": "--bits", "Memory": "--memory", "Strikes": "--strikes",
	"Window": "--window", "IPv6Prefix": "--ipv6-prefix", "Blacklist": "--blacklist", "Whitelist": "--whitelist",
	"Users, Banned": "--users, --banned", "Users, Blacklisted": "--users, --blacklisted", "Evil": "--evil", "Blacklisted": "--blacklisted", "Patterns": "--pattern-count", "Skew": "--skew",
}

// byFlags names flags where a message names fields.
func byFlags(err error) error {
	if err == nil {
		return nil
	}
	var all []error
	for _, err := range fault.Each(err) {
		field := new(fault.Error)
		if errors.As(err, &field) && flagOf[field.Field] != "" {
			err = fmt.Errorf("%s: %w", flagOf[field.Field], field.Err)
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}
