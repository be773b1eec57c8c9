package server

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/router"
)

// routes is a cluster as the router sees it.
type routes struct{ *node }

var _ router.Shards = routes{}

// Self implements router.Shards.
func (r routes) Self() string { return r.name }

// Partitions implements router.Shards.
func (r routes) Partitions() int { return len(r.server.shards) }

// Shard implements router.Shards.
func (r routes) Shard(i int) *router.Shard {
	if h := r.server.shards[i].Load(); h != nil {
		return h.route
	}
	return nil
}

// Leader implements router.Shards. Of a partition that is not held here it knows what the
// leader told.
func (r routes) Leader(i int) (leader partition.Leader) {
	if h := r.server.shards[i].Load(); h != nil {
		return h.partition.Leader()
	}
	for _, o := range r.alive() {
		if p := o.Partitions[i]; p.Leads && p.Epoch >= leader.Epoch {
			leader = partition.Leader{Node: o.Node, Address: o.Address, Epoch: p.Epoch}
		}
	}
	return leader
}

// Members implements router.Shards.
func (r routes) Members() []router.Member {
	own := router.Member{Name: r.name, Address: r.address, Alive: true}
	for i := range r.server.shards {
		own.Held = append(own.Held, r.server.shards[i].Load() != nil)
	}
	list := []router.Member{own}
	for _, o := range r.others() {
		m := router.Member{Name: o.Node, Address: o.Address, Alive: time.Since(o.Heard) <= silent}
		for _, p := range o.Partitions {
			m.Held = append(m.Held, p.Held)
		}
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b router.Member) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Applied implements router.Shards.
func (r routes) Applied(ctx context.Context) (list [][]uint64) {
	told, err := r.cluster.Ask(ctx)
	if err != nil {
		return nil
	}
	for _, m := range told {
		var one NodeStatus
		if m.Name == r.name || json.Unmarshal(m.About, &one) != nil {
			continue
		}
		var applied []uint64
		for _, p := range one.Partitions {
			applied = append(applied, p.Applied)
		}
		list = append(list, applied)
	}
	return list
}
