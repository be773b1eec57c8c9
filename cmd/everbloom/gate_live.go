package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/internal/gate/live"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// gateLive guards an interface.
type gateLive struct {
	gateDaemon
	enforce      string
	demo, detach bool
	inner        bool
	spare        bool
	opened       func(*live.Live) // is told what was opened; may be nil
}

func newGateLive(e *env) *cobra.Command {
	g := &gateLive{gateDaemon: gateDaemon{env: e}}
	cmd := &cobra.Command{
		Use:   "live INTERFACE",
		Short: "Guard a network interface: the kernel drops what is banned",
		Long: `Live judges what comes in at a network interface of Linux, as everbloom gate run
judges a capture, and has the kernel drop what banned and listed sources send.
It runs until a signal ends it.

Bans hold by XDP, in the driver of the interface if that can and else in the
kernel's own path, where a packet of a banned source costs a few memory accesses
and never reaches a program; or by nftables; or not at all: bans are told only.
The first that the machine allows is taken, and what is not is said. XDP needs
CAP_NET_ADMIN and CAP_BPF, and for --spare CAP_PERFMON, nftables CAP_NET_ADMIN,
reading alone CAP_NET_RAW.

With XDP, datagrams in which no pattern begins pass without being judged
(--spare), unless their source may be inside a pattern.

A program of XDP goes with the process, also if that is killed. The table of
nftables stays then: --detach removes it.

--demo shows it at work in a network of its own, of which nothing stays.`,
		Example: `  everbloom gate live --demo
  everbloom gate live eth0 --patterns bad.txt --blacklist ips.txt --ban-for 1h
  everbloom gate live eth0 --config /etc/everbloom/gate.conf --state gate.state
  everbloom gate live --detach`,
		RunE: verb(g.run),
	}
	cmd.Args = func(_ *cobra.Command, args []string) error {
		switch alone := g.demo || g.detach; {
		case alone && len(args) > 0:
			return errors.New("--demo and --detach take no interface")
		case !alone && len(args) != 1:
			return errors.New("name one interface, such as eth0")
		}
		return nil
	}
	g.daemonFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&g.enforce, "enforce", "auto", "how bans hold: `HOW` is "+strings.Join(live.Ways(), ", "))
	f.BoolVar(&g.inner, "inner", false, "count packets in tunnels for their inner source, as where traffic is mirrored; a sender can make it up")
	f.BoolVar(&g.spare, "spare", true, "with XDP: do not judge datagrams in which no pattern begins, nor bare acknowledgements of TCP; they pass, and are counted in the kernel only")
	f.BoolVar(&g.demo, "demo", false, "show a gate at work in a network of its own")
	f.BoolVar(&g.detach, "detach", false, "remove what a gate that was killed has left")
	complete(cmd, "enforce", live.Ways()...)
	return cmd
}

func (g *gateLive) run(ctx context.Context, args []string) error {
	switch {
	case g.detach:
		text, err := live.Detach()
		if err == nil {
			_, err = fmt.Fprintln(g.stdout, text)
		}
		return err
	case g.demo:
		return g.runDemo(ctx)
	}
	return g.guard(ctx, args[0])
}

// guard judges what comes in at an interface until the context ends.
func (g *gateLive) guard(ctx context.Context, name string) error {
	return g.serve(ctx, name, func(ctx context.Context) (work, stop func() error, err error) {
		l, err := live.Open(name, g.enforce, g.options(), g.say)
		if err != nil {
			return nil, nil, err
		}
		if l.Enforcer != nil {
			if err := g.enforceBy(l.Enforcer); err != nil {
				return nil, nil, errors.Join(err, l.Close())
			}
		}
		g.server.Enforcer, g.server.Kernel = l.Name, l.Counters
		if !g.quiet {
			_, _ = fmt.Fprintf(g.stdout, "guarding %s, enforced by %s\n", name, l.Name) // the gate goes on
		}
		if g.opened != nil {
			g.opened(l)
		}
		context.AfterFunc(ctx, func() { _ = l.Frames.Close() }) // ends Read
		var gone atomic.Bool
		if !g.demo { // whose network only its own thread sees
			go watchInterface(ctx, name, func() {
				gone.Store(true)
				_ = l.Frames.Close() // ends Read
			})
		}
		return func() error {
			err := g.judgeFrames(l.Frames, name)
			if gone.Load() {
				return fmt.Errorf("%s: the interface is gone", name)
			}
			return err
		}, l.Close, nil
	})
}

// options are those of the kernel's part.
func (g *gateLive) options() live.Options {
	o := live.Options{IPv6Prefix: g.IPv6Prefix, Table: g.tableName(), Spare: g.spare && !g.inner} // an inner source is not known to the kernel
	watched, all := g.keeper.Watched()
	o.Watched = watched
	if o.Spare && !all {
		o.Spare = false
		g.say("%s: sources may be inside a pattern, and it is not known which: all frames go to the gate", g.State)
	}
	if g.Patterns != nil {
		for _, p := range g.Patterns.Patterns() {
			o.Patterns = append(o.Patterns, p.Payload())
		}
	}
	return o
}

// watchInterface calls gone if an interface goes away, or another takes its name: a program
// of XDP is not told.
func watchInterface(ctx context.Context, name string, gone func()) {
	first, err := net.InterfaceByName(name)
	for err == nil {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
		var now *net.Interface
		if now, err = net.InterfaceByName(name); err == nil && now.Index != first.Index {
			break
		}
	}
	gone()
}

// enforceBy has bans and lists hold by an enforcer, now and when they change.
func (d *gateDaemon) enforceBy(e live.Enforcer) error {
	d.server.Enforcer = e.Name()
	d.listed = e.Lists
	if err := e.Lists(d.black.All(), d.white.All()); err != nil {
		return err
	}
	d.keeper.Enforce(e)
	return d.keeper.Failure()
}

// judgeFrames judges frames until there are no more.
func (g *gateLive) judgeFrames(f live.Frames, name string) error {
	r := packets.NewFrames(f, packets.Options{Inner: g.inner})
	var p packets.Packet
	for {
		if err := r.Read(&p); err != nil {
			if errors.Is(err, os.ErrClosed) {
				return nil
			}
			return err
		}
		g.keeper.Judge(&p, name)
	}
}

// startEnforcer starts what makes bans hold, and returns how to end it.
func (d *gateDaemon) startEnforcer(how string) (stop func() error, err error) {
	if how == "none" {
		return func() error { return nil }, nil
	}
	e, err := live.OpenEnforcer(how, live.Options{IPv6Prefix: d.IPv6Prefix, Table: d.tableName()})
	if err != nil {
		return nil, fmt.Errorf("--enforce: %w", err)
	}
	if err := d.enforceBy(e); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e.Close, nil
}
