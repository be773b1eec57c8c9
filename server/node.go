package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	server  *Server
	cluster *cluster.Cluster
	name    string
	address string // where others reach it
	router  *router.Node
	stop    context.CancelFunc
	wg      sync.WaitGroup
}

// join makes the server one of a cluster, and returns when all partitions are in memory.
func (s *Server) join(ctx context.Context) error {
	if err := s.folder.check(s.mode()); err != nil {
		return err
	}
	n := &node{server: s}
	s.node = n
	config, err := s.clusterConfig()
	if err == nil {
		n.address, err = s.advertised()
	}
	if err != nil {
		return err
	}
	n.name = config.Name
	connect := cluster.Start
	if config.URLs != "" {
		connect = cluster.Connect
	}
	if n.cluster, err = connect(ctx, config); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	if err := s.folder.mark(s.mode()); err != nil {
		return err
	}
	partitions, secret, err := n.settle(ctx)
	if err != nil {
		return err
	}
	s.shards = make([]atomic.Pointer[shard], partitions)
	n.route(string(secret))
	return n.openAll(ctx)
}

// route makes the way of commands to partitions.
func (n *node) route(secret string) {
	s := n.server
	s.host.Cluster = &command.Cluster{Totals: s.totals, Bytes: s.bytes}
	home := &command.Env{Host: s.host, Store: store.New(), Images: s.images, Save: func() error { return nil }}
	n.router = router.New(router.Config{
		Shards: routes{n}, Home: home, Secret: secret, Redirect: s.settings.On("redirect"), Status: n.statusText,
		Dial: s.hooks.dial, Patience: s.hooks.patience,
	})
}

// clusterConfig returns what the settings say about the cluster.
func (s *Server) clusterConfig() (cluster.Config, error) {
	dir := filepath.Join(s.folder.path, "cluster")
	c := cluster.Config{Namespace: s.settings.Get("namespace"), Cache: filepath.Join(dir, "images"), Logger: s.logger}
	if s.settings.Get("nats") == "" {
		c.Name, c.Addr, c.Dir = s.settings.Get("member"), s.settings.Get("peers-addr"), filepath.Join(dir, "jetstream")
		return c, s.readPeers(&c)
	}
	c.URLs, c.Credentials, c.Name = s.settings.Get("nats"), s.settings.Get("nats-creds"), s.settings.Get("node")
	if c.Name == "" {
		name, err := os.Hostname()
		if err != nil {
			return c, fmt.Errorf("server: name this server with --node: %w", err)
		}
		c.Name = name
	}
	return c, nil
}

// localSecret is that of members that cannot be reached from other machines.
const localSecret = "everbloom"

// readPeers reads the list of members.
func (s *Server) readPeers(c *cluster.Config) error {
	local := true
	for one := range strings.SplitSeq(s.settings.Get("peers"), ",") {
		name, addr, _ := strings.Cut(strings.TrimSpace(one), "=")
		host, _, err := net.SplitHostPort(addr)
		if name == "" || err != nil {
			return fmt.Errorf("server: peers: %q is not a name and an address such as n1=10.0.0.1:7000", one)
		}
		c.Peers = append(c.Peers, cluster.Peer{Name: name, Addr: addr})
		local = local && isLoopback(host)
	}
	path := s.settings.Get("peers-secret")
	switch {
	case path != "":
		secret, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("server: peers-secret: %w", err)
		}
		c.Secret = strings.TrimSpace(string(secret))
	case local:
		c.Secret = localSecret
	default:
		return errors.New("server: peers can be reached from other machines: name a file with a secret that all members share with --peers-secret")
	}
	return nil
}

// advertised returns where other servers and clients reach this one.
func (s *Server) advertised() (string, error) {
	if addr := s.settings.Get("advertise"); addr != "" {
		return addr, nil
	}
	addr := s.listeners[0].Addr().String()
	host, _, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err != nil || ip.IsUnspecified() {
		return "", fmt.Errorf("server: %s is not an address that others can connect to: name one with --advertise", addr)
	}
	return addr, nil
}

// settle agrees with the other servers on what is fixed at the first start: the number of
// partitions, and a secret by which servers know each other.
func (n *node) settle(ctx context.Context) (partitions int, secret []byte, err error) {
	asked := n.server.settings.Number("partitions")
	text, err := n.cluster.Settle(ctx, "partitions", strconv.AppendUint(nil, asked, 10))
	if err == nil {
		secret, err = n.cluster.Settle(ctx, "secret", []byte(rand.Text()))
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

// openAll opens all partitions and goes on to keep them open.
func (n *node) openAll(ctx context.Context) error {
	own, stop := context.WithCancel(context.WithoutCancel(ctx))
	n.stop = stop
	opened := make(chan struct{}, len(n.server.shards))
	for i := range n.server.shards {
		n.wg.Go(func() { n.attend(own, i, opened) })
	}
	for range n.server.shards {
		select {
		case <-opened:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	n.wg.Go(func() { n.balance(own) })
	n.wg.Go(func() { n.draw(own) })
	return n.cluster.Announce(n.announcement)
}

// openAgain is how long a partition that could not be opened is left alone.
const openAgain = time.Second

// attend keeps a partition open until ctx ends. One that cannot follow its log any more, such
// as behind a gap, is opened anew from images.
func (n *node) attend(ctx context.Context, i int, opened chan<- struct{}) {
	first := sync.OnceFunc(func() { opened <- struct{}{} })
	for ctx.Err() == nil {
		h, err := n.open(ctx, i)
		if err != nil {
			n.server.logger.Warn("a partition cannot be opened", "partition", i, "error", err)
			wait(ctx, openAgain)
			continue
		}
		n.server.shards[i].Store(h)
		first()
		saving, stop := context.WithCancel(ctx)
		go h.keeper.run(saving)
		select {
		case <-ctx.Done():
		case err := <-h.ended:
			n.server.logger.Warn("a partition is loaded again", "partition", i, "error", err)
		}
		stop()
		n.server.shards[i].Store(nil)
		if err := h.close(); err != nil {
			n.server.logger.Warn("closing a partition failed", "partition", i, "error", err)
		}
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

// load does what open is about, with a log that is open.
func (n *node) load(ctx context.Context, h *shard, shared log.Shared) (err error) {
	s, i := n.server, h.number
	images := func(ctx context.Context) (image.Disk, error) { return n.cluster.Images(ctx, i) }
	config := partition.Config{
		Store: h.store, Log: shared, Hash: s.newHash(), Fatal: s.fatal,
		Report: func(text string, err error) { s.logger.Warn(text, "partition", i, "error", err) },
		Node:   n.name, Address: n.address, Ended: func(err error) { h.ended <- err }, Prefer: n.patience, Clock: s.hooks.clock,
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
