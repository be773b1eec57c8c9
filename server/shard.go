package server

import (
	"context"
	"errors"
	"iter"

	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/partition"
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

// open returns the shards that are in memory.
func (s *Server) open() iter.Seq[*shard] {
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
	for h := range s.open() {
		n += h.store.Bytes()
	}
	return n
}

// count returns how many sets there are, and how many of them expire.
func (s *Server) count() (all, expiring int64) {
	for h := range s.open() {
		n, e := h.store.Len()
		all, expiring = all+n, expiring+e
	}
	return all, expiring
}

// stats returns the sums of what the partitions did.
func (s *Server) stats() (sum partition.Stats) {
	for h := range s.open() {
		one := h.partition.Stats()
		sum.Records += one.Records
		sum.Bytes += one.Bytes
		sum.Effects += one.Effects
		sum.Waited += one.Waited
	}
	return sum
}

// broken returns why nothing can be changed at the moment, nil if it can.
func (s *Server) broken() error {
	var errs []error
	for h := range s.open() {
		errs = append(errs, h.partition.Broken())
	}
	return errors.Join(errs...)
}

// images returns how the writing of images goes.
func (s *Server) images() (sum command.ImageState) {
	for h := range s.open() {
		one := h.keeper.state()
		if one.Last.After(sum.Last) {
			sum.Last = one.Last
		}
		sum.Running = sum.Running || one.Running
		sum.Failed = sum.Failed || one.Failed
	}
	return sum
}
