package server

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/cluster"
	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/image"
	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/router"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// A node is a server as one of several that share logs.
type node struct {
	server   *Server
	cluster  *cluster.Cluster
	name     string
	address  string // where others reach it
	router   *router.Node
	hearsay  hearsay
	members  []string     // that the settings name
	failed   atomic.Int64 // when it was said last that another server cannot be reached, in nanoseconds
	logBytes int64        // that the log of a partition may take
	stop     context.CancelFunc
	wg       sync.WaitGroup
}

// join makes the server one of a cluster, and returns when all partitions are in memory.
func (s *Server) join(ctx context.Context) error {
	if err := s.folder.check(s.mode()); err != nil {
		return err
	}
	n := &node{server: s}
	s.node = n
	encryption, err := s.peerTLS()
	if err != nil {
		return err
	}
	config, err := s.clusterConfig(encryption)
	if err != nil {
		return err
	}
	if n.address, err = s.advertised(encryption != nil); err != nil {
		return err
	}
	n.name = config.Name
	for _, p := range config.Peers {
		n.members = append(n.members, p.Name)
	}
	connect := cluster.Start
	if config.URLs != "" {
		connect = cluster.Connect
	}
	if n.cluster, err = connect(ctx, config); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	if err := n.cluster.CheckName(ctx); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	n.logBytes = n.cluster.LogBytes()
	n.checkImageAfter()
	if err := s.folder.mark(s.mode()); err != nil {
		return err
	}
	partitions, secret, err := n.agree(ctx)
	if err != nil {
		return err
	}
	s.shards = make([]atomic.Pointer[shard], partitions)
	n.route(string(secret), encryption)
	return n.openAll(ctx)
}

// route makes the way of commands to partitions.
func (n *node) route(secret string, t *tls.Config) {
	s := n.server
	s.host.Cluster = &command.Cluster{Totals: s.totals, Bytes: s.bytes}
	home := &command.Env{Host: s.host, Store: store.New(), Images: s.images, Save: func() error { return nil }}
	n.router = router.New(router.Config{
		Shards: routes{n}, Home: home, Secret: secret, Redirect: s.settings.On("redirect"), Status: n.statusText,
		Dial: s.dialer(t), Patience: s.hooks.patience, Report: n.unreached,
	})
}

// agree agrees with the other servers on what is fixed at the first start: the number of
// partitions, and a secret by which servers know each other.
func (n *node) agree(ctx context.Context) (partitions int, secret []byte, err error) {
	asked := n.server.settings.Number("partitions")
	text, err := n.cluster.Agree(ctx, "partitions", strconv.AppendUint(nil, asked, 10))
	if err == nil {
		secret, err = n.cluster.Agree(ctx, "secret", []byte(rand.Text()))
	}
	if err == nil {
		partitions, err = strconv.Atoi(string(text))
	}
	if err != nil {
		return 0, nil, fmt.Errorf("server: %w", err)
	}
	if uint64(partitions) != asked {
		n.server.logger.Warn("the number of partitions was fixed at the first start", "asked", asked, "partitions", partitions)
	}
	return partitions, secret, nil
}

// openAll opens the partitions and goes on to keep them open.
func (n *node) openAll(ctx context.Context) error {
	own, stop := context.WithCancel(context.WithoutCancel(ctx))
	n.stop = stop
	if err := n.cluster.Announce(n.announcement); err != nil {
		return err
	}
	n.wg.Go(func() { n.balance(own) })
	n.wg.Go(func() { n.draw(own) })
	var all sync.WaitGroup
	for i := range n.server.shards {
		if n.server.settings.Get("copies") == "1" {
			n.wg.Go(func() { n.attendLed(own, i) })
			continue
		}
		all.Add(1)
		n.wg.Go(func() { n.attend(own, i, sync.OnceFunc(all.Done)) })
	}
	opened := make(chan struct{})
	go func() {
		all.Wait()
		close(opened)
	}()
	select {
	case <-opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// openAgain is how long a partition that could not be opened is left alone.
const openAgain = time.Second

// attend keeps a partition open until ctx ends. One that cannot follow its log any more, such
// as behind a gap, is opened anew from images.
func (n *node) attend(ctx context.Context, i int, opened func()) {
	defer opened() // or nothing is
	for ctx.Err() == nil {
		n.attendOnce(ctx, i, opened)
	}
}

// attendOnce opens a partition and keeps it open until ctx ends, or it cannot follow its log.
func (n *node) attendOnce(ctx context.Context, i int, opened func()) {
	s := n.server
	h, err := n.open(ctx, i)
	if err != nil {
		if ctx.Err() == nil {
			s.logger.Warn("a partition cannot be opened", "partition", i, "error", err)
		}
		wait(ctx, openAgain)
		return
	}
	s.shards[i].Store(h)
	opened()
	saving, stop := context.WithCancel(ctx)
	n.wg.Go(func() { h.keeper.run(saving) })
	select {
	case <-ctx.Done():
	case err := <-h.ended:
		s.logger.Warn("a partition is loaded again", "partition", i, "error", err)
	}
	stop()
	s.shards[i].Store(nil)
	if err := h.close(); err != nil {
		s.logger.Warn("closing a partition failed", "partition", i, "error", err)
	}
}

// open brings a partition into memory and follows it.
func (n *node) open(ctx context.Context, i int) (*shard, error) {
	shared, err := n.cluster.Log(ctx, i)
	if err != nil {
		return nil, err
	}
	h := &shard{server: n.server, number: i, log: shared, store: store.New(), ended: make(chan error, 1)}
	if err := n.load(ctx, h, shared); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// load reads images and log into memory, and starts the partition.
func (n *node) load(ctx context.Context, h *shard, shared log.Shared) (err error) {
	s, i := n.server, h.number
	images := func(ctx context.Context) (image.Disk, error) { return n.cluster.Images(ctx, i) }
	config := partition.Config{
		Store: h.store, Log: shared, Hash: s.newHash(), Fatal: s.fatal,
		Report: func(text string, err error) { s.logger.Warn(text, "partition", i, "error", err) },
		Node:   n.name, Address: n.address, Ended: func(err error) { h.ended <- err }, Prefer: n.patience, Clock: s.hooks.clock,
		Lease: s.hooks.lease, Highest: s.hooks.level,
	}
	if h.keeper, err = newSharedKeeper(ctx, h, images, &config); err != nil {
		return err
	}
	if h.partition, err = partition.Open(ctx, config); err != nil {
		return err
	}
	h.env = &command.Env{Host: s.host, Store: h.store, Partition: h.partition, Save: h.keeper.save, Images: h.keeper.state}
	h.route = &router.Shard{Number: i, Env: h.env}
	return nil
}

// wait waits for a while, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// close hands the partitions over that the node leads, and lets go of the others.
func (n *node) close() error {
	if n.router != nil {
		n.router.Close()
	}
	if n.stop != nil {
		n.stop()
	}
	n.wg.Wait()
	if n.cluster == nil {
		return nil
	}
	return n.cluster.Close()
}
