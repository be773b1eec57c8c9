package router

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// realLease is the lease of partitions that follow logs in these tests.
const realLease = 300 * time.Millisecond

// A realNode is a testNode whose partitions follow logs of their own.
type realNode struct {
	*testNode
	parts []*partition.Partition
	logs  []*log.Node
}

func (n *realNode) Leader(i int) partition.Leader { return n.parts[i].Leader() }

// newReal returns nodes with partitions that follow the same logs.
func newReal(t *testing.T, nodes, partitions int) []*realNode {
	t.Helper()
	logs := make([]log.Memory, partitions)
	c := &testCluster{}
	var list []*realNode
	for number := range nodes {
		n := &realNode{testNode: &testNode{cluster: c, number: number}}
		n.listen(t)
		for i := range logs {
			l, st := logs[i].Node(), store.New()
			p, err := partition.Open(t.Context(), partition.Config{
				Store: st, Log: l, Hash: filter.SipHash([16]byte{1}), Node: name(number), Address: n.address, Lease: realLease,
			})
			if err != nil {
				t.Fatal(err)
			}
			n.parts, n.logs, c.stores = append(n.parts, p), append(n.logs, l), append(c.stores, st)
			c.parts = append(c.parts, p)
		}
		n.start(t, n, func(i int) *Shard {
			return &Shard{Number: i, Env: newEnv(n.home.Host, c.stores[number*partitions+i], n.parts[i])}
		}, partitions, nil)
		list = append(list, n)
		c.nodes = append(c.nodes, n.testNode)
	}
	t.Cleanup(func() {
		for _, n := range list {
			for _, l := range n.logs {
				l.Heal()
			}
		}
		for _, p := range c.parts {
			p.Close()
		}
	})
	for i := range partitions {
		await(t, "a node leads", func() bool { return leading(list, i) != nil })
	}
	return list
}

// leading returns the node that leads a partition.
func leading(list []*realNode, i int) *realNode {
	for _, n := range list {
		if n.parts[i].Leads() {
			return n
		}
	}
	return nil
}

// await waits until something holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come about:", what)
		}
	}
}

// TestElections adds items while leaders hand over, and are cut off from their logs: what was
// acknowledged is there, once, and reads of all nodes see it.
func TestElections(t *testing.T) {
	const partitions = 3
	nodes := newReal(t, 3, partitions)
	for _, n := range nodes {
		exactCounts(t, n.testNode)
	}
	stop := make(chan struct{})
	var movers, wg sync.WaitGroup
	movers.Go(func() { disturb(nodes, stop) })
	unknown := make([]int, 3)
	for client := range nodes {
		wg.Go(func() { unknown[client] = addAndAsk(t, nodes, client) })
	}
	wg.Wait()
	close(stop)
	movers.Wait()
	t.Log("unknown outcomes:", unknown)
}

// disturb moves leaders until stop is closed.
func disturb(nodes []*realNode, stop <-chan struct{}) {
	rng := rand.New(rand.NewPCG(1, 9))
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(rng.IntN(100)) * time.Millisecond):
		}
		i := rng.IntN(len(nodes[0].parts))
		n := leading(nodes, i)
		switch {
		case n == nil:
		case rng.IntN(3) > 0:
			_ = n.parts[i].HandOver(context.Background(), nodes[rng.IntN(len(nodes))].Self()) // another may lead by now
		default:
			n.logs[i].Cut()
			time.Sleep(2 * realLease)
			n.logs[i].Heal()
		}
	}
}

