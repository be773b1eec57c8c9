package clienttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/server"
)

// A member is a server of a cluster.
type member struct {
	server *server.Server
	cancel context.CancelFunc
	done   chan error
}

// stop ends a member, which hands over what it leads.
func (m *member) stop() error {
	m.cancel()
	return <-m.done
}

// startCluster runs three servers that redirect clients, until the test ends.
func startCluster(t *testing.T) []*member {
	t.Helper()
	var peers []string
	for i := range 3 {
		peers = append(peers, fmt.Sprintf("n%d=%s", i+1, freeAddr(t)))
	}
	members := make([]*member, len(peers))
	errs := make([]error, len(peers))
	var wg sync.WaitGroup
	for i := range members {
		wg.Go(func() { members[i], errs[i] = startMember(t, fmt.Sprintf("n%d", i+1), strings.Join(peers, ",")) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, m := range members {
			m.cancel()
		}
		for _, m := range members {
			<-m.done
		}
	})
	return members
}

func startMember(t *testing.T, name, peers string) (*member, error) {
	t.Helper()
	settings := server.NewSettings()
	for key, value := range map[string]string{
		"dir": filepath.Join(t.TempDir(), name), "addr": "127.0.0.1:0", "http": "off", "member": name, "peers": peers,
		"partitions": "6", "redirect": "yes",
	} {
		if err := settings.Set(key, value); err != nil {
			return nil, err
		}
	}
	s, err := server.Open(t.Context(), settings, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &member{server: s, cancel: cancel, done: make(chan error, 1)}
	go func() {
		m.done <- s.Serve(ctx)
		close(m.done)
	}()
	return m, nil
}

// freeAddr returns an address of the loopback that was free a moment ago.
func freeAddr(t *testing.T) string {
	t.Helper()
	for range 1000 {
		addr := fmt.Sprintf("127.0.0.1:%d", 19000+rand.IntN(1000)) // no port of those that connections take
		if l, err := net.Listen("tcp", addr); err == nil {
			_ = l.Close() // only its number is wanted
			return addr
		}
	}
	t.Fatal("no port is free")
	return ""
}

// clusterClient returns a client that asks the leaders itself.
func clusterClient(t *testing.T, members []*member, version int, change func(*redis.ClusterOptions)) *redis.ClusterClient {
	t.Helper()
	options := &redis.ClusterOptions{Protocol: version, MaxRedirects: 8, ReadTimeout: time.Minute, ClusterStateReloadInterval: 5 * time.Second}
	for _, m := range members {
		options.Addrs = append(options.Addrs, m.server.Addr().String())
	}
	if change != nil {
		change(options)
	}
	c := redis.NewClusterClient(options)
	t.Cleanup(func() { c.Close() })
	return c
}

// names returns names of keys in all partitions.
func names(prefix string) (list []string) {
	for i := range 40 {
		list = append(list, fmt.Sprint(prefix, i))
	}
	return list
}

// TestCluster has go-redis' client of Redis Cluster talk to three servers, then to two.
func TestCluster(t *testing.T) {
	effort.LongOnly(t)
	members := startCluster(t)
	balanced(t, members)
	for _, version := range []int{2, 3} {
		t.Run(fmt.Sprintf("RESP%d", version), func(t *testing.T) {
			c := clusterClient(t, members, version, nil)
			prefix := fmt.Sprint("v", version, "-")
			clusterCommands(t, c, prefix)
			clusterPipelines(t, c, prefix)
			clusterCopies(t, members, version, prefix)
		})
	}
	var clients []*redis.ClusterClient
	for _, version := range []int{2, 3} {
		clients = append(clients, clusterClient(t, members, version, nil))
	}
	clusterGoesOn(t, clients, members)
}

// balanced waits until each server leads two partitions, and says so to clients.
func balanced(t *testing.T, members []*member) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		even := true
		for _, m := range members {
			c := redis.NewClient(&redis.Options{Addr: m.server.Addr().String()})
			slots, err := c.ClusterSlots(t.Context()).Result() //nolint:staticcheck // it is what clients ask
			c.Close()
			led, copies := make(map[string]bool), 3
			for _, s := range slots {
				led[s.Nodes[0].Addr] = true
				copies = min(copies, len(s.Nodes))
			}
			even = even && err == nil && len(led) == 3 && copies == 3
		}
		if even {
			return
		}
		if time.Since(begun) > 3*time.Minute {
			t.Fatal("a server leads nothing")
		}
	}
}

// clusterCommands has commands of each family about keys of all partitions.
func clusterCommands(t *testing.T, c *redis.ClusterClient, prefix string) {
	t.Helper()
	ctx := t.Context()
	for _, name := range names(prefix) {
		added, err := c.BFAdd(ctx, "b"+name, "x").Result()
		want(t, added, err, true)
		found, err := c.BFMExists(ctx, "b"+name, "x", "y").Result()
		want(t, found, err, []bool{true, false})
		added, err = c.CFAdd(ctx, "c"+name, "x").Result()
		want(t, added, err, true)
		n, err := c.CFCount(ctx, "c"+name, "x").Result()
		want(t, n, err, 1)
		ok, err := c.Do(ctx, "EB.CREATE", "e"+name, "ITEMS", 1000).Text()
		want(t, ok, err, "OK")
		fresh, err := c.Do(ctx, "BF.ADD", "e"+name, "x").Bool()
		want(t, fresh, err, true)
	}
	shards, err := c.ClusterShards(ctx).Result()
	want(t, len(shards), err, 3)
	info, err := c.BFInfo(ctx, "b"+names(prefix)[0]).Result()
	want(t, info.ItemsInserted, err, 1)
	if err := c.Rename(ctx, "b"+prefix+"1", "b"+prefix+"2").Err(); err == nil || !strings.HasPrefix(err.Error(), "CROSSSLOT") {
		t.Error("keys of two partitions:", err)
	}
	if err := c.Rename(ctx, "b"+prefix+"1", "{b"+prefix+"1}").Err(); err != nil {
		t.Error("keys of one slot:", err)
	}
}

