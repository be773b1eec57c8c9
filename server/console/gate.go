package console

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
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
	track    track
	seconds  gateSecond
	events   []event.Event // the newest first
	sources  map[netip.Addr]gateSource
	watched  time.Time
	bans     []keeper.Ban // the newest first
	bansAt   time.Time
	bansSeen uint64 // events when they were read
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
	g.track.add(g.seconds.strikes, g.seconds.bans, packets, rejected)
	g.seconds = gateSecond{}
	if err != nil {
		return false
	}
	g.status, g.known = s, true
	return g.bansAt.IsZero() || now.Sub(g.watched) < watchedFor && (s.Events != g.bansSeen || now.Sub(g.bansAt) > bansEvery)
}

// readBans reads all bans, and keeps the newest.
func (g *gateWatch) readBans(ctx context.Context, now time.Time) {
	var bans []keeper.Ban
	err := g.client.Do(ctx, http.MethodGet, "bans", nil, &bans)
	slices.SortStableFunc(bans, func(a, b keeper.Ban) int { return b.Since.Compare(a.Since) })
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		g.problem = "The gate does not tell its bans: " + err.Error()
		return
	}
	g.bans, g.bansAt, g.bansSeen = slices.Clone(bans[:min(len(bans), gateShown)]), now, g.status.Events
}

// refresh reads the bans now, for a page that has changed something.
func (g *gateWatch) refresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, gateTimeout)
	defer cancel()
	g.readBans(ctx, time.Now())
}

// gateView is what the page of the gate shows.
type gateView struct {
	Path     string
	Problem  string
	Known    bool
	Admin    bool
	Status   gateStatus
	Warnings []string
	Spans    []spanLink
	Charts   []chart
	Events   []gateRow
	Bans     []banRow
	Top      []talker
	Tried    *gateTried
	Addr     string // that was typed
}

// gateTried is what a form asked for and what became of it.
type gateTried struct{ Problem, Answer string }

type gateRow struct{ At, What, Source, Why, Until string }

type banRow struct {
	User, Since, Until, Why string
	Times                   uint32
}

const clock = "2006-01-02 15:04:05"

// ends writes when a ban ends.
func ends(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.UTC().Format(clock)
}

// mayWatch reports whether a user may see the gate: one that sees all keys.
func mayWatch(u User) bool { return u.Prefix == "" }

func (c *Console) gatePage(r *http.Request, u User) (frame, error) {
	v, err := c.gateView(r, u)
	return frame{Title: "Gate", Page: "gate", View: v}, err
}

func (c *Console) gateView(r *http.Request, u User) (*gateView, error) {
	g := c.gate
	switch {
	case g == nil:
		return nil, problem{http.StatusNotFound, "The server was started without --gate."}
	case !mayWatch(u):
		return nil, problem{http.StatusForbidden, "The gate is shown to users that see all keys."}
	}
	at, links := chosenSpan(r)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.watched = time.Now()
	v := &gateView{Path: g.path, Problem: g.problem, Known: g.known, Admin: u.Admin, Status: g.status, Spans: links, Warnings: g.warnings()}
	ring, s := &g.track.rings[at], spans()[at]
	v.Charts = []chart{
		overTime("Strikes and bans", s, perSecond, []string{"strikes", "bans"}, ring.values(0), ring.values(1)),
		overTime("Packets", s, perSecond, []string{"judged", "rejected"}, ring.values(2), ring.values(3)),
	}
	for _, e := range g.events[:min(len(g.events), gateShown)] {
		v.Events = append(v.Events, eventRow(e))
	}
	for _, b := range g.bans {
		v.Bans = append(v.Bans, banRow{userText(b.User), b.Since.UTC().Format(clock), ends(b.Until), b.Reason, b.Times})
	}
	top := g.top()
	v.Top = top[:min(len(top), gateTop)]
	return v, nil
}

// userText writes an address, or a network.
func userText(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}

