package console

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/everbloom-go/everbloom/internal/gate/control"
	"github.com/everbloom-go/everbloom/internal/gate/event"
	"github.com/everbloom-go/everbloom/internal/gate/keeper"
)

// A gateWatch is what is known about a gate: what it told at its socket.
type gateWatch struct {
	client *control.Client
	path   string

	mu       sync.Mutex
	problem  string // why nothing is known; empty if the gate answers
	status   gateStatus
	known    bool // status is of a gate that still runs
	clock    secondCount
	track    track
	seconds  gateSecond
	events   []event.Event // the newest first
	sources  map[netip.Addr]gateSource
	watched  time.Time
	bans     []keeper.Ban // the newest first
	bansAt   time.Time
	bansSeen uint64 // events when they were read
	bansTook time.Duration
}

// gateStatus is the part of the status of a gate that is shown.
type gateStatus struct {
	Version, Source, Enforcer string
	Started                   time.Time
	Bans                      uint64
	Events, Missed, Failures  uint64
	Gate                      struct {
		Packets, Passed, Dropped, Rejected, Strikes uint64
		Networks, Whitelist, Bytes                  uint64
		Tracked                                     struct{ Keys uint64 }
		Lost                                        struct{ Chains, Strikes, Users, Bans uint64 }
	}
}

// gateSecond counts what happened since the last second.
type gateSecond struct{ strikes, bans float64 }

// A gateSource is a source that the gate has told about.
type gateSource struct {
	Strikes, Bans uint64
	Last          time.Time
}

const (
	gateEvents  = 100              // that are kept
	gateSources = 10_000           // that are kept
	gateShown   = 50               // bans and events on the page
	gateTop     = 10               // sources on the page
	gateTimeout = 5 * time.Second  // for an answer
	gateRetry   = 2 * time.Second  // until a gate that was lost is looked for
	bansEvery   = 10 * time.Second // until bans are read again, if nothing happens
	bansShare   = 20               // times as long as reading them takes they are not read again
)

func newGateWatch(path string) *gateWatch {
	if path == "" {
		return nil
	}
	return &gateWatch{client: control.NewClient(path), path: path, problem: "The gate was not asked yet.", sources: make(map[netip.Addr]gateSource)}
}

// run follows the gate until ctx ends, and looks for it while it is not there.
func (g *gateWatch) run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			g.follow(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(gateRetry):
			}
		}
	})
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for ctx.Err() == nil {
		g.step(ctx, time.Now())
		select {
		case <-ctx.Done():
		case <-ticks.C:
		}
	}
	wg.Wait()
}

// follow reads events until the gate ends.
func (g *gateWatch) follow(ctx context.Context) {
	r, w := io.Pipe()
	go func() { _ = w.CloseWithError(g.client.Events(ctx, w)) }() // step says why it ended
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var e event.Event
		if json.Unmarshal(lines.Bytes(), &e) == nil { // others are of a newer gate
			g.take(e)
		}
	}
	_ = r.Close() // the writer ends with it
}

// take keeps an event.
func (g *gateWatch) take(e event.Event) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e.Time == nil {
		now := time.Now().UTC()
		e.Time = &now
	}
	g.events = slices.Insert(g.events, 0, e)
	g.events = g.events[:min(len(g.events), gateEvents)]
	s := g.sources[e.Src]
	switch e.Kind {
	case event.Strike:
		s.Strikes++
		g.seconds.strikes++
	case event.Ban:
		s.Bans++
		if e.Strikes > 0 {
			s.Strikes++
			g.seconds.strikes++
		}
		g.seconds.bans++
	default:
		return
	}
	s.Last = *e.Time
	g.sources[e.Src] = s
	if len(g.sources) > gateSources {
		g.forget()
	}
}

// forget drops the half of the sources that did least.
func (g *gateWatch) forget() {
	all := g.top()
	for _, one := range all[len(all)/2:] {
		delete(g.sources, one.Addr)
	}
}

// A talker is a source with its address.
type talker struct {
	Addr netip.Addr
	gateSource
}

// top returns the sources, those that did most first.
func (g *gateWatch) top() []talker {
	all := make([]talker, 0, len(g.sources))
	for a, s := range g.sources {
		all = append(all, talker{a, s})
	}
	slices.SortFunc(all, func(a, b talker) int {
		return cmp.Or(cmp.Compare(b.Strikes+b.Bans, a.Strikes+a.Bans), b.Last.Compare(a.Last), a.Addr.Compare(b.Addr))
	})
	return all
}

// step asks for the status, and for the bans if they are shown.
func (g *gateWatch) step(ctx context.Context, now time.Time) {
	ctx, cancel := context.WithTimeout(ctx, gateTimeout)
	defer cancel()
	var s gateStatus
	err := g.client.Do(ctx, http.MethodGet, "status", nil, &s)
	if g.takeStatus(s, err, now) {
		g.readBans(ctx, now)
	}
}

// takeStatus keeps the status of a second. It reports whether the bans are to be read.
func (g *gateWatch) takeStatus(s gateStatus, err error, now time.Time) (bans bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.problem = ""
	if err != nil {
		g.problem, g.known, g.bansAt = "The gate does not answer: "+err.Error(), false, time.Time{}
	}
	packets, rejected := 0.0, 0.0
	if before := g.status.Gate; g.known && s.Gate.Packets >= before.Packets && s.Gate.Rejected >= before.Rejected {
		packets, rejected = float64(s.Gate.Packets-before.Packets), float64(s.Gate.Rejected-before.Rejected)
	}
	g.track.add(g.clock.tick(now), g.seconds.strikes, g.seconds.bans, packets, rejected)
	g.seconds = gateSecond{}
	if err != nil {
		return false
	}
	g.status, g.known = s, true
	return g.bansDue(now)
}

// bansDue reports whether the bans are to be read: if a page shows them, and they may have
// changed. The caller holds mu.
func (g *gateWatch) bansDue(now time.Time) bool {
	since := now.Sub(g.bansAt)
	switch {
	case g.bansAt.IsZero():
		return true
	case now.Sub(g.watched) >= watchedFor || since < bansShare*g.bansTook:
		return false
	}
	return g.status.Events != g.bansSeen || since > bansEvery
}

// readBans reads the newest bans. A gate of an earlier release sends all of them.
func (g *gateWatch) readBans(ctx context.Context, now time.Time) {
	var bans []keeper.Ban
	began := time.Now()
	err := g.client.Do(ctx, http.MethodGet, "bans", url.Values{"newest": {strconv.Itoa(gateShown)}}, &bans)
	slices.SortStableFunc(bans, func(a, b keeper.Ban) int { return b.Since.Compare(a.Since) })
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		g.problem = "The gate does not tell its bans: " + err.Error()
		return
	}
	g.bans, g.bansAt, g.bansSeen = slices.Clone(bans[:min(len(bans), gateShown)]), now, g.status.Events
	g.bansTook = time.Since(began)
	if n := uint64(len(bans)); n < gateShown || n > g.status.Bans { // the status is of before
		g.status.Bans = n
	}
}

// refresh reads the bans now, for a page that has changed something.
func (g *gateWatch) refresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, gateTimeout)
	defer cancel()
	g.readBans(ctx, time.Now())
}
