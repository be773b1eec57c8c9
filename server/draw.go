package server

import (
	"context"
	"time"
)

const (
	lookForLogs = time.Second
	lookSoon    = 3 * time.Second  // at logs that are not led where they should be
	lookAgain   = 10 * time.Second // at others
)

// draw has the logs of the partitions that this server leads led by the engine's server that it
// is connected to. Then the end of another server does not stop them: the engine needs longer
// than a lease to choose another leader of a log.
func (n *node) draw(ctx context.Context) {
	next := make([]time.Time, len(n.server.shards))
	for {
		wait(ctx, lookForLogs)
		if ctx.Err() != nil {
			return
		}
		for h := range n.server.loaded() {
			if !h.partition.Leads() {
				h.drawn.Store("")
				next[h.number] = time.Time{}
			} else if time.Now().After(next[h.number]) {
				next[h.number] = time.Now().Add(n.drawOne(ctx, h))
			}
		}
	}
}

// drawOne moves the leader of one log, unless it is there, and returns when to look again.
func (n *node) drawOne(ctx context.Context, h *shard) time.Duration {
	err := n.cluster.Draw(ctx, h.number)
	if err != nil {
		n.server.logger.Info("the leader of a log cannot be moved: trying again", "partition", h.number, "error", err)
		return lookSoon
	}
	s, err := n.cluster.State(ctx, h.number)
	if err != nil {
		return lookSoon
	}
	h.drawn.Store(s.Leader)
	if s.Leader != n.cluster.Server() {
		return lookSoon
	}
	return lookAgain
}
