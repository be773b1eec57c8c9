package router

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
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

// TestWatchesOfAnotherLeader has the leader change between WATCH and EXEC.
func TestWatchesOfAnotherLeader(t *testing.T) {
	nodes := newReal(t, 2, 1)
	for _, n := range nodes {
		s := n.session(t)
		want(t, s, "SET k 1", "+OK")
		want(t, s, "WATCH k", "+OK", "MULTI", "+OK", "SET k 2", "+QUEUED", "EXEC", "*1\r\n+OK")
		want(t, s, "WATCH k", "+OK")
		old := leading(nodes, 0)
		if err := old.parts[0].HandOver(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		await(t, "another node leads", func() bool { l := leading(nodes, 0); return l != nil && l != old })
		want(t, s, "MULTI", "+OK", "SET k 3", "+QUEUED", "EXEC", "*-1", "GET k", "$1\r\n2")
		want(t, s, "MULTI", "+OK", "SET k 3", "+QUEUED", "EXEC", "*1\r\n+OK")
	}
}
