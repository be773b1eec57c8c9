package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/gate/control"
	"github.com/everbloom-go/everbloom/internal/gate/event"
	"github.com/everbloom-go/everbloom/internal/gate/keeper"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// gateDaemon is a gate that runs until it is told to end: what verbs that do have in
// common.
type gateDaemon struct {
	*env
	gateFlags
	keepFlags
	socket, metrics, log string
	quiet                bool

	keeper *keeper.Keeper
	server *control.Server
	lists  sync.Mutex                              // held while lists are read
	listed func(black, white []netip.Prefix) error // tells an enforcer about lists; may be nil
}

// defaultSocket is where gates listen unless they are told otherwise.
func defaultSocket() string {
	if folder := os.Getenv("XDG_RUNTIME_DIR"); folder != "" && os.Geteuid() != 0 {
		return filepath.Join(folder, "everbloom-gate.sock")
	}
	return "/run/everbloom-gate.sock"
}

func (d *gateDaemon) daemonFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(countFlag(&d.Users), "users", "number of sources expected (default 100000)")
	d.makeFlags(cmd)
	d.fileFlags(cmd)
	d.keepFlags.keepFlags(cmd)
	f.StringVar(&d.socket, "socket", defaultSocket(), "`PATH` of the socket for gate status, ban and others; empty for none")
	f.StringVar(&d.metrics, "metrics", "", "`ADDRESS` to serve metrics for Prometheus at, such as 127.0.0.1:9100")
	f.StringVar(&d.log, "log", "", "append events to `FILE`, a JSON object per line")
	f.BoolVarP(&d.quiet, "quiet", "q", false, "do not print events")
}

// serve runs a gate: start makes ready what feeds it and returns what does, and how to end
// it. A signal ends the gate in good order.
func (d *gateDaemon) serve(ctx context.Context, source string, start func(ctx context.Context) (work func() error, stop func() error, err error)) (err error) {
	if err := errors.Join(d.checkValues(), d.read()); err != nil {
		return err
	}
	if d.keeper, err = keeper.Open(d.keepFlags.Config, d.gateFlags.Config); err != nil {
		return byFlags(err)
	}
	defer func() { err = errors.Join(err, d.keeper.Save(context.WithoutCancel(ctx)), d.keeper.Close()) }()
	d.addLists(&d.black, &d.white)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d.server = &control.Server{Keeper: d.keeper, Version: version(), Source: source, Enforcer: "none", Reload: d.reload, Done: ctx.Done()}
	work, stop, err := start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	end, err := d.listen()
	if err != nil {
		return err
	}
	defer end()
	d.background(ctx)
	d.notify("READY=1")
	defer d.notify("STOPPING=1")
	if err := work(); ctx.Err() == nil {
		return err
	}
	return nil // it was told to end
}

// background starts what a gate does beside judging.
func (d *gateDaemon) background(ctx context.Context) {
	go d.keeper.Tend(ctx, time.Minute, true, func(err error) { d.say("%v", err) })
	go d.watchLimit(ctx)
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		defer signal.Stop(hangups)
		for {
			select {
			case <-hangups:
				if err := d.reload(); err != nil {
					d.say("lists are as before: %v", err)
				}
			case <-ctx.Done():
				return
			}
		}
	}()
}

// watchLimit tells once that the limit of memory lets patterns go unnoticed.
func (d *gateDaemon) watchLimit(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
		var lost gate.Lost
		d.keeper.Engine(func(e *gate.Engine) { lost = e.Lost() })
		if lost.Chains+lost.Strikes > 0 {
			d.say(limitReached)
			return
		}
	}
}

// listen answers at the socket and serves metrics, and writes events.
func (d *gateDaemon) listen() (end func(), err error) {
	var ends []func()
	end = func() {
		for _, f := range ends {
			f()
		}
	}
	serve := func(l net.Listener, h http.Handler) {
		s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
		go func() { _ = s.Serve(l) }() // it ends with Close
		ends = append(ends, func() { _ = s.Close() })
	}
	if d.socket != "" {
		l, err := control.Listen(d.socket)
		if err != nil {
			return nil, fmt.Errorf("--socket: %w", systemReason(err))
		}
		serve(l, d.server.Handler())
	}
	if d.metrics != "" {
		l, err := net.Listen("tcp", d.metrics)
		if err != nil {
			end()
			return nil, fmt.Errorf("--metrics: %w", err)
		}
		m := http.NewServeMux()
		m.Handle("GET /metrics", d.server.Metrics())
		serve(l, m)
	}
	written, err := d.writeEvents()
	if err != nil {
		end()
		return nil, err
	}
	ends = append(ends, written)
	return end, nil
}

// writeEvents prints events and appends them to the log, until end is called, and then
// those that are left.
func (d *gateDaemon) writeEvents() (end func(), err error) {
	out := io.Discard
	if d.log != "" {
		file, err := os.OpenFile(d.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
		if err != nil {
			return nil, unwritable(d.log, err)
		}
		out = file
	}
	events, stop := d.keeper.Listen()
	lines := json.NewEncoder(out)
	write := func(e event.Event) {
		if err := lines.Encode(e); err != nil {
			d.say("--log: %v", systemReason(err))
		}
		if !d.quiet {
			_, _ = fmt.Fprintln(d.stdout, eventLine(e)) // the gate goes on
		}
	}
	quit, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			select {
			case e := <-events:
				write(e)
			case <-quit:
				for len(events) > 0 {
					write(<-events)
				}
				return
			}
		}
	}()
	return func() {
		stop()
		close(quit)
		<-done
	}, nil
}

// eventLine returns an event as a line of text.
func eventLine(e event.Event) string {
	text := ""
	if e.Time != nil {
		text = e.Time.Format(time.RFC3339) + " "
	}
	text += fmt.Sprintf("%s %v", e.Kind, e.Src)
	if e.User != "" {
		text += " (" + e.User + ")"
	}
	if e.Kind == event.Strike {
		text += fmt.Sprintf(" %d", e.Strikes)
	}
	if e.Pattern+e.Reason != "" {
		text += ": " + e.Pattern + e.Reason
	}
	if e.Until != nil {
		text += ", until " + e.Until.Format(time.RFC3339)
	}
	return text
}

// addLists gives the entries of lists to the gate and to what enforces.
func (d *gateDaemon) addLists(black, white *packets.List) {
	d.keeper.Engine(func(e *gate.Engine) {
		black.Each(e.Blacklist)
		white.Each(e.Whitelist)
	})
}

// reload reads the lists again. If one cannot be read nothing changes.
func (d *gateDaemon) reload() error {
	d.lists.Lock()
	defer d.lists.Unlock()
	var black, white packets.List
	if err := errors.Join(readList(&black, d.blacklists), readList(&white, d.whitelists)); err != nil {
		return err
	}
	d.keeper.Relist(&d.black, &black, &d.white, &white)
	d.black, d.white = black, white
	if d.listed != nil {
		return d.listed(black.All(), white.All())
	}
	return nil
}

// notify tells systemd how the gate is, if it asked for that.
func (d *gateDaemon) notify(state string) {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return
	}
	if name[0] == '@' {
		name = "\x00" + name[1:]
	}
	c, err := net.Dial("unixgram", name)
	if err != nil {
		return // it does not listen
	}
	_, _ = c.Write([]byte(state)) // nor here
	_ = c.Close()
}