// clusterPipelines has pipelines and transactions about keys of several servers.
func clusterPipelines(t *testing.T, c *redis.ClusterClient, prefix string) {
	t.Helper()
	ctx := t.Context()
	pipe := c.Pipeline()
	var adds, asks []*redis.BoolCmd
	for i, name := range names(prefix) {
		for range i % 3 {
			adds = append(adds, pipe.BFAdd(ctx, "p"+name, i))
		}
		asks = append(asks, pipe.BFExists(ctx, "p"+name, i))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	for i, ask := range asks {
		if ask.Val() != (i%3 > 0) {
			t.Errorf("key %d: %v after %d adds", i, ask.Val(), i%3)
		}
	}
	first := 0
	for _, add := range adds {
		if add.Val() {
			first++
		}
	}
	if first != 26 {
		t.Errorf("%d of %d adds were the first of their key, want 26", first, len(adds))
	}
	var after *redis.BoolCmd
	if _, err := c.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		tx.CFAdd(ctx, "{"+prefix+"}1", "x")
		tx.CFAdd(ctx, "{"+prefix+"}2", "y")
		after = tx.CFExists(ctx, "{"+prefix+"}1", "x")
		return nil
	}); err != nil || !after.Val() {
		t.Error("a transaction:", err, after)
	}
}

// clusterCopies has reads answered by copies: the leader of a key does not get all of them.
func clusterCopies(t *testing.T, members []*member, version int, prefix string) {
	t.Helper()
	ctx := t.Context()
	c := clusterClient(t, members, version, func(o *redis.ClusterOptions) { o.ReadOnly, o.RouteRandomly = true, true })
	key := "b" + prefix + "7"
	leader, err := c.MasterForKey(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	if err := leader.BFAdd(ctx, key, "last").Err(); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) { // copies may be behind
		missing := 0
		for range 50 {
			if found, err := c.BFExists(ctx, key, "last").Result(); err != nil {
				t.Fatal(err)
			} else if !found {
				missing++
			}
		}
		if missing == 0 {
			break
		}
		if time.Since(begun) > 3*time.Minute {
			t.Fatal("copies do not have what was added")
		}
	}
	const reads = 300
	before := processed(t, leader)
	for range reads {
		found, err := c.BFExists(ctx, key, "last").Result()
		want(t, found, err, true)
	}
	if n := processed(t, leader) - before; n > reads*3/4 {
		t.Errorf("the leader has answered %d commands for %d reads of three copies", n, reads)
	}
}

// processed returns how many commands a server has had.
func processed(t *testing.T, c *redis.Client) int {
	t.Helper()
	text, err := c.Info(t.Context(), "stats").Result()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(text, "total_commands_processed:")
	n, err := strconv.Atoi(strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// clusterGoesOn ends the server that leads a key while clients write: they find the new leaders.
func clusterGoesOn(t *testing.T, clients []*redis.ClusterClient, members []*member) {
	t.Helper()
	leader, err := clients[0].MasterForKey(t.Context(), "g0")
	if err != nil {
		t.Fatal(err)
	}
	begun, ended := make(chan struct{}, 2*len(clients)), make(chan struct{})
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() {
			for round, left := 0, 3; left > 0 && !t.Failed(); round++ {
				writeAndRead(t, c, fmt.Sprintf("%d-%d", i, round))
				select {
				case <-ended:
					left--
				case begun <- struct{}{}:
				default:
				}
			}
		})
	}
	for range clients {
		<-begun
	}
	for _, m := range members {
		if m.server.Addr().String() == leader.Options().Addr {
			if err := m.stop(); err != nil {
				t.Error(err)
			}
		}
	}
	close(ended)
	wg.Wait()
}

// writeAndRead adds an item to a set of each partition, and asks for it.
func writeAndRead(t *testing.T, c *redis.ClusterClient, item string) {
	t.Helper()
	for _, name := range names("g") {
		persist(t, func() error { return c.BFAdd(t.Context(), name, item).Err() })
		persist(t, func() error {
			found, err := c.BFExists(t.Context(), name, item).Result()
			if err == nil && !found {
				t.Errorf("%s was added to %s and is missing", item, name)
			}
			return err
		})
	}
}

// persist tries again when a connection breaks. A client looks for the leaders only now and then
// unless a server tells it. Nothing else may fail.
func persist(t *testing.T, do func() error) {
	t.Helper()
	for begun := time.Now(); !t.Failed(); {
		err := do()
		var network *net.OpError
		switch {
		case err == nil:
			return
		case !errors.As(err, &network) && !errors.Is(err, io.EOF) || time.Since(begun) > 3*time.Minute:
			t.Error(err)
		}
		t.Log(err)
	}
}
