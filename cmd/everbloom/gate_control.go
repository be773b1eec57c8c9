package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/gate/control"
	"github.com/everbloom-go/everbloom/internal/gate/event"
	"github.com/everbloom-go/everbloom/internal/gate/keeper"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// gateControl asks and tells a running gate.
type gateControl struct {
	*env
	socket, lasts, reason, format string
	json                          bool
}

// controlVerb returns a verb that talks to a gate.
func (g *gateControl) controlVerb(use, short, long, example string, args cobra.PositionalArgs, do func(context.Context, *control.Client, []string) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example, Args: args,
		RunE: verb(func(ctx context.Context, args []string) error { return do(ctx, control.NewClient(g.socket), args) }),
	}
	cmd.Flags().StringVar(&g.socket, "socket", defaultSocket(), "`PATH` of the socket of the gate")
	return cmd
}

// newGateControl returns the verbs for a running gate.
func newGateControl(e *env) []*cobra.Command {
	g := &gateControl{env: e}
	addresses := atLeast(1, "one or more addresses")
	ban := g.controlVerb("ban ADDRESS...", "Ban sources at a running gate",
		"Ban bans sources at a running gate, of IPv6 addresses their network.", `  everbloom gate ban 192.0.2.1
  everbloom gate ban --for 24h --reason spam 192.0.2.1 2001:db8::1`, addresses, g.ban)
	ban.Flags().StringVar(&g.lasts, "for", "", "how long, such as 10m, or ever (default: as long as the gate bans)")
	ban.Flags().StringVar(&g.reason, "reason", "", "`TEXT` to keep with the ban")
	list := g.controlVerb("list", "List the bans of a running gate",
		"List prints the bans in force, in a form that others read if one is named.", `  everbloom gate list
  everbloom gate list --format nft > bans.nft`, cobra.NoArgs, g.list)
	list.Flags().StringVar(&g.format, "format", "table", "`FORMAT`: table, json, "+strings.Join(event.Formats(), ", "))
	complete(list, "format", append([]string{"table", "json"}, event.Formats()...)...)
	status := g.controlVerb("status", "Show how a running gate does",
		"Status shows what a running gate has done and how full it is.", `  everbloom gate status
  everbloom gate status --json`, cobra.NoArgs, g.status)
	status.Flags().BoolVar(&g.json, "json", false, "print a JSON object")
	return []*cobra.Command{
		status, list, ban,
		g.controlVerb("unban ADDRESS...", "End bans at a running gate",
			"Unban ends bans. For an address on the black list it makes an exception until\nthe list is read again.",
			`  everbloom gate unban 192.0.2.1
  everbloom gate unban 2001:db8::1 2001:db8:1::1`, addresses, g.unban),
		g.controlVerb("query ADDRESS...", "Ask a running gate about sources",
			"Query prints good, bad or none for each address, and the ban if there is one.\nThe exit status is 1 if one is bad.",
			`  everbloom gate query 192.0.2.1
  everbloom gate query 192.0.2.1 2001:db8::1`, addresses, g.query),
		g.controlVerb("reload", "Have a running gate read its lists again",
			"Reload has a gate read its lists again. If one cannot be read nothing changes.",
			`  everbloom gate reload
  everbloom gate reload --socket /run/my-gate.sock`, cobra.NoArgs,
			func(ctx context.Context, c *control.Client, _ []string) error {
				return c.Do(ctx, http.MethodPost, "reload", nil, nil)
			}),
		g.controlVerb("events", "Print the events of a running gate",
			"Events prints strikes, bans and their ends as they happen, a JSON object per\nline, until it is interrupted.",
			`  everbloom gate events
  everbloom gate events | jq -r 'select(.event == "ban").src'`, cobra.NoArgs,
			func(ctx context.Context, c *control.Client, _ []string) error {
				if err := c.Events(ctx, g.stdout); ctx.Err() == nil {
					return err
				}
				return nil
			}),
	}
}

func (g *gateControl) ban(ctx context.Context, c *control.Client, args []string) error {
	if _, err := control.ParseLasting(g.lasts); err != nil {
		return fmt.Errorf("--for: %w", err)
	}
	for _, a := range args {
		var b keeper.Ban
		if err := c.Do(ctx, http.MethodPost, "ban", url.Values{"addr": {a}, "for": {g.lasts}, "reason": {g.reason}}, &b); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(g.stdout, "%v banned %s\n", b.User, until(b.Until)); err != nil {
			return err
		}
	}
	return nil
}

func until(t *time.Time) string {
	if t == nil {
		return "for ever"
	}
	return "until " + t.Format(time.RFC3339)
}

