package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
	"github.com/everbloom-go/everbloom/internal/gate/traffic"
)

// trafficFlags is what the flags say about generated packets.
type trafficFlags struct {
	traffic.Config
	users, count, blacklisted uint64
	addresses                 string
}

func (t *trafficFlags) trafficFlags(cmd *cobra.Command, userCount, packetCount string) {
	f := cmd.Flags()
	f.Uint64Var(&t.Seed, "seed", 1, "number that the traffic follows from, `N`")
	f.Var(countFlag(&t.users), "users", "number of sources that are not on the black list (default "+userCount+")")
	f.Var(countFlag(&t.count), "packets", "number of packets (default "+packetCount+")")
	f.Float64Var(&t.Evil, "evil", 0.1, "`SHARE` of users that send patterns")
	f.Var(countFlag(&t.blacklisted), "blacklisted", "number of sources on the black list (default: a quarter of the users)")
	f.IntVar(&t.Patterns, "pattern-count", 64, "number of patterns, `N`")
	f.Float64Var(&t.Skew, "skew", 0, "exponent of Zipf's law, above 1, by which some users send more than others (default: all alike)")
	f.StringVar(&t.addresses, "addresses", "", "`FILE` of addresses to use, for the users first")
}

// generator makes the traffic of a seed.
func (t *trafficFlags) generator() (*traffic.Generator, error) {
	if t.Patterns < 1 {
		return nil, fmt.Errorf("--pattern-count: %d must be at least 1", t.Patterns)
	}
	c := t.Config
	c.Users, c.Packets, c.Blacklisted = int(t.users), t.count, int(t.blacklisted)
	if c.Evil == 0 {
		c.Evil = -1 // none, where zero means the default
	}
	if t.addresses != "" && len(t.Addresses) == 0 {
		var list packets.List
		if err := readList(&list, []string{t.addresses}); err != nil {
			return nil, err
		}
		t.Addresses = addressesOf(list.All())
		c.Addresses = t.Addresses
	}
	made, err := traffic.New(c)
	return made, byFlags(err)
}

// addressesOf leaves out the networks of a list.
func addressesOf(list []netip.Prefix) (all []netip.Addr) {
	for _, p := range list {
		if p.IsSingleIP() {
			all = append(all, p.Addr())
		}
	}
	return all
}

// gateGenerate writes generated packets to a file.
type gateGenerate struct {
	*env
	trafficFlags
	out, patternsOut, blacklistOut string
	text                           bool
}

func newGateGenerate(e *env) *cobra.Command {
	g := &gateGenerate{env: e}
	cmd := &cobra.Command{
		Use:   "generate -o FILE",
		Short: "Generate packets",
		Long: `Generate writes random packets: some users send ordinary words, some send
forbidden patterns, and some sources are on the black list. The same seed gives
the same packets.`,
		Example: `  everbloom gate generate -o t.bin --patterns-out p.txt --blacklist-out ips.txt
  everbloom gate generate -o traffic.txt --text --packets 1000 --seed 7
  everbloom gate generate -o t.bin --users 200k --packets 5M --blacklisted 50k`,
		Args: withOutput(&g.out, cobra.NoArgs),
		RunE: verb(g.run),
	}
	g.trafficFlags.trafficFlags(cmd, "10000", "1000000")
	f := cmd.Flags()
	f.StringVarP(&g.out, "output", "o", "", "`FILE` for the packets; - is the standard output")
	f.StringVar(&g.patternsOut, "patterns-out", "", "`FILE` for the patterns")
	f.StringVar(&g.blacklistOut, "blacklist-out", "", "`FILE` for the black list")
	f.BoolVar(&g.text, "text", false, "lines instead of records of 8 bytes")
	return cmd
}

func (g *gateGenerate) run(ctx context.Context, _ []string) error {
	t, err := g.generator()
	if err != nil {
		return err
	}
	if err := g.writeLists(t); err != nil {
		return err
	}
	err = g.toFile(g.out, func(w io.Writer) error { return g.writePackets(ctx, w, t) })
	if errors.Is(err, context.Canceled) {
		return &partial{err, "no packets were kept"}
	}
	return err
}

func (g *gateGenerate) writeLists(t *traffic.Generator) error {
	if g.patternsOut != "" {
		if err := g.toFile(g.patternsOut, func(w io.Writer) error { return pattern.Write(w, t.Patterns()) }); err != nil {
			return err
		}
	}
	if g.blacklistOut == "" {
		return nil
	}
	return g.toFile(g.blacklistOut, func(w io.Writer) error {
		var text []byte
		for _, p := range t.Blacklist() {
			text = append(p.Addr().AppendTo(text), '\n')
		}
		_, err := w.Write(text)
		return err
	})
}

func (g *gateGenerate) writePackets(ctx context.Context, w io.Writer, t *traffic.Generator) error {
	b := bufio.NewWriterSize(w, 1<<16)
	var p packets.Packet
	var record []byte
	for t.Read(&p) == nil {
		switch {
		case g.text:
			record = packets.AppendText(record[:0], p.Src, p.Words[0])
		case p.Src.Is4():
			record = packets.AppendBinary(record[:0], p.Src, p.Words[0])
		default:
			return errors.New("a source is an IPv6 address, which records have no room for: take --text")
		}
		if _, err := b.Write(record); err != nil {
			return err
		}
		if p.Number%often == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return b.Flush()
}

// expect sizes a gate for the traffic, as far as the flags leave it open.
func (t *trafficFlags) expect(g *gateFlags, made *traffic.Generator) error {
	var err error
	if g.Patterns, err = pattern.Compile(made.Patterns()); err != nil {
		return err
	}
	g.Blacklist = made.Blacklist()
	g.Users = cmp.Or(t.users, 10_000)
	if g.Banned == 0 {
		g.Banned = max(1, uint64(len(g.Blacklist)+made.Evil()))
	}
	if g.Hash == (filter.Hash{}) { // the same false positives each time
		g.Hash = filter.XXH3(t.Seed | 1)
	}
	return nil
}
