package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/gate/control"
	"github.com/everbloom-go/everbloom/internal/gate/event"
	"github.com/everbloom-go/everbloom/internal/gate/keeper"
	"github.com/everbloom-go/everbloom/internal/gate/live"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// gateDaemon is a gate that works until it is told to end: what verbs that do have in
// common.
type gateDaemon struct {
	*env
	gateFlags
	keepFlags
	socket, metrics, log string
	table                string
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
	f.StringVar(&d.table, "table", "", "`NAME` of the table of nftables, which begins with everbloom (default: everbloom, and what tells the socket from the default one)")
	f.StringVar(&d.metrics, "metrics", "", "`ADDRESS` to serve metrics for Prometheus at, such as 127.0.0.1:9100")
	f.StringVar(&d.log, "log", "", "append events to `FILE`, a JSON object per line")
	f.BoolVarP(&d.quiet, "quiet", "q", false, "do not print events")
}

// tableName returns the name of the table of nftables: each socket has its own.
func (d *gateDaemon) tableName() string {
	if d.table != "" || d.socket == defaultSocket() {
		return d.table
	}
	name, err := filepath.Abs(d.socket)
	if d.socket == "" || err != nil {
		name = "none"
	}
	return fmt.Sprintf("%s-%08x", live.TableName, uint32(filter.KeyOf([]byte(name))))
}

// serve runs a gate: start makes ready what feeds it and returns what does, and how to end
// it. A signal ends the gate in good order. Sockets and the state are taken before anything
// is changed, so that a second gate that is refused leaves the first one alone.
func (d *gateDaemon) serve(ctx context.Context, source string, start func(ctx context.Context) (work func() error, stop func() error, err error)) (err error) {
	if err := errors.Join(d.checkValues(), d.read()); err != nil {
		return err
	}
	d.warnOfRules(&d.gateFlags)
	ends, err := d.bind()
	if err != nil {
		return err
	}
	defer ends.close()
	if d.keeper, err = keeper.Open(d.keepFlags.Config, d.gateFlags.Config); err != nil {
		return byFlags(err)
	}
	defer func() { err = errors.Join(err, d.keeper.Close()) }()
	d.keeper.Engine(func(e *gate.Engine) { err = e.Payloads() })
	if err != nil {
		return tooManyPatterns(err)
	}
	black, white := d.black, d.white
	d.keeper.Relist(&black, &white)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d.server = &control.Server{Keeper: d.keeper, Version: version(), Source: source, Enforcer: "none", Reload: d.reload, Done: ctx.Done()}
	work, stop, err := start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	written, err := d.writeEvents()
	if err != nil {
		return err
	}
	defer written()
	if err := d.keeper.Save(ctx); err != nil { // else it would be known in a minute
		return err
	}
	ends.serve(d.server)
	d.background(ctx)
	d.notify("READY=1")
	if err = work(); ctx.Err() != nil {
		err = nil // it was told to end
	}
	d.notify("STOPPING=1")
	cancel()
	ends.close()
	return errors.Join(err, d.keeper.Save(context.WithoutCancel(ctx)))
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
					d.say("%v", err)
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
		if lost.Chains+lost.Strikes+lost.Bans+d.keeper.Crowded() > 0 {
			d.say(limitReached)
			return
		}
	}
}

// writersEnd is how long the end of a gate waits for outputs that stand still.
const writersEnd = 5 * time.Second

// writeEvents prints events and appends them to the log, until end is called, and then
// those that are left.
func (d *gateDaemon) writeEvents() (end func(), err error) {
	var ends []func() bool
	if d.log != "" {
		file, err := os.OpenFile(d.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
		if err != nil {
			return nil, unwritable(d.log, err)
		}
		lines := json.NewEncoder(file)
		ends = append(ends, d.drain(func(e event.Event) {
			if err := lines.Encode(e); err != nil {
				d.say("--log: %v", systemReason(err))
			}
		}))
	}
	if !d.quiet {
		ends = append(ends, d.drain(func(e event.Event) {
			_, _ = fmt.Fprintln(d.stdout, eventLine(e)) // the gate goes on
		}))
	}
	return func() {
		for _, written := range ends {
			if !written() {
				d.say("an output takes no more: its last events are not written")
			}
		}
	}, nil
}

// drain writes events as they come. What it returns writes those that are left, and reports
// whether that was done in time.
func (d *gateDaemon) drain(write func(event.Event)) (end func() bool) {
	q := d.keeper.Queue()
	quit, done := make(chan bool), make(chan bool)
	writeAll := func() {
		for _, e := range q.Take() {
			write(e)
		}
	}
	go func() {
		defer close(done)
		for {
			select {
			case <-q.More():
				writeAll()
			case <-quit:
				writeAll()
				return
			}
		}
	}()
	return func() bool {
		close(quit)
		select {
		case <-done:
			return true
		case <-time.After(writersEnd):
			return false
		}
	}
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

// reload reads the lists again. If one cannot be read nothing changes.
func (d *gateDaemon) reload() error {
	d.lists.Lock()
	defer d.lists.Unlock()
	var black, white packets.List
	if err := errors.Join(readList(&black, d.blacklists), readList(&white, d.whitelists)); err != nil {
		return fmt.Errorf("lists are as before: %w", err)
	}
	d.keeper.Relist(&black, &white)
	if d.listed == nil {
		return nil
	}
	if err := d.listed(black.All(), white.All()); err != nil {
		return fmt.Errorf("the gate has read the lists, %s does not have all of them: %w", d.server.Enforcer, err)
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
