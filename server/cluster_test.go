package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/cluster/clustertest"
)

// memberEnv tells a process that it is a server of a cluster, as JSON of a memberConfig.
const memberEnv = "EVERBLOOM_TEST_MEMBER"

// A memberConfig is what a server of a cluster is told.
type memberConfig struct {
	Settings map[string]string
	Ways     map[string]string // addresses of other servers, and what to dial in their place
	Patience time.Duration
	Level    uint8         // of records that it reads; 0: that of this release
	Bare     []string      // addresses of members that have nothing but the log; nil: servers
	LogBytes int64         // that the log of a partition may take; 0: as usually
	Lease    time.Duration // 0 means the usual one
}

// memberChild serves as one of a cluster until TERM, or until stdin ends. A line there moves its
// clock.
func memberChild(text string) int {
	err := runMember(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func runMember(text string) error {
	var config memberConfig
	if err := json.Unmarshal([]byte(text), &config); err != nil {
		return err
	}
	if config.Bare != nil {
		return runBare(config)
	}
	m, err := newMember(config, os.Stderr)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := m.open(ctx); err != nil {
		return err
	}
	fmt.Println(m.Addr())
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			if d, err := time.ParseDuration(in.Text()); err == nil {
				m.offset.Add(int64(d))
			}
		}
		os.Exit(1) // the test has ended without a word
	}()
	return m.Serve(ctx)
}

// A member is a server of a cluster whose clock can be moved.
type member struct {
	*Server
	offset atomic.Int64 // of its time of day
}

// newMember makes a server that is not open yet.
func newMember(config memberConfig, logs io.Writer) (*member, error) {
	settings := NewSettings()
	for name, value := range config.Settings {
		if err := settings.Set(name, value); err != nil {
			return nil, err
		}
	}
	m := &member{Server: newServer(settings, slog.New(slog.NewTextHandler(logs, nil)))}
	started := time.Now()
	m.hooks.clock = func() (time.Time, time.Duration) {
		return time.Now().Add(time.Duration(m.offset.Load())), time.Since(started)
	}
	m.hooks.patience, m.hooks.lease, m.hooks.level, m.hooks.logBytes = config.Patience, config.Lease, config.Level, config.LogBytes
	m.hooks.dial = func(ctx context.Context, address string) (net.Conn, error) {
		if way, ok := config.Ways[address]; ok {
			address = way
		}
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}
	return m, nil
}

// A trial is a cluster whose servers reach each other through proxies, or have networks of their
// own. They are processes, or run in that of the test. One goroutine at a time changes it.
type trial struct {
	t          *testing.T
	dir        string
	partitions int
	patience   time.Duration
	lease      time.Duration // 0 means the usual one
	inside     bool          // servers run in the process of the test
	settings   []string      // more of them
	nodes      []*trialNode
	ways       [][][]*clustertest.Proxy // from, to: of members, of servers; nil: direct
	bare       []string                 // see memberConfig
	logBytes   int64                    // of a partition; 0: as usually
	spaces     *spaces                  // networks of their own; nil: none
	login      []string                 // what clients say first
}

// A trialNode is one server of a trial.
type trialNode struct {
	name     string
	dir      string
	addr     string // of the Redis protocol
	web      string // of HTTP
	peerAddr string
	settings []string // of its own
	level    uint8    // of records that it reads; 0: that of this release

	run   runner     // nil if it does not run
	ready chan error // that it is open, or has ended
	ended chan struct{}
}

// A runner is a server of a trial that runs.
type runner interface {
	signal(s syscall.Signal)
	jump(d time.Duration) // moves its time of day
}

// newTrial prepares three servers. All end with the test.
func newTrial(t *testing.T, partitions int, settings ...string) *trial {
	t.Helper()
	c := &trial{t: t, dir: t.TempDir(), partitions: partitions, settings: settings, patience: 15 * time.Second}
	for i := range 3 {
		name := clustertest.Name(i)
		c.nodes = append(c.nodes, &trialNode{
			name: name, dir: filepath.Join(c.dir, name), addr: lowAddr(t), web: lowAddr(t), peerAddr: lowAddr(t),
		})
	}
	for i := range c.nodes {
		c.ways = append(c.ways, make([][]*clustertest.Proxy, len(c.nodes)))
		for j, to := range c.nodes {
			if i != j {
				c.ways[i][j] = []*clustertest.Proxy{clustertest.NewProxy(t, to.peerAddr), clustertest.NewProxy(t, to.addr)}
			}
		}
	}
	t.Cleanup(c.end)
	return c
}

// lowAddr returns an address of the loopback whose port is free, and not one of those that
// connections take: a server that is started again needs it.
func lowAddr(t *testing.T) string {
	t.Helper()
	for range 1000 {
		addr := fmt.Sprintf("127.0.0.1:%d", 19000+rand.IntN(1000))
		if l, err := net.Listen("tcp", addr); err == nil {
			_ = l.Close() // only its number is wanted
			if _, taken := lowAddrs.LoadOrStore(addr, true); !taken {
				return addr
			}
		}
	}
	t.Fatal("no port is free")
	return ""
}

var lowAddrs sync.Map

