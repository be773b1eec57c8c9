package router

import (
	"bytes"
	"context"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/resp"
	"github.com/everbloom-go/everbloom/server/internal/setting"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// A testCluster is nodes in one process. The nodes of a partition share its store: what is
// tested is the way of commands to the leader, not how nodes follow a log.
type testCluster struct {
	nodes   []*testNode
	stores  []*store.Store
	parts   []*partition.Partition
	logs    []*log.Memory
	leaders []atomic.Int64 // node, and above it the epoch
	applied atomic.Int64   // how many nodes have applied everything
}

// A testNode implements Shards.
type testNode struct {
	cluster  *testCluster
	number   int
	node     *Node
	home     *command.Env
	shards   []*Shard
	listener net.Listener
	address  string
	without  atomic.Bool // it has no copies
	asking   atomic.Int64
	twice    atomic.Bool // it asked twice at once how far nodes are
	silent   atomic.Bool // nodes do not answer that
}

const noLeader = 0xFF

// newCluster returns a cluster whose partitions are led by the nodes in turn.
func newCluster(tb testing.TB, nodes, partitions int, change func(*Config)) *testCluster {
	tb.Helper()
	c := &testCluster{leaders: make([]atomic.Int64, partitions)}
	for i := range partitions {
		l := new(log.Memory)
		st, p := openPartition(tb, l)
		c.logs, c.stores, c.parts = append(c.logs, l), append(c.stores, st), append(c.parts, p)
		c.move(i, i%nodes)
	}
	for i := range nodes {
		c.nodes = append(c.nodes, newNode(tb, c, i, change))
	}
	tb.Cleanup(func() {
		for _, p := range c.parts {
			p.Close()
		}
	})
	return c
}

func openPartition(tb testing.TB, l log.Log) (*store.Store, *partition.Partition) {
	tb.Helper()
	st := store.New()
	p, err := partition.Open(tb.Context(), partition.Config{Store: st, Log: l, Hash: filter.SipHash([16]byte{1})})
	if err != nil {
		tb.Fatal(err)
	}
	return st, p
}

// newHost returns what partitions share.
func newHost() *command.Host {
	settings, table := setting.New(), command.NewTable()
	return &command.Host{
		Table: table, Settings: settings, Clients: noClients{}, Slow: command.NewSlowLog(settings), Stats: command.NewStats(table),
		MaxMemory: func() int64 { return 1 << 40 }, Started: time.Now(),
	}
}

// newEnv returns an Env over a store.
func newEnv(h *command.Host, st *store.Store, p *partition.Partition) *command.Env {
	return &command.Env{
		Host: h, Store: st, Partition: p,
		Images: func() command.ImageState { return command.ImageState{} }, Save: func() error { return nil },
	}
}

type noClients struct{}

func (noClients) Sessions() []*command.Session { return nil }
func (noClients) Kill(int64) bool              { return false }

// newNode returns a node that listens.
func newNode(tb testing.TB, c *testCluster, number int, change func(*Config)) *testNode {
	tb.Helper()
	n := &testNode{cluster: c, number: number}
	n.listen(tb)
	n.start(tb, n, func(i int) *Shard {
		return &Shard{Number: i, Env: newEnv(n.home.Host, c.stores[i], c.parts[i]), lead: func() uint64 { return c.epoch(i, number) }}
	}, len(c.parts), change)
	return n
}

// listen takes an address.
func (n *testNode) listen(tb testing.TB) {
	tb.Helper()
	var err error
	if n.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		tb.Fatal(err)
	}
	n.address = n.listener.Addr().String()
}

// start makes shards and serves.
func (n *testNode) start(tb testing.TB, shards Shards, shard func(i int) *Shard, partitions int, change func(*Config)) {
	tb.Helper()
	n.home = newEnv(newHost(), store.New(), nil)
	n.home.Cluster = &command.Cluster{
		Totals: func() (t command.Totals) {
			for _, s := range n.shards {
				t.Add(s.Env.Totals())
			}
			return t
		},
		Bytes: func() (sum int64) {
			for _, s := range n.shards {
				sum += s.Env.Bytes()
			}
			return sum
		},
	}
	for i := range partitions {
		n.shards = append(n.shards, shard(i))
	}
	config := Config{Shards: shards, Home: n.home, Secret: "secret"}
	if change != nil {
		change(&config)
	}
	n.node = New(config)
	var wg sync.WaitGroup
	wg.Go(func() { n.serve(&wg) })
	tb.Cleanup(func() {
		_ = n.listener.Close() // it may be closed already
		n.node.Close()
	})
}

