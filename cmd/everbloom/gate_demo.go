package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/gatereport"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/live"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/quantity"
	"github.com/everbloom-go/everbloom/gate"
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
		Short: "Show a gate at work on made-up packets",
		Long: `Demo makes up packets, judges them, compares every verdict with that of an
exact gate, and shows all of it while it happens. It ends with the report.`,
		Example: `  everbloom gate demo
  everbloom gate demo --kind deletable --packets 10M --html report.html`,
		Args: cobra.NoArgs,
		RunE: verb(g.run),
	}
	g.makeFlags(cmd)
	g.outputFlags(cmd)
	g.trafficFlags.trafficFlags(cmd, "50000", "3000000")
	return cmd
}

func (g *gateDemo) run(ctx context.Context, _ []string) error {
	if err := g.checkValues(); err != nil {
		return err
	}
	if g.count == 0 {
		g.count = 3_000_000
	}
	if g.users == 0 {
		g.users = 50_000
	}
	made, err := g.generator()
	if err != nil {
		return err
	}
	if err := g.expect(&g.gateFlags, made); err != nil {
		return err
	}
	s, err := newGateSession(g.gateFlags.Config, true)
	if err != nil {
		return err
	}
	if err := g.openPage(g.env); err != nil {
		return err
	}
	defer g.abandon()
	view := g.watch(s)
	err = s.read(ctx, made)
	if view != nil {
		s.watched()
		view.Stop()
	}
	_, _ = fmt.Fprintln(g.stderr) // a space between what was seen and what is to be kept
	g.warn(s, &g.gateFlags)
	return errors.Join(stopped(err), g.tell(g.stdout, s.summary([]string{fmt.Sprintf("made-up traffic, seed %d", g.Seed)}, g.Seed)))
}

// moment is what the view shows; the loop that judges makes one now and then.
type moment struct {
	gatereport.Point
	events  []gatereport.Event
	stats   gate.Stats
	wrong   float64 // share of packets, so far
	awaited float64 // the share that was predicted, packet by packet
	elapsed time.Duration
}

// watch shows the session, unless nobody wants to see it.
func (g *gateDemo) watch(s *gateSession) *live.View {
	if g.quiet {
		return nil
	}
	var now atomic.Pointer[moment]
	s.watched = func() {
		if m := now.Load(); m == nil || time.Since(s.start)-m.elapsed > 50*time.Millisecond || s.packets.Load() == g.count {
			now.Store(s.moment())
		}
	}
	s.watched()
	c := live.Config{W: g.stderr, Frame: func() []string { return now.Load().frame(g.count) }, Line: func() string { return now.Load().line() }}
	if g.shown {
		c.Width = g.width
	}
	return live.Start(c)
}

// moment looks at everything. It is for the goroutine that judges.
func (s *gateSession) moment() *moment {
	m := &moment{stats: s.engine.Stats(), elapsed: time.Since(s.start)}
	m.Point, m.events = s.recorder.Now()
	r := s.check.Counts()
	welcome := float64(max(1, r.Welcome))
	m.wrong, m.awaited = float64(r.WronglyRejected())/welcome, r.Expected/welcome
	return m
}

func (m *moment) speed() string {
	return quantity.Short(float64(m.Packets)/max(m.elapsed.Seconds(), 1e-9)) + " packets/s"
}

// mistakes compares what was predicted with what happened, both for all packets so far.
func (m *moment) mistakes() string {
	return fmt.Sprintf("%s predicted, %s measured", quantity.Rate(m.awaited), quantity.Rate(m.wrong))
}

// line is for those who have no terminal.
func (m *moment) line() string {
	return fmt.Sprintf("%s packets, %s: %s passed, %s rejected, %s bans; strangers rejected: %s", quantity.Count(m.Packets), m.speed(),
		quantity.Count(m.Passed), quantity.Count(m.Rejected), quantity.Count(m.Bans), m.mistakes())
}

// barWidth is in characters.
const barWidth = 24

// frame is the picture on a terminal.
func (m *moment) frame(total uint64) []string {
	s := m.stats
	perSecond := func(n uint64) string {
		return quantity.Short(float64(n)/max(m.elapsed.Seconds(), 1e-9)) + "/s"
	}
	row := func(name string, share float64, text string) string {
		return fmt.Sprintf("  %-9s %s  %s", name, live.Bar(share, barWidth), text)
	}
	of := func(n uint64) float64 { return float64(n) / float64(max(1, m.Packets)) }
	lines := []string{
		"",
		row("packets", float64(m.Packets)/float64(max(1, total)), quantity.Count(m.Packets)+", "+m.speed()),
		row("passed", of(m.Passed), perSecond(m.Passed)),
		row("rejected", of(m.Rejected), perSecond(m.Rejected)),
		row("bans", of(m.Bans), quantity.Count(m.Bans)+", "+perSecond(m.Bans)),
		"",
		row("good set", filled(s.Good), describeSet(s.Good)),
		row("bad set", filled(s.Bad), describeSet(s.Bad)),
		row("states", float64(s.States)/float64(max(1, s.Room)), quantity.Count(uint64(s.States))+" users in a chain or with strikes"),
		row("memory", float64(s.Bytes)/float64(max(1, s.Limit)), quantity.Bytes(float64(s.Bytes))+" of "+quantity.Bytes(float64(s.Limit))),
		"",
		"  strangers rejected: " + m.mistakes(),
		"",
	}
	const events = 6
	for i := range events {
		text := ""
		if n := len(m.events) - events + i; n >= 0 {
			text = describeEvent(m.events[n])
		}
		lines = append(lines, text)
	}
	return lines
}

// filled is how much of a set is used: of its keys, if they have a limit.
func filled(s gate.Set) float64 {
	if s.Most > 0 {
		return float64(s.Keys) / float64(s.Most)
	}
	return s.Fill
}

func describeSet(s gate.Set) string {
	return fmt.Sprintf("%s, %s, rate %s", s.Kind, quantity.Keys(s.Keys), quantity.Rate(s.FPR))
}

func describeEvent(e gatereport.Event) string {
	if e.Ban {
		return fmt.Sprintf("  %-16v banned after %s, packet %s", e.Src, e.Pattern, quantity.Count(e.Number))
	}
	return fmt.Sprintf("  %-16v strike %d, %s", e.Src, e.Strikes, e.Pattern)
}
