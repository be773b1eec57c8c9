package server

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/router"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// A shard is one partition of the sets: its log, its memory, its images, and commands on them.
type shard struct {
	server    *Server
	number    int
	log       log.Log
	store     *store.Store
	partition *partition.Partition
	keeper    *keeper
	env       *command.Env
	route     *router.Shard // nil if the server is alone
	ended     chan error    // why the partition cannot follow its log
	drawn     atomic.Value  // string: the engine's server that leads the log, as far as this server moved it
}

// openAlone brings images and log into memory.
func (h *shard) openAlone(ctx context.Context) (err error) {
	s := h.server
	h.store = store.New()
	config := partition.Config{Store: h.store, Log: h.log, Hash: s.newHash(), Report: s.report, Fatal: s.fatal}
	if h.keeper, err = newKeeper(h, &config); err != nil {
		return err
	}
	if h.partition, err = partition.Open(ctx, config); err != nil {
		return advise(err)
	}
	h.env = &command.Env{Host: s.host, Store: h.store, Partition: h.partition, Save: h.keeper.save, Images: h.keeper.state}
	return nil
}

// close ends the partition, then what is behind it.
func (h *shard) close() error {
	if h.partition != nil {
		h.partition.Close()
	}
	if h.keeper != nil {
		h.keeper.wait()
	}
	return h.log.Close()
}

// loaded returns the shards that are in memory.
func (s *Server) loaded() iter.Seq[*shard] {
	return func(yield func(*shard) bool) {
		for i := range s.shards {
			if h := s.shards[i].Load(); h != nil && !yield(h) {
				return
			}
		}
	}
}

// first returns the only shard of a server that is alone.
func (s *Server) first() *shard { return s.shards[0].Load() }

// bytes returns the memory of all sets.
func (s *Server) bytes() (n int64) {
	for h := range s.loaded() {
		n += h.env.Bytes()
	}
	return n
}

// totals returns the sums of all partitions.
func (s *Server) totals() (sum command.Totals) {
	for h := range s.loaded() {
		sum.Add(h.env.Totals())
	}
	return sum
}

// images returns how the writing of images goes.
func (s *Server) images() (sum command.ImageState) {
	for h := range s.loaded() {
		one := h.keeper.state()
		if one.Last.After(sum.Last) {
			sum.Last = one.Last
		}
		sum.Running = sum.Running || one.Running
		sum.Failed = sum.Failed || one.Failed
	}
	return sum
}