func eventRow(e event.Event) gateRow {
	row := gateRow{At: e.Time.UTC().Format(clock), What: string(e.Kind), Source: cmp.Or(e.User, e.Src.String()), Why: cmp.Or(e.Pattern, e.Reason)}
	if e.Strikes > 0 {
		row.Why += fmt.Sprintf(", strike %d", e.Strikes)
	}
	if e.Kind == event.Ban {
		row.Until = ends(e.Until)
	}
	return row
}

// warnings says what an operator should look at. The caller holds mu.
func (g *gateWatch) warnings() (out []string) {
	lost := g.status.Gate.Lost
	if n := lost.Chains + lost.Strikes + lost.Users + lost.Bans; n > 0 {
		out = append(out, fmt.Sprintf("For want of memory %d chains, %d strikes and %d bans were given up. Give the gate more memory.", lost.Chains, lost.Strikes, lost.Bans))
	}
	if g.status.Failures > 0 {
		out = append(out, fmt.Sprintf("%d bans could not be enforced or written.", g.status.Failures))
	}
	return out
}

// gateForm bans, unbans, asks, or has the lists read again.
func (c *Console) gateForm(w http.ResponseWriter, r *http.Request, u User) {
	v, err := c.gateView(r, u)
	if err != nil {
		c.failed(w, r, err)
		return
	}
	action := r.PostFormValue("do")
	if action != doAsk && !u.Admin {
		c.fail(w, r, http.StatusForbidden, "Changes need the role admin.")
		return
	}
	v.Addr = r.PostFormValue("addr")
	v.Tried = new(gateTried)
	if v.Tried.Answer, err = c.gate.do(r.Context(), action, v.Addr, r.PostFormValue("for"), r.PostFormValue("reason")); err != nil {
		v.Tried.Problem = err.Error()
	}
	c.gate.refresh(r.Context())
	if again, err := c.gateView(r, u); err == nil {
		again.Tried, again.Addr = v.Tried, v.Addr
		v = again
	}
	c.render(w, http.StatusOK, frame{Title: "Gate", Page: "gate", View: v, User: &u, Live: "/console/live/gate"})
}

var errNothingKnown = errors.New("the form asks for nothing that is known")

// do has the gate do something, and says what it did.
func (g *gateWatch) do(ctx context.Context, action, addr, lasts, reason string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gateTimeout)
	defer cancel()
	values := url.Values{"addr": {addr}}
	switch action {
	case doAsk:
		return g.ask(ctx, addr)
	case "ban":
		maps.Copy(values, url.Values{"for": {lasts}, "reason": {reason}})
		var b keeper.Ban
		if err := g.client.Do(ctx, http.MethodPost, "ban", values, &b); err != nil {
			return "", err
		}
		return fmt.Sprintf("%s is banned; the ban ends: %s", userText(b.User), ends(b.Until)), nil
	case "unban":
		return addr + " is not banned any more", g.client.Do(ctx, http.MethodPost, "unban", values, nil)
	case "reload":
		return "The lists were read again", g.client.Do(ctx, http.MethodPost, "reload", nil, nil)
	}
	return "", errNothingKnown
}

// ask says what the gate knows about an address.
func (g *gateWatch) ask(ctx context.Context, addr string) (string, error) {
	var a struct {
		Standing string
		Ban      *keeper.Ban
	}
	if err := g.client.Do(ctx, http.MethodGet, "query", url.Values{"addr": {addr}}, &a); err != nil {
		return "", err
	}
	text := addr + " " + map[string]string{"good": "is tracked", "bad": "is banned or on the black list", "none": "is not known"}[a.Standing]
	if a.Ban != nil {
		text += fmt.Sprintf(" since %s for %s; the ban ends: %s", a.Ban.Since.UTC().Format(clock), a.Ban.Reason, ends(a.Ban.Until))
	}
	return text, nil
}