// addAndAsk adds items at one node and asks another. It returns how many batches ended without
// a reply.
func addAndAsk(t *testing.T, nodes []*realNode, client int) (unknown int) {
	t.Helper()
	writer, reader := nodes[client].session(t), nodes[(client+1)%len(nodes)].session(t)
	for round := range effort.PickVariant(15, 60, 1000) {
		var adds, asks []string
		for i := range 10 {
			adds = append(adds, fmt.Sprintf("CF.ADD set%d %d-%d-%d", i, client, round, i))
			asks = append(asks, fmt.Sprintf("CF.COUNT set%d %d-%d-%d", i, client, round, i))
		}
		replies, err := run(writer, adds...)
		if errors.Is(err, errUnknown) {
			unknown++
			writer = nodes[client].session(t)
			continue
		}
		if err != nil || strings.Contains(fmt.Sprint(replies), "-") {
			t.Errorf("%q: %v", replies, err)
			return unknown
		}
		if replies, err = run(reader, asks...); err != nil {
			t.Error(err)
			return unknown
		}
		for i, reply := range replies {
			if reply != ":1" {
				t.Errorf("%s: %s", asks[i], reply)
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	return unknown
}

// handOver makes another node lead a partition.
func handOver(t *testing.T, nodes []*realNode, i int, to *realNode) {
	t.Helper()
	for !to.parts[i].Leads() {
		if n := leading(nodes, i); n != nil && n != to {
			_ = n.parts[i].HandOver(t.Context(), to.Self()) // it is tried again
		}
		time.Sleep(time.Millisecond)
	}
}

// TestWatchesOfTwoLeaders has the leader change between two WATCHes: the second leader has one
// of them only.
func TestWatchesOfTwoLeaders(t *testing.T) {
	nodes := newReal(t, 2, 1)
	s, other := nodes[0].session(t), nodes[0].session(t)
	handOver(t, nodes, 0, nodes[0])
	want(t, s, "WATCH j", "+OK")
	handOver(t, nodes, 0, nodes[1])
	want(t, s, "WATCH k", "+OK")
	want(t, other, "SET j 1", "+OK")
	want(t, s, "MULTI", "+OK", "SET k 1", "+QUEUED", "EXEC", "*-1", "GET k", "$-1")
}

// TestLeadLostBeforeTheCommit has the partition refuse a unit, after reads in the same batch
// were answered. All of it runs at the leader, and nothing is left of it here.
func TestLeadLostBeforeTheCommit(t *testing.T) {
	nodes := newReal(t, 2, 1)
	here, there := nodes[0], nodes[1]
	handOver(t, nodes, 0, there)
	var asked atomic.Int64
	here.shards[0].lead = func() uint64 {
		if asked.Add(1) <= 3 { // to place the commands, to run them, behind the reads
			return 1
		}
		return here.parts[0].Epoch()
	}
	s := here.session(t)
	want(t, s, "GET k", "$-1", "SET k 1", "+OK", "GET k", "$1\r\n1")
	asked.Store(0)
	want(t, s, "MULTI", "+OK", "SET k 2", "+QUEUED", "EXEC", "*1\r\n+OK")
	if asked.Load() <= 3 || s.peers == nil {
		t.Error("nothing was forwarded")
	}
	handOver(t, nodes, 0, here)
	want(t, s, "GET k", "$1\r\n2", "SET k 3", "+OK")
}

// TestLeadLostWhileReading has the lease end while reads run: their replies are those of the
// leader.
func TestLeadLostWhileReading(t *testing.T) {
	for _, now := range []uint64{0, 2} {
		c := newCluster(t, 2, 1, nil)
		st, p := openPartition(t, new(log.Memory))
		defer p.Close()
		c.nodes[1].shards[0].Env = newEnv(c.nodes[1].home.Host, st, p)
		s := c.nodes[0].session(t)
		want(t, s, "SET k old", "+OK")
		c.move(0, 1)
		want(t, s, "SET k new", "+OK")
		asked := 0
		c.nodes[0].shards[0].lead = func() uint64 {
			if asked++; asked <= 2 { // to place the commands, to run them
				return 1
			} else if asked == 3 {
				return now
			}
			return 0
		}
		want(t, s, "GET k", "$3\r\nnew", "EXISTS k", ":1")
		if asked < 3 {
			t.Error("the lease was not looked at behind the reads")
		}
	}
}

// TestWatchesOfAnotherLeader has the leader change between WATCH and EXEC.
func TestWatchesOfAnotherLeader(t *testing.T) {
	nodes := newReal(t, 2, 1)
	for _, n := range nodes {
		s := n.session(t)
		want(t, s, "SET k 1", "+OK")
		want(t, s, "WATCH k", "+OK", "MULTI", "+OK", "SET k 2", "+QUEUED", "EXEC", "*1\r\n+OK")
		want(t, s, "WATCH k", "+OK")
		old := leading(nodes, 0)
		await(t, "another node leads", func() bool {
			_ = old.parts[0].HandOver(t.Context(), "") // again if the machine was too slow for the other one
			l := leading(nodes, 0)
			return l != nil && l != old
		})
		want(t, s, "MULTI", "+OK", "SET k 3", "+QUEUED", "EXEC", "*-1", "GET k", "$1\r\n2")
		want(t, s, "MULTI", "+OK", "SET k 3", "+QUEUED", "EXEC", "*1\r\n+OK")
	}
}
