package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"
	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/gate/logs"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// gateFollow judges the clients that logs tell about.
type gateFollow struct {
	gateDaemon
	parser, expression, layout string
	fromStart                  bool
	enforce                    string
	read, unread               atomic.Uint64 // lines that the parser could read, and others
}

func newGateFollow(e *env) *cobra.Command {
	g := &gateFollow{gateDaemon: gateDaemon{env: e}}
	cmd := &cobra.Command{
		Use:   "follow FILE...",
		Short: "Judge the clients that growing logs tell about",
		Long: `Follow reads lines that are appended to logs, also when these are rotated, and
judges them as packets: the source is the client, and patterns are searched in
the text of a line. It runs until a signal ends it; - is the standard input.
With --state it goes on where it was when it ended.

Parsers are sshd (OpenSSH by syslog or journald), access (nginx, Apache), eve
(alerts of Suricata), zeek (columns or JSON) and auto, which tells them apart;
or --regexp with groups src, time and text. Without --patterns, sshd, access and
eve look for failed logins, well-known attacks in the request, and alerts, and
--regexp takes every line that it can read for a strike; zeek needs --patterns.
Strikes count for ten minutes and bans last as long, unless --window and
--ban-for say otherwise; 0 is for ever.

Bans are told as events; --enforce nft makes the kernel drop what banned sources
send. everbloom gate status, list, ban and others ask and tell it things, and a
hangup (SIGHUP) makes it read its lists again.`,
		Example: `  everbloom gate follow --parser sshd --ban-for 1h /var/log/auth.log
  journalctl -f -u ssh | everbloom gate follow --state gate.state -
  everbloom gate follow --patterns bad.txt --enforce nft /var/log/nginx/*.log
  everbloom gate follow --regexp 'login failed from (?P<src>\S+)' app.log`,
		Args: atLeast(1, "a log, or - for the standard input"),
		RunE: verb(g.run),
	}
	g.daemonFlags(cmd)
	f := cmd.Flags()
	for _, name := range []string{"window", "ban-for"} { // a login that fails now and then is no attack
		flag := f.Lookup(name)
		flag.DefValue = "10m"
		flag.Usage = strings.Replace(flag.Usage, " (default: for ever)", "; 0 is for ever", 1)
	}
	g.Window, g.BanFor = 10*time.Minute, 10*time.Minute
	f.StringVar(&g.parser, "parser", "auto", "`NAME` of the sort of log: "+strings.Join(logs.Names(), ", "))
	f.StringVar(&g.expression, "regexp", "", "read lines by a regular `EXPRESSION` with a group (?P<src>…), and may be (?P<time>…) and (?P<text>…)")
	f.StringVar(&g.layout, "time-layout", time.RFC3339, "`LAYOUT` of the time in --regexp, as Go writes it")
	f.BoolVar(&g.fromStart, "from-start", false, "judge also what the logs have already")
	enforceFlag(cmd, &g.enforce)
	complete(cmd, "parser", logs.Names()...)
	return cmd
}

// newParser returns a parser for one file.
func (g *gateFollow) newParser() (logs.Parser, error) {
	if g.expression != "" {
		return logs.NewRegexp(g.expression, g.layout)
	}
	return logs.New(g.parser, time.Now)
}

func (g *gateFollow) run(ctx context.Context, paths []string) error {
	if _, err := g.newParser(); err != nil {
		return err
	}
	if g.patterns == "" {
		list := logs.Patterns(g.parser)
		switch {
		case g.expression != "":
			list = []pattern.Pattern{{Name: "a line", Bytes: []byte("\n")}} // every one that can be read
		case len(list) == 0:
			return fmt.Errorf("--patterns: needed with --parser %s, where every line would be a strike", g.parser)
		}
		var err error
		if g.Patterns, err = pattern.Compile(list); err != nil {
			return err
		}
	}
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	return g.serve(ctx, strings.Join(paths, ", "), func(ctx context.Context) (work, stop func() error, err error) {
		followed, err := g.open(paths)
		if err != nil {
			return nil, nil, err
		}
		if stop, err = g.startEnforcer(g.enforce); err != nil {
			return nil, nil, err
		}
		g.server.Lines = func() map[string]uint64 {
			return map[string]uint64{"read": g.read.Load(), "not read": g.unread.Load()}
		}
		return func() error { return g.judgeLines(ctx, paths, followed) }, stop, nil
	})
}

// open opens the files, so that nothing that comes is missed once the gate is ready.
func (g *gateFollow) open(paths []string) (followed []*logs.Follower, err error) {
	for _, path := range paths {
		if path == lines.Stdin {
			continue
		}
		before := g.keeper.Position(path)
		f, err := logs.Open(path, logs.Options{FromStart: g.fromStart, After: before})
		if err != nil {
			return nil, within(path, "%w", systemReason(err))
		}
		if before != (logs.Position{}) && !f.Missing() && !f.Resumed() {
			g.say("%s: is not the file that was read before: it is read from its start", path)
		}
		g.keeper.Begin(path, f.Position())
		if f.Missing() {
			g.say("%s: not there: it is waited for", path)
		}
		followed = append(followed, f)
	}
	return followed, nil
}

// judgeLines judges lines until the context ends, or all inputs that have an end.
func (g *gateFollow) judgeLines(ctx context.Context, paths []string, followed []*logs.Follower) error {
	all := make(chan logs.Line, 256)
	parsers := map[string]logs.Parser{}
	for _, path := range paths {
		var err error
		if parsers[path], err = g.newParser(); err != nil {
			return err
		}
		if path == lines.Stdin {
			go logs.Read(ctx, path, g.stdin, all)
		}
	}
	for _, f := range followed {
		go f.Run(ctx, all)
	}
	var failed error
	for open := len(paths); open > 0; {
		select {
		case l := <-all:
			if l.Err != nil {
				open--
				if !errors.Is(l.Err, io.EOF) {
					failed = errors.Join(failed, within(l.Path, "%w", systemReason(l.Err)))
				}
				continue
			}
			g.judgeLine(parsers[l.Path], l)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return failed
}

// judgeLine judges a line as a packet. Its end is a part of it, so that no pattern goes
// from one line to the next.
func (g *gateFollow) judgeLine(p logs.Parser, l logs.Line) {
	var e logs.Entry
	if !p.Parse(l.Text, &e) {
		g.unread.Add(1)
		return
	}
	g.read.Add(1)
	g.keeper.JudgeLine(&packets.Packet{Src: e.Src, At: e.At, Payload: append(e.Text, '\n')}, l.Path, l.At)
}

// enforceFlag adds the flag for what makes bans hold.
func enforceFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "enforce", "none", "how bans hold: `HOW` is none (they are told only) or nft (nftables, which needs CAP_NET_ADMIN)")
	complete(cmd, "enforce", "none", "nft")
}
