// Package clustertest runs the members of a cluster in one process, for tests. Members reach
// each other through proxies, so that the network between two of them can be cut; they can be
// killed, stopped and started again, and their folders wiped.
package clustertest

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/cluster"
)

// startTime is generous: a machine may be busy.
const startTime = 2 * time.Minute

// A Net is the network of members 0 to n-1, and the members that run. One goroutine at a
// time uses it.
type Net struct {
	t       testing.TB
	dir     string
	addrs   []string   // that members listen on
	proxies [][]*Proxy // from, to; nil: direct
	flows   [][]Flow   // that were asked for
	down    []bool     // members that are not reached
	nodes   []*cluster.Cluster
	level   slog.Level
}

// New prepares a network of n members, without starting them. All end with the test.
func New(t testing.TB, n int) *Net {
	t.Helper()
	w := Direct(t, n)
	for i := range n {
		for j := range n {
			if i != j {
				w.proxies[i][j] = NewProxy(t, w.addrs[j])
			}
		}
	}
	return w
}

// Direct is New without proxies: the network cannot be cut, and costs nothing.
func Direct(t testing.TB, n int) *Net {
	t.Helper()
	w := &Net{t: t, dir: t.TempDir(), down: make([]bool, n), nodes: make([]*cluster.Cluster, n), level: slog.LevelError}
	if testing.Verbose() {
		w.level = slog.LevelWarn
	}
	for range n {
		w.addrs = append(w.addrs, freeAddr(t))
		w.proxies = append(w.proxies, make([]*Proxy, n))
		w.flows = append(w.flows, make([]Flow, n))
	}
	t.Cleanup(func() { w.each(func(i int) { w.Stop(i) }) })
	return w
}

// freeAddr returns an address of the loopback that was free a moment ago.
func freeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // only its number is wanted
	return l.Addr().String()
}

// Name returns the name of a member.
func Name(i int) string { return fmt.Sprintf("n%d", i+1) }

// Dir returns the folder of a member, which holds its files and its cache.
func (w *Net) Dir(i int) string { return filepath.Join(w.dir, Name(i)) }

// Addr returns the address that a member listens on.
func (w *Net) Addr(i int) string { return w.addrs[i] }

// Peers returns all members as one of them reaches them.
func (w *Net) Peers(i int) (peers []cluster.Peer) {
	for j, addr := range w.addrs {
		if p := w.proxies[i][j]; p != nil {
			addr = p.Addr()
		}
		peers = append(peers, cluster.Peer{Name: Name(j), Addr: addr})
	}
	return peers
}

// Nowhere is an address that members tell each other, so that they find no way past the
// proxies.
const Nowhere = "127.0.0.1:1"

// Config returns the configuration of a member.
func (w *Net) Config(i int) cluster.Config {
	c := cluster.Config{
		Name: Name(i), Dir: filepath.Join(w.Dir(i), "jetstream"), Cache: filepath.Join(w.Dir(i), "cache"),
		Addr: w.addrs[i], Peers: w.Peers(i), Secret: "of the test",
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: w.level})).With("node", Name(i)),
	}
	if w.proxies[i][(i+1)%len(w.addrs)] != nil {
		c.Advertise = Nowhere
	}
	return c
}

// StartAll starts all members.
func (w *Net) StartAll() {
	w.t.Helper()
	errs := make([]error, len(w.nodes))
	w.each(func(i int) { errs[i] = w.start(i) })
	for i, err := range errs {
		if err != nil {
			w.t.Fatalf("member %s: %v", Name(i), err)
		}
	}
}

// each calls do for all members at once.
func (w *Net) each(do func(i int)) {
	var wait sync.WaitGroup
	for i := range w.nodes {
		wait.Go(func() { do(i) })
	}
	wait.Wait()
}

// Start starts a member, and waits until it has joined the others.
func (w *Net) Start(i int) *cluster.Cluster {
	w.t.Helper()
	w.down[i] = false
	w.apply()
	if err := w.start(i); err != nil {
		w.t.Fatalf("member %s: %v", Name(i), err)
	}
	return w.nodes[i]
}

func (w *Net) start(i int) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	c, err := cluster.Start(ctx, w.Config(i))
	if err == nil {
		w.nodes[i] = c
	}
	return err
}

// Node returns a member that runs; nil if it does not.
func (w *Net) Node(i int) *cluster.Cluster { return w.nodes[i] }

// Stop ends a member: it tells the others.
func (w *Net) Stop(i int) {
	if c := w.nodes[i]; c != nil {
		w.nodes[i] = nil
		_ = c.Close() // it returns none
	}
}

// Kill ends a member that cannot tell the others.
func (w *Net) Kill(i int) {
	w.down[i] = true
	w.apply()
	w.Stop(i)
}

// Wipe removes all files of a member that does not run.
func (w *Net) Wipe(i int) {
	w.t.Helper()
	if err := os.RemoveAll(w.Dir(i)); err != nil {
		w.t.Fatal(err)
	}
}

// Set changes the network between two members, in both directions.
func (w *Net) Set(i, j int, f Flow) {
	w.flows[i][j], w.flows[j][i] = f, f
	w.apply()
}

// SetAll changes the network between a member and all others.
func (w *Net) SetAll(i int, f Flow) {
	for j := range w.nodes {
		if j != i {
			w.flows[i][j], w.flows[j][i] = f, f
		}
	}
	w.apply()
}

// apply tells the proxies what was asked for.
func (w *Net) apply() {
	for i, row := range w.proxies {
		for j, p := range row {
			switch {
			case p == nil:
			case w.down[i] || w.down[j]:
				p.Set(Cut)
			default:
				p.Set(w.flows[i][j])
			}
		}
	}
}