// serve serves connections as a server does.
func (n *testNode) serve(wg *sync.WaitGroup) {
	for id := int64(1); ; id++ {
		c, err := n.listener.Accept()
		if err != nil {
			return
		}
		wg.Go(func() {
			defer c.Close()
			n.serveConn(c, id)
		})
	}
}

func (n *testNode) serveConn(c net.Conn, id int64) {
	s := n.node.NewSession(id, c.RemoteAddr().String(), c.LocalAddr().String())
	s.SetConn(c)
	defer s.Close()
	r := resp.NewReader(c, resp.Standard())
	for r.Fill() == nil {
		s.Begin()
		for {
			args, err := r.Next()
			if err != nil {
				return
			}
			if args == nil {
				break
			}
			if s.Take(args) != nil {
				return
			}
		}
		if s.Flush() != nil {
			return
		}
		s.End()
		if _, err := c.Write(s.Writer().Bytes()); err != nil {
			return
		}
		s.Writer().Reset()
		if s.Upgraded() {
			_ = n.node.ServePeer(c, id) // how it ends
			return
		}
	}
}

// move makes a node the leader of a partition.
func (c *testCluster) move(i, node int) {
	epoch := c.leaders[i].Load() >> 8
	c.leaders[i].Store((epoch+1)<<8 | int64(node))
}

// epoch returns the epoch of a node, 0 if another one leads.
func (c *testCluster) epoch(i, node int) uint64 {
	if at := c.leaders[i].Load(); int(at&0xFF) == node {
		return uint64(at >> 8)
	}
	return 0
}

func name(node int) string { return []string{"n0", "n1", "n2"}[node] }

func (n *testNode) Self() string    { return name(n.number) }
func (n *testNode) Partitions() int { return len(n.shards) }

func (n *testNode) Shard(i int) *Shard {
	if n.without.Load() {
		return nil
	}
	return n.shards[i]
}

func (n *testNode) Leader(i int) partition.Leader {
	at := n.cluster.leaders[i].Load()
	if at&0xFF == noLeader {
		return partition.Leader{}
	}
	return partition.Leader{Node: name(int(at & 0xFF)), Address: n.cluster.nodes[at&0xFF].address, Epoch: uint32(at >> 8)}
}

func (n *testNode) Members() (list []Member) {
	for i, m := range n.cluster.nodes {
		one := Member{Name: name(i), Address: m.address, Alive: true}
		for j := range m.shards {
			one.Held = append(one.Held, m.Shard(j) != nil)
		}
		list = append(list, one)
	}
	return list
}

func (n *testNode) Applied(ctx context.Context) (list [][]uint64) {
	if n.asking.Add(1) > 1 {
		n.twice.Store(true)
	}
	defer n.asking.Add(-1)
	if n.silent.Load() {
		<-ctx.Done()
	}
	time.Sleep(time.Millisecond)
	for range n.cluster.applied.Load() {
		list = append(list, slices.Repeat([]uint64{math.MaxUint64}, len(n.shards)))
	}
	return list
}

// A commander is a session of a partition or of a router.
type commander interface {
	Begin()
	Take(args [][]byte) error
	Flush() error
	End()
	Writer() *resp.Writer
}

// run runs a pipeline and returns its replies.
func run(s commander, lines ...string) (replies []string, err error) {
	s.Begin()
	for _, line := range lines {
		var args [][]byte
		for w := range strings.FieldsSeq(line) {
			args = append(args, []byte(w))
		}
		if err := s.Take(args); err != nil {
			return nil, err
		}
	}
	if err := s.Flush(); err != nil {
		return nil, err
	}
	s.End()
	rest := bytes.Clone(s.Writer().Bytes())
	s.Writer().Reset()
	for len(rest) > 0 {
		var reply []byte
		if reply, rest, err = cut(rest); err != nil {
			return nil, err
		}
		replies = append(replies, strings.TrimSuffix(string(reply), "\r\n"))
	}
	return replies, nil
}

// want runs a pipeline whose replies are known.
func want(t *testing.T, s commander, pairs ...string) {
	t.Helper()
	var lines []string
	for i := 0; i < len(pairs); i += 2 {
		lines = append(lines, pairs[i])
	}
	replies, err := run(s, lines...)
	if err != nil {
		t.Fatal(err)
	}
	if len(replies) != len(lines) {
		t.Fatalf("%d replies to %d commands: %q", len(replies), len(lines), replies)
	}
	for i, reply := range replies {
		if reply != pairs[2*i+1] {
			t.Errorf("%s: %q, want %q", pairs[2*i], reply, pairs[2*i+1])
		}
	}
}

// session returns a session of a node.
func (n *testNode) session(tb testing.TB) *Session {
	tb.Helper()
	s := n.node.NewSession(1, "client:1", "")
	tb.Cleanup(s.Close)
	return s
}