func (g *gateControl) unban(ctx context.Context, c *control.Client, args []string) error {
	var errs []error
	for _, a := range args {
		errs = append(errs, c.Do(ctx, http.MethodPost, "unban", url.Values{"addr": {a}}, nil))
	}
	return errors.Join(errs...)
}

func (g *gateControl) query(ctx context.Context, c *control.Client, args []string) error {
	bad := false
	for _, a := range args {
		var answer struct {
			Src, Standing string
			Ban           *keeper.Ban
		}
		if err := c.Do(ctx, http.MethodGet, "query", url.Values{"addr": {a}}, &answer); err != nil {
			return err
		}
		text := answer.Src + " " + answer.Standing
		if answer.Ban != nil {
			text += fmt.Sprintf(": banned %s, %s", until(answer.Ban.Until), answer.Ban.Reason)
		}
		if _, err := fmt.Fprintln(g.stdout, text); err != nil {
			return err
		}
		bad = bad || answer.Standing == "bad"
	}
	if bad {
		return errNone
	}
	return nil
}

func (g *gateControl) list(ctx context.Context, c *control.Client, _ []string) error {
	var bans []keeper.Ban
	if err := c.Do(ctx, http.MethodGet, "bans", nil, &bans); err != nil {
		return err
	}
	switch g.format {
	case "json":
		return printJSON(g.stdout, bans)
	case "table":
		t := tabwriter.NewWriter(g.stdout, 0, 0, 2, ' ', 0)
		for _, b := range bans {
			_, _ = fmt.Fprintf(t, "%v\t%s\t%s\t%s\n", b.User, b.Since.Format(time.RFC3339), until(b.Until), b.Reason) // Flush reports
		}
		return t.Flush()
	}
	var events []event.Event
	for _, b := range bans {
		e := event.Event{Kind: event.Ban, Src: b.User.Addr(), Time: &b.Since, Until: b.Until, Pattern: b.Reason}
		if !b.User.IsSingleIP() {
			e.User = b.User.String()
		}
		events = append(events, e)
	}
	return event.Export(g.stdout, g.format, events, time.Now())
}

// statusText is what of a control.Status is shown as text.
type statusText struct {
	Source, Enforcer string
	Started          time.Time
	Bans             uint64
	Missed, Failures uint64
	Lines, Kernel    map[string]uint64
	Gate             struct {
		Packets, Passed, Rejected, Strikes, Bans, States, Room, Bytes uint64

		Tracked struct{ Keys uint64 }
		Lost    gate.Lost
	}
}

func (g *gateControl) status(ctx context.Context, c *control.Client, _ []string) error {
	if g.json {
		var raw map[string]any
		if err := c.Do(ctx, http.MethodGet, "status", nil, &raw); err != nil {
			return err
		}
		return printJSON(g.stdout, raw)
	}
	var s statusText
	if err := c.Do(ctx, http.MethodGet, "status", nil, &s); err != nil {
		return err
	}
	t := tabwriter.NewWriter(g.stdout, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		_, _ = fmt.Fprintf(t, name+"\t"+format+"\n", args...) // Flush reports
	}
	row("judges", "%s, since %s", s.Source, s.Started.Format(time.RFC3339))
	row("enforced by", "%s", s.Enforcer)
	row("packets", "%s, %s passed, %s rejected", quantity.Count(s.Gate.Packets), quantity.Count(s.Gate.Passed), quantity.Count(s.Gate.Rejected))
	row("strikes", "%s", quantity.Count(s.Gate.Strikes))
	row("bans", "%s in force, %s by patterns since the start", quantity.Count(s.Bans), quantity.Count(s.Gate.Bans))
	row("tracked users", "%s", quantity.Count(s.Gate.Tracked.Keys))
	row("states", "%s of %s", quantity.Count(s.Gate.States), quantity.Count(s.Gate.Room))
	row("memory", "%s", quantity.Bytes(float64(s.Gate.Bytes)))
	if s.Lines != nil {
		row("lines", "%s read, %s that the parser cannot read", quantity.Count(s.Lines["read"]), quantity.Count(s.Lines["not read"]))
	}
	for _, what := range slices.Sorted(maps.Keys(s.Kernel)) {
		row("kernel: "+what, "%s", quantity.Count(s.Kernel[what]))
	}
	if s.Gate.Lost.Any() {
		row("given up", "%s chains, %s strikes, %s bans: more memory would help", quantity.Count(s.Gate.Lost.Chains),
			quantity.Count(s.Gate.Lost.Strikes), quantity.Count(s.Gate.Lost.Bans))
	}
	if s.Missed > 0 {
		row("missed", "%s events that listeners were too slow for", quantity.Count(s.Missed))
	}
	if s.Failures > 0 {
		row("failures", "%s bans could not be enforced or written", quantity.Count(s.Failures))
	}
	return t.Flush()
}
