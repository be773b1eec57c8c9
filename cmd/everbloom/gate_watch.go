package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/gatereport"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/terminal"
	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/gate/event"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// moment is what the view shows; the loop that judges makes one now and then.
type moment struct {
	gatereport.Point
	trusting gatereport.Point // of the twin, or the same
	events   []event.Event
	stats    gate.Stats
	elapsed  time.Duration
}

// watch shows the session on a terminal, if there is one and it is wanted.
func (g *gateDemo) watch(s *gateSession) *terminal.View {
	if g.quiet || g.json || !g.shown {
		return nil
	}
	s.start = time.Now()
	var now atomic.Pointer[moment]
	s.watched = func() {
		if m := now.Load(); m == nil || time.Since(s.start)-m.elapsed > 50*time.Millisecond {
			now.Store(s.moment())
		}
	}
	s.watched()
	view := terminal.Start(g.stderr, g.width, func() []string { return now.Load().frame(g.count) })
	view.Draw()
	return view
}

// moment looks at everything. It is for the goroutine that judges.
func (s *gateSession) moment() *moment {
	m := &moment{stats: s.engine.Stats(), elapsed: time.Since(s.start)}
	m.Point, m.events = s.recorder.Now()
	m.trusting = m.Point
	if s.twin != nil {
		m.trusting, _ = s.twin.recorder.Now()
	}
	return m
}

// barWidth is in characters.
const barWidth = 24

// frame is the picture on a terminal.
func (m *moment) frame(total uint64) []string {
	s := m.stats
	row := func(name string, share float64, format string, args ...any) string {
		return fmt.Sprintf("  %-9s %s  %s", name, terminal.Bar(share, barWidth), fmt.Sprintf(format, args...))
	}
	of := func(n uint64) float64 { return float64(n) / float64(max(1, m.Packets)) }
	measured, predicted := m.trusting.Shares()
	lines := []string{
		"",
		row("packets", float64(m.Packets)/float64(max(1, total)), "%s, %s per second", quantity.Count(m.Packets),
			quantity.Short(float64(m.Packets)/max(m.elapsed.Seconds(), 1e-9))),
		row("passed", of(m.Passed), "%s", quantity.Count(m.Passed)),
		row("rejected", of(m.Rejected), "%s", quantity.Count(m.Rejected)),
		row("tracked", filled(s.Tracked), "%s sources", quantity.Count(s.Tracked.Keys)),
		row("banned", filled(s.Banned), "%s sources, %s of them for their patterns", quantity.Count(s.Banned.Keys), quantity.Count(m.Bans)),
		row("states", float64(s.States)/float64(max(1, s.Room)), "%s of memory", quantity.Bytes(float64(s.Bytes))),
		"",
		fmt.Sprintf("  false positives where filters are trusted: %s of packets measured, %s predicted", quantity.Rate(measured), quantity.Rate(predicted)),
	}
	const events = 4
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

func describeEvent(e event.Event) string {
	if e.Kind == event.Ban {
		return fmt.Sprintf("  %-16v banned after %s, packet %s", e.Src, e.Pattern, quantity.Count(e.Number))
	}
	return fmt.Sprintf("  %-16v strike %d, %s", e.Src, e.Strikes, e.Pattern)
}
