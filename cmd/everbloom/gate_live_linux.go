package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/gate/live"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// Of the demo.
const (
	demoHonest    = 900 // sources of 10.1.0.0/16
	demoAttackers = 100 // of 10.66.0.0/16
	demoEvilNet   = 66
	demoEvil      = "GET /evil HTTP/1.1\r\n"
	demoLasts     = 3 * time.Second
)

// runDemo guards one end of a cable whose other end sends, in a network that only this
// thread has: it goes with the process, whatever happens.
func (g *gateLive) runDemo(ctx context.Context) error {
	runtime.LockOSThread() // never unlocked, so that nothing else runs in that network
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("--demo: a network of its own needs CAP_SYS_ADMIN: %w", err)
	}
	for _, args := range []string{
		"link add eb0 type veth peer name eb1", "link set eb0 addrgenmode none", "link set eb1 addrgenmode none", // the kernel sends nothing itself
		"link set eb0 up", "link set eb1 up",
	} {
		if out, err := exec.CommandContext(ctx, "ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			return fmt.Errorf("--demo: ip %s: %w: %s", args, err, out)
		}
	}
	s, err := newDemoSender("eb1")
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(s.fd) }() // nothing was written to a file
	g.socket, g.quiet, g.patterns = "", true, ""
	if g.Patterns, err = pattern.Compile([]pattern.Pattern{{Name: "evil", Bytes: []byte("/EVIL"), NoCase: true}}); err != nil {
		return err
	}
	g.line("A cable in a network of its own: %d honest sources and %d attackers send at one end,", demoHonest, demoAttackers)
	g.line("a gate guards the other. Three requests for /evil ban a source.\n")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan bool)
	missing := uint64(0)
	g.opened = func(l *live.Live) {
		g.line("bans hold by %s\n", l.Name)
		g.line("%8s  %14s  %14s  %17s  %11s  %11s", "second", "honest sent", "attackers sent", "dropped in kernel", "clean", "to the gate")
		go func() {
			defer close(done)
			defer cancel()
			s.run(ctx, func(second int) { g.demoLine(second, s, l) })
			for range 50 { // the gate reads what waits
				if missing = g.demoMissing(s, l); missing == 0 {
					break
				}
				time.Sleep(100 * time.Millisecond)
			}
		}()
	}
	if err := g.guard(ctx, "eb0"); err != nil {
		return err
	}
	<-done
	attackers, honest := g.demoBans()
	g.line("\n%d bans: %d hit attackers and %d honest sources. Honest packets dropped: %d.", attackers+honest, attackers, honest, missing)
	g.line("Nothing stays: the network went with the demo.")
	return s.failed
}

func (g *gateLive) line(format string, args ...any) {
	_, _ = fmt.Fprintf(g.stdout, format+"\n", args...) // the demo is no result that could be lost
}

func (g *gateLive) demoLine(second int, s *demoSender, l *live.Live) {
	c := l.Counters()
	g.line("%8d  %14s  %14s  %17s  %11s  %11s", second, quantity.Count(s.honest.Load()), quantity.Count(s.evil.Load()),
		quantity.Count(c["dropped banned"]), quantity.Count(c[live.Clean]), quantity.Count(c["to the gate"]))
}

// demoBans returns how many bans hit attackers, and how many honest sources.
func (g *gateLive) demoBans() (attackers, honest int) {
	for _, b := range g.keeper.Bans() {
		if b.User.Addr().As4()[1] == demoEvilNet {
			attackers++
		} else {
			honest++
		}
	}
	return attackers, honest
}

// demoMissing returns how many packets of honest sources have not passed so far. Those of an
// attacker pass that are strikes, do not ban and are not dropped.
func (g *gateLive) demoMissing(s *demoSender, l *live.Live) uint64 {
	judged := g.keeper.Status().Gate
	passed := judged.Passed - (judged.Strikes - judged.Bans - judged.Dropped) + l.Counters()[live.Clean]
	return s.honest.Load() - min(s.honest.Load(), passed)
}

// demoSender sends frames.
type demoSender struct {
	fd           int
	honest, evil atomic.Uint64
	failed       error
}

func newDemoSender(name string) (*demoSender, error) {
	device, err := net.InterfaceByName(name)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: device.Index}); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return &demoSender{fd: fd}, nil
}

// run sends in turn from all sources, and tells every second.
func (s *demoSender) run(ctx context.Context, tell func(second int)) {
	start, second := time.Now(), 1
	for i := 0; ctx.Err() == nil && time.Since(start) < demoLasts; i++ {
		next := s.honest.Load() % demoHonest
		src, text, count := netip.AddrFrom4([4]byte{10, 1, byte(next >> 8), byte(next)}), "GET / HTTP/1.1\r\n", &s.honest
		if i%4 == 0 { // attackers send more
			src, text, count = netip.AddrFrom4([4]byte{10, demoEvilNet, 0, byte(i / 4 % demoAttackers)}), demoEvil, &s.evil
		}
		switch _, err := unix.Write(s.fd, udpFrame(src, text)); {
		case err == nil:
			count.Add(1)
		case !errors.Is(err, unix.ENOBUFS):
			s.failed = err
			return
		}
		if i%64 == 0 {
			time.Sleep(time.Millisecond) // what a program can judge on a busy machine
		}
		if time.Since(start) > time.Duration(second)*time.Second {
			tell(second)
			second++
		}
	}
}

// udpFrame returns a frame of Ethernet with a datagram.
func udpFrame(src netip.Addr, payload string) []byte {
	b := []byte("\xff\xff\xff\xff\xff\xff\x02\x00\x00\x00\x00\x01\x08\x00\x45\x00")
	b = binary.BigEndian.AppendUint16(b, uint16(28+len(payload)))
	a := src.As4()
	b = append(append(append(b, 0, 0, 0, 0, 64, 17, 0, 0), a[:]...), 10, 0, 0, 1)
	b = append(b, 0x10, 0, 0, 80)
	b = binary.BigEndian.AppendUint16(b, uint16(8+len(payload)))
	return append(append(b, 0, 0), payload...)
}
