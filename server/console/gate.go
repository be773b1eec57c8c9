package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/everbloom-go/everbloom/internal/gate/event"
	"github.com/everbloom-go/everbloom/internal/gate/keeper"
)

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
	BansAt   time.Time // when they were read: not while no page shows them
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
	at, links := chosenSpan(r, url.Values{})
	g.mu.Lock()
	defer g.mu.Unlock()
	g.watched = time.Now()
	v := &gateView{Path: g.path, Problem: g.problem, Known: g.known, Admin: u.Admin, Status: g.status, Spans: links, Warnings: g.warnings(), BansAt: g.bansAt}
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
	c.render(w, http.StatusOK, frame{Title: "Gate", Page: "gate", View: v, User: &u, Live: live("gate", onlySpan(r))})
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
