package main

import (
	"errors"
	"fmt"
	"io"
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
list, searches what all other sources send for forbidden patterns, and bans a
source that completes three. Tracked and banned sources are kept in filters that
can delete, within a limit of memory if one is given.

A filter may take a source for banned that is not: a false positive. With the
kinds that store their keys (evergreen, the default, and elastic) every hit is
confirmed exactly, so that none locks a source out.`,
		Example: `  everbloom gate demo
  everbloom gate live eth0 --patterns bad.txt --ban-for 1h
  everbloom gate run --patterns bad.txt --blacklist ips.txt capture.pcap
  everbloom gate follow --parser sshd --ban-for 10m /var/log/auth.log
  everbloom gate check --users 200k --seeds 20`,
		Args: noVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newGateRun(e), newGateLive(e), newGateFollow(e))
	cmd.AddCommand(newGateControl(e)...)
	cmd.AddCommand(newGateGenerate(e), newGateCheck(e), newGateDemo(e))
	return cmd
}

// gateFlags is what the flags say about a gate.
type gateFlags struct {
	gate.Config
	patterns               string
	blacklists, whitelists []string
	black, white           packets.List
	workers                int // engines; 0 means one
	left                   int // rules without a pattern
}

// makeFlags adds the flags for how the gate is made.
func (g *gateFlags) makeFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&g.Kind, "kind", "", "`KIND` of filter for tracked and banned sources: "+strings.Join(gate.Kinds(), ", ")+" (default evergreen)")
	f.Var(countFlag(&g.Banned), "banned", "number of banned sources expected, those of the black list included (default: a quarter of the users)")
	f.Float64Var(&g.BitsPerUser, "bits", 0, "memory of each set per source expected in it, in `BITS` (default: depends on the kind)")
	f.Var(rateFlag(&g.FPR), "fpr", "false-positive rate of each set with as many sources as expected, such as 0.1% (default: what --bits or --memory allow)")
	f.Var(bytesFlag(&g.Memory), "memory", "limit for sets and states in bytes, such as 16MiB (default: none, states grow with the users)")
	f.IntVar(&g.Strikes, "strikes", 3, "completed patterns that ban, `N`")
	f.DurationVar(&g.Window, "window", 0, "how long a strike counts, such as 10m (default: for ever)")
	f.BoolVar(&g.DropFlagged, "drop", false, "hold back the packets that complete a pattern")
	f.Var(confirmFlag(&g.Confirm), "confirm", "look every hit of a banned source up exactly, so that no false positive locks a source out "+
		"(default: on with evergreen and elastic, where it takes no memory; other kinds keep 11 bytes per banned source)")
	f.Lookup("confirm").NoOptDefVal = "true"
	f.IntVar(&g.IPv6Prefix, "ipv6-prefix", 64, "leading bits of an IPv6 address that make a user, `N`")
	f.Var(gateHashFlag(&g.Hash), "hash", "siphash, with a new secret, or without one xxh3 and murmur3 (both also with :SEED) (default siphash)")
	complete(cmd, "kind", gate.Kinds()...)
	complete(cmd, "hash", "xxh3", "siphash", "murmur3")
}

// fileFlags adds the flags for lists in files.
func (g *gateFlags) fileFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&g.patterns, "patterns", "", "`FILE` of patterns, one per line: name: \"text|0d 0a|\" nocase, content:\"…\" or rules of Suricata, or words of 8 hexadecimal digits")
	f.StringArrayVar(&g.blacklists, "blacklist", nil, "`FILE` of addresses, networks and ranges to reject, one per line, or of ipset save, possibly compressed; may be repeated")
	f.StringArrayVar(&g.whitelists, "whitelist", nil, "`FILE` of addresses and networks that always pass; may be repeated")
}

// read reads the files that the flags name.
func (g *gateFlags) read() error {
	if g.patterns != "" {
		if err := fromList(g.patterns, func(r io.Reader) error {
			list, left, err := pattern.ReadRules(r)
			if err == nil {
				g.Patterns, err = pattern.Compile(list)
			}
			g.left = left
			return err
		}); err != nil {
			return err
		}
	}
	if err := readList(&g.black, g.blacklists); err != nil {
		return err
	}
	return readList(&g.white, g.whitelists)
}

func readList(to *packets.List, paths []string) error {
	for _, path := range paths {
		if err := fromList(path, to.Read); err != nil {
			return err
		}
	}
	return nil
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
	"Users": "--users", "Banned": "--banned", "BitsPerUser": "--bits", "FPR": "--fpr", "Memory": "--memory", "Strikes": "--strikes",
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
