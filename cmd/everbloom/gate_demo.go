package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/gatereport"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/growth"
	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/gate/traffic"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// gateDemo shows a gate at work.
type gateDemo struct {
	*env
	gateFlags
	gateOutput
	trafficFlags
}

func newGateDemo(e *env) *cobra.Command {
	g := &gateDemo{env: e}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show a gate at work on generated packets",
		Long: `Demo generates packets, judges them, and compares every verdict with that of
an exact gate. Where hits are confirmed, a gate that does not confirm judges the
packets as well, and shows the false positives that this removes.`,
		Example: `  everbloom gate demo
  everbloom gate demo --kind deletable --packets 10M --html report.html`,
		Args: cobra.NoArgs,
		RunE: verb(g.run),
	}
	g.makeFlags(cmd)
	g.outputFlags(cmd)
	g.trafficFlags.trafficFlags(cmd, "50000", "2000000")
	return cmd
}

func (g *gateDemo) run(ctx context.Context, _ []string) error {
	if err := g.openPage(g.env); err != nil {
		return err
	}
	defer g.abandon()
	page, err := g.show(ctx)
	if err != nil {
		return err
	}
	if g.json {
		return errors.Join(g.write(page), printJSON(g.stdout, page.Summary))
	}
	g.line("\n%s", page.Headline())
	return g.write(page)
}

// line prints a line of the story, unless something else is printed in its place.
func (g *gateDemo) line(format string, args ...any) {
	if !g.quiet && !g.json {
		_, _ = fmt.Fprintf(g.stdout, format+"\n", args...) // the story is no result that could be lost
	}
}

// show judges generated packets and tells about it.
func (g *gateDemo) show(ctx context.Context) (page gatereport.Page, err error) {
	if err := g.checkValues(); err != nil {
		return page, err
	}
	g.count, g.users = cmp.Or(g.count, 2_000_000), cmp.Or(g.users, 50_000)
	s, err := g.session()
	if err != nil {
		return page, err
	}
	g.line(`A gate rejects packets of banned sources, follows the words that all others send, and
bans a source at its %s forbidden pattern. It keeps sources in filters.`, ordinal(g.Strikes))
	gates := "a gate, and with an exact one to compare with"
	if s.twin != nil {
		gates = `three gates: one trusts its filters, one confirms each
hit of a filter by an exact lookup, and one is exact throughout, to compare with`
	}
	g.line("Judging %s packets with %s ...\n", quantity.Count(g.count), gates)
	if err := g.judgeAll(ctx, s); err != nil {
		return page, err
	}
	page.Summary = s.conclude(s.gateSession, g.Seed)
	if s.twin != nil {
		without := s.conclude(s.twin, g.Seed)
		page.Without = &without
	}
	g.warn(s.gateSession, &s.flags)
	for _, f := range page.Facts() {
		g.line("%11s  %s", f.Value, f.Text)
	}
	return page, nil
}

// ordinal returns the word for a small number, as in the third.
func ordinal(n int) string {
	words := [...]string{"first", "second", "third"}
	if n >= 1 && n <= len(words) {
		return words[n-1]
	}
	return fmt.Sprintf("%dth", n)
}

// demoSession is a gate and the packets that are generated for it.
type demoSession struct {
	*gateSession
	flags gateFlags
	made  *traffic.Generator
	users int
}

// session makes the gate, and if that confirms a twin that does not.
func (g *gateDemo) session() (*demoSession, error) {
	s := &demoSession{flags: g.gateFlags, users: int(g.users)}
	var err error
	if s.made, err = g.generator(); err != nil {
		return nil, err
	}
	if err := g.expect(&s.flags, s.made); err != nil {
		return nil, err
	}
	if s.gateSession, err = newGateSession(g.env, &s.flags, nil, true); err != nil || !s.engine.Confirms() {
		return s, err
	}
	trusting := s.flags
	trusting.Confirm = gate.ConfirmNever
	return s, s.beside(trusting)
}

// judgeAll judges the packets. If it is interrupted it tells what was judged before.
func (g *gateDemo) judgeAll(ctx context.Context, s *demoSession) error {
	view := g.watch(s.gateSession)
	err := s.read(ctx, s.made)
	view.Stop()
	if err != nil {
		return errors.Join(stopped(err), g.tell(g.stdout, s.summary(nil, g.Seed)))
	}
	return nil
}

// conclude sums up what a gate did with the packets.
func (s *demoSession) conclude(one *gateSession, seed uint64) gatereport.Summary {
	sum := one.summary([]string{fmt.Sprintf("generated traffic, seed %d", seed)}, seed)
	sum.Traffic = s.traffic(one.single, seed)
	return sum
}

// traffic tells what became of the honest users; the generator knows which these are.
func (s *demoSession) traffic(e *gate.Engine, seed uint64) *gatereport.Traffic {
	list := s.made.Blacklist()
	t := &gatereport.Traffic{Seed: seed, Evil: uint64(s.made.Evil()), Listed: uint64(len(list))}
	for i := s.made.Evil(); i < s.users; i++ {
		t.Honest++
		if e.Query(s.made.User(i)).Standing == gate.Bad {
			t.LockedOut++
		}
	}
	t.MapBytes = growth.HeapOf(func() map[netip.Addr]struct{} {
		all := map[netip.Addr]struct{}{}
		for i := range s.users {
			all[s.made.User(i)] = struct{}{}
		}
		for _, p := range list {
			all[p.Addr()] = struct{}{}
		}
		return all
	})
	return t
}
