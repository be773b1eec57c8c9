package server

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// With copies 1 a node holds only the partitions that it leads. It learns from the
// announcements of others whether a partition has a leader, and opens one that has none, or
// one of a node that leads many more. The lease decides which node leads: one that was not needed
// lets the partition go.

const (
	meetTime = 3 * time.Second        // to hear of other nodes, before partitions are opened
	lookEach = 500 * time.Millisecond // at partitions that are not held
	turnTime = 3 * time.Second        // that the node before has to open a partition
	loseTime = 20 * time.Second       // after which a partition that another node leads is let go
)

// attendLed is attend for a node that holds what it leads.
func (n *node) attendLed(ctx context.Context, i int) {
	var vacant time.Time // since when no node leads
	wait(ctx, meetTime)
	for wait(ctx, lookEach); ctx.Err() == nil; wait(ctx, lookEach) {
		alive := n.alive()
		if led(alive, i) {
			vacant = time.Time{}
			if !n.pulls(alive, i) {
				continue
			}
		} else {
			if vacant.IsZero() {
				vacant = time.Now()
			}
			if held(alive, i) || time.Since(vacant) < time.Duration(n.turn(alive, i))*turnTime {
				continue
			}
		}
		n.hold(ctx, i)
		vacant = time.Time{}
	}
}

// hold holds a partition as long as this node leads it.
func (n *node) hold(ctx context.Context, i int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n.wg.Go(func() {
		for last := time.Now(); ctx.Err() == nil; wait(ctx, lookEach) {
			if h := n.server.shards[i].Load(); h == nil || h.partition.Leads() || !led(n.alive(), i) {
				last = time.Now()
			}
			if time.Since(last) > loseTime {
				cancel()
			}
		}
	})
	n.attendOnce(ctx, i, func() {})
}

// led reports whether one of some nodes leads a partition.
func led(nodes []NodeStatus, i int) bool {
	return slices.ContainsFunc(nodes, func(o NodeStatus) bool { return o.Partitions[i].Leads })
}

// held reports whether one of some nodes holds a partition.
func held(nodes []NodeStatus, i int) bool {
	return slices.ContainsFunc(nodes, func(o NodeStatus) bool { return o.Partitions[i].Held })
}

// pulls reports whether this node is to take a partition from one that leads two more than
// it would: it opens the partition, and the leader sees that and hands it over. One node at a time
// does, for one partition.
func (n *node) pulls(alive []NodeStatus, i int) bool {
	own := n.status()
	from := slices.IndexFunc(alive, func(o NodeStatus) bool { return o.Partitions[i].Leads })
	if n.turn(alive, i) != 0 || own.holding() > own.Leading() || alive[from].Leading() < own.Leading()+2 {
		return false
	}
	first := slices.IndexFunc(alive[from].Partitions, func(p PartitionStatus) bool { return p.Leads })
	return first == i && !slices.ContainsFunc(alive, func(o NodeStatus) bool { return o.Partitions[i].Held && !o.Partitions[i].Leads })
}

// turn returns how many other nodes are to open a partition before this one: those that lead
// fewer come first, and of equals another one for each partition.
func (n *node) turn(alive []NodeStatus, i int) int {
	nodes := append(slices.Clone(alive), n.status())
	slices.SortFunc(nodes, func(a, b NodeStatus) int { return cmp.Compare(a.Node, b.Node) })
	order := make(map[string]int)
	for j, o := range nodes {
		order[o.Node] = (j + len(nodes) - i%len(nodes)) % len(nodes)
	}
	slices.SortFunc(nodes, func(a, b NodeStatus) int {
		return cmp.Or(cmp.Compare(a.holding(), b.holding()), cmp.Compare(order[a.Node], order[b.Node]))
	})
	return slices.IndexFunc(nodes, func(o NodeStatus) bool { return o.Node == n.name })
}

// holding returns how many partitions a node holds.
func (o NodeStatus) holding() (count int) {
	for _, p := range o.Partitions {
		if p.Held {
			count++
		}
	}
	return count
}
