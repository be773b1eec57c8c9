package server

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/partition"
)

// patience is how much longer this server waits until it claims a partition: those that lead
// few of them come first.
func (n *node) patience() time.Duration {
	count := 0
	for h := range n.server.loaded() {
		if h.partition.Leads() {
			count++
		}
	}
	return time.Duration(count) * 50 * time.Millisecond
}

const (
	balanceEvery = 2 * time.Second
	handOverTime = 5 * time.Second
	nearEnough   = 10_000 // records that a server may be behind to be given a partition
)

// balance hands partitions over while another server leads two less than this one.
func (n *node) balance(ctx context.Context) {
	for {
		wait(ctx, balanceEvery)
		if ctx.Err() != nil {
			return
		}
		own := n.status()
		n.raise(ctx, own)
		if i, to := surplus(own, n.alive()); to != "" {
			n.handOver(ctx, i, to)
		}
	}
}

// surplus returns a partition that a server is to hand over, and to which of the others: one that
// leads two less at least, and has nearly all of it in memory. Those that lead the fewest come
// first, but with copies 1 they may hold nothing else yet.
func surplus(own NodeStatus, others []NodeStatus) (partition int, to string) {
	slices.SortStableFunc(others, byLeading)
	for _, o := range others {
		if own.Leading() < o.Leading()+2 {
			break
		}
		for i, p := range own.Partitions {
			if q := o.Partitions[i]; p.Leads && q.Held && q.Applied+nearEnough >= p.Applied {
				return i, o.Node
			}
		}
	}
	return 0, ""
}

// byLeading puts the server that leads fewer partitions first.
func byLeading(a, b NodeStatus) int { return a.Leading() - b.Leading() }

// raise has the logs of the partitions that this server leads take records of the level that
// all servers read: an upgrade is complete. Servers that are away count, and members that were
// never heard.
func (n *node) raise(ctx context.Context, own NodeStatus) {
	others := n.others()
	if len(others)+1 < len(n.members) {
		return
	}
	level := own.Level
	for _, o := range others {
		level = min(level, o.Level)
	}
	for _, p := range own.Partitions {
		if h := n.server.shards[p.Number].Load(); h != nil && p.Leads && p.Level < level {
			if err := h.partition.Raise(ctx, level); err != nil && !errors.Is(err, partition.ErrNotLeading) {
				n.server.logger.Warn("raising the level of records failed", "partition", p.Number, "level", level, "error", err)
			}
		}
	}
}

const (
	// drainTime is how long a server goes on that leads nothing any more, so that others hear of
	// the new leaders before it closes their connections.
	drainTime = 300 * time.Millisecond
	heirEvery = 10 * time.Millisecond // it is looked whether another server leads
)

// handOverAll gives all partitions to others, before the server ends.
func (n *node) handOverAll() {
	ctx, cancel := context.WithTimeout(context.Background(), handOverTime)
	defer cancel()
	to := "" // any
	if alive := n.alive(); len(alive) > 0 {
		to = slices.MinFunc(alive, byLeading).Node
	}
	var wg sync.WaitGroup
	for i := range n.server.shards {
		if h := n.server.shards[i].Load(); h != nil && h.partition.Leads() {
			wg.Go(func() {
				n.handOver(ctx, i, to)
				n.awaitHeir(ctx, h)
			})
		}
	}
	wg.Wait()
	wait(ctx, drainTime)
}

// awaitHeir waits until another server leads a partition. If this one ended before, its log would
// have to elect a leader first, and clients that wait here would not be told where to go.
func (n *node) awaitHeir(ctx context.Context, h *shard) {
	for ctx.Err() == nil && len(n.alive()) > 0 {
		if l := h.partition.Leader(); l.Node != "" && l.Node != n.name {
			return
		}
		wait(ctx, heirEvery)
	}
}

// handOver has another server lead a partition.
func (n *node) handOver(ctx context.Context, i int, to string) {
	h := n.server.shards[i].Load()
	if h == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, handOverTime)
	defer cancel()
	if err := h.partition.HandOver(ctx, to); err != nil {
		n.server.logger.Warn("handing a partition over failed", "partition", i, "to", to, "error", err)
	}
}