// config returns what a server is told.
func (c *trial) config(i int) memberConfig {
	n := c.nodes[i]
	m := memberConfig{Ways: make(map[string]string), Patience: c.patience, Lease: c.lease, Bare: c.bare, Level: n.level, LogBytes: c.logBytes}
	m.Settings = map[string]string{
		"dir": n.dir, "addr": n.addr, "http": n.web, "member": n.name, "peers-addr": n.peerAddr,
		"partitions": fmt.Sprint(c.partitions), "cf-kind": "evergreen",
	}
	var peers []string
	for j, o := range c.nodes {
		addr := o.peerAddr
		switch {
		case c.ways == nil:
		case i == j:
			addr = clustertest.Nowhere
		default:
			addr, m.Ways[o.addr] = c.ways[i][j][0].Addr(), c.ways[i][j][1].Addr()
		}
		peers = append(peers, o.name+"="+addr)
	}
	m.Settings["peers"] = strings.Join(peers, ",")
	for list := slices.Concat(c.settings, n.settings); len(list) > 0; list = list[2:] {
		m.Settings[list[0]] = list[1]
	}
	return m
}

// spawn starts a server, without waiting until it is open.
func (c *trial) spawn(i int) {
	c.t.Helper()
	n := c.nodes[i]
	if n.run != nil {
		c.t.Fatalf("%s runs", n.name)
	}
	logs, err := os.OpenFile(n.log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	n.ready, n.ended = make(chan error, 1), make(chan struct{})
	if c.inside {
		c.launchInside(i, logs)
	} else {
		c.launch(i, logs)
	}
}

// An outsider is a server that is a process of its own.
type outsider struct {
	*os.Process
	stdin io.Writer
}

func (p outsider) signal(s syscall.Signal) { _ = p.Signal(s) } // it may have ended

func (p outsider) jump(d time.Duration) { _, _ = fmt.Fprintln(p.stdin, d) } // it may have ended

// launch starts a process.
func (c *trial) launch(i int, logs *os.File) {
	c.t.Helper()
	defer logs.Close() // the process has it
	n := c.nodes[i]
	config, err := json.Marshal(c.config(i))
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), memberEnv+"="+string(config), "GOMAXPROCS=2"), logs
	out, err1 := cmd.StdoutPipe()
	in, err2 := cmd.StdinPipe()
	if err1 != nil || err2 != nil {
		c.t.Fatal(err1, err2)
	}
	start := cmd.Start
	if c.spaces != nil {
		start = func() error { return c.spaces.nodes[i].do(cmd.Start) }
	}
	if err := start(); err != nil {
		c.t.Fatal(err)
	}
	n.run = outsider{cmd.Process, in}
	go func(ready chan<- error, ended chan<- struct{}) {
		_, err := bufio.NewReader(out).ReadString('\n')
		ready <- err
		_ = cmd.Wait() // how it ended is in its log
		close(ended)
	}(n.ready, n.ended)
}

func (n *trialNode) log() string { return n.dir + ".log" }

// said returns what a server has logged.
func (n *trialNode) said() string {
	text, _ := os.ReadFile(n.log())
	return string(text)
}

// openTime is how long a server may take to open; the machine may be busy.
const openTime = 3 * time.Minute

// opened waits until servers are open.
func (c *trial) opened(list ...int) {
	c.t.Helper()
	for _, i := range list {
		select {
		case err := <-c.nodes[i].ready:
			if err != nil {
				c.t.Fatalf("%s does not start:\n%s", c.nodes[i].name, lastLines(c.nodes[i].said()))
			}
		case <-time.After(openTime):
			c.t.Fatalf("%s does not start in time:\n%s", c.nodes[i].name, lastLines(c.nodes[i].said()))
		}
	}
}

func lastLines(text string) string { return text[max(0, len(text)-3000):] }

// start starts servers, and waits until they are open.
func (c *trial) start(list ...int) {
	c.t.Helper()
	for _, i := range list {
		c.spawn(i)
	}
	c.opened(list...)
}

// kill ends servers as kill -9 does.
func (c *trial) kill(list ...int) {
	for _, i := range list {
		c.signal(i, syscall.SIGKILL)
	}
	for _, i := range list {
		c.wait(i)
	}
}

func (c *trial) signal(i int, s syscall.Signal) {
	if n := c.nodes[i]; n.run != nil {
		n.run.signal(s)
	}
}

// wait waits until a server has ended, and reports what the race detector has found in it.
func (c *trial) wait(i int) {
	c.t.Helper()
	n := c.nodes[i]
	if n.run == nil {
		return
	}
	select {
	case <-n.ended:
	case <-time.After(openTime):
		c.t.Errorf("%s does not end", n.name)
		n.run.signal(syscall.SIGKILL)
	}
	n.run = nil
	if text := n.said(); strings.Contains(text, "DATA RACE") || strings.Contains(text, "panic:") {
		c.t.Errorf("%s: %s", n.name, text)
	}
}

// end ends everything.
func (c *trial) end() {
	var wg sync.WaitGroup
	for i := range c.nodes {
		wg.Go(func() { c.kill(i) })
	}
	wg.Wait()
	if c.t.Failed() {
		for _, n := range c.nodes {
			c.t.Logf("%s:\n%s", n.name, lastLines(n.said()))
		}
	}
}

// wipe removes all files of a server that does not run.
func (c *trial) wipe(i int) {
	c.t.Helper()
	if err := os.RemoveAll(c.nodes[i].dir); err != nil {
		c.t.Fatal(err)
	}
}

// cut changes the network between a server and the others.
func (c *trial) cut(i int, f clustertest.Flow) { c.flow(i, f, true) }

// flow changes the network between a server and the others: all of it, or only the way of commands
// that others forward to it.
func (c *trial) flow(i int, f clustertest.Flow, all bool) {
	c.t.Helper()
	if c.spaces != nil {
		if err := c.spaces.set(i, f, all); err != nil {
			c.t.Fatal(err)
		}
		return
	}
	for j := range c.nodes {
		if j == i {
			continue
		}
		c.ways[j][i][1].Set(f)
		if all {
			c.ways[j][i][0].Set(f)
			c.ways[i][j][0].Set(f)
			c.ways[i][j][1].Set(f)
		}
	}
}
