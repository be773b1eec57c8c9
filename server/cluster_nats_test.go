package server

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/everbloom-go/everbloom/internal/effort"
)

// startNATS runs three servers as an operator does, until the test ends.
func startNATS(t *testing.T) (servers []*server.Server, urls string) {
	t.Helper()
	var routes, addrs []string
	for range 3 {
		routes, addrs = append(routes, lowAddr(t)), append(addrs, lowAddr(t))
	}
	for i := range routes {
		port := func(addr string) (n int) {
			_, _ = fmt.Sscanf(addr, "127.0.0.1:%d", &n) // lowAddr has such
			return n
		}
		o := &server.Options{
			ServerName: fmt.Sprint("nats", i), Host: "127.0.0.1", Port: port(addrs[i]), NoSigs: true, NoLog: true,
			JetStream: true, StoreDir: t.TempDir(), SyncAlways: true, MaxPayload: 8 << 20,
			Cluster: server.ClusterOpts{Name: "operator", Host: "127.0.0.1", Port: port(routes[i])},
		}
		for _, route := range routes {
			o.Routes = append(o.Routes, &url.URL{Scheme: "nats-route", Host: route})
		}
		s, err := server.NewServer(o)
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		servers = append(servers, s)
	}
	return servers, "nats://" + strings.Join(addrs, ",nats://")
}

// TestClusterNATS has servers on NATS servers of an operator: they go on without one of these and
// without one of their own, and do not see those of another namespace.
func TestClusterNATS(t *testing.T) {
	effort.LongOnly(t)
	servers, urls := startNATS(t)
	c := newTrial(t, 3, "member", "", "peers", "", "peers-addr", "", "nats", urls)
	for _, n := range c.nodes {
		n.settings = []string{"node", n.name}
	}
	c.start(0, 1, 2)
	c.whole()
	c.write(0, "nats", 0, 10)
	other := func() (*Server, error) {
		return open(t, "nats", urls, "node", "n1", "namespace", "other", "partitions", "1", "dir", c.dir+"/other")
	}
	alone, err := other()
	if err != nil {
		t.Fatal(err)
	}
	stop := serve(alone)
	a := dial(t, alone.Addr().String())
	if got := a.do("SET", "x", "y") + a.do("DBSIZE"); got != "+OK:1" {
		t.Error("another namespace:", got)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if got := c.must(0, "DBSIZE"); got != fmt.Sprint(":", c.partitions) {
		t.Error("the first namespace:", got)
	}
	second, err := open(t, "nats", urls, "node", "n1", "dir", c.dir+"/second")
	if err == nil || !strings.Contains(err.Error(), "a node with the name n1 runs already") {
		t.Error("a second n1:", err)
		if err == nil {
			_ = second.release() // the test has failed
		}
	}
	servers[0].Shutdown()
	servers[0].WaitForShutdown()
	c.persist(1, "nats", 10, 20)
	c.kill(0)
	c.led(1, 2)
	c.persist(1, "nats", 20, 30)
	c.start(0)
	c.whole()
	for i := range c.nodes {
		c.has(i, "nats", 30)
	}
	if alone, err = other(); err != nil {
		t.Fatal(err)
	}
	stop = serve(alone)
	if got := dial(t, alone.Addr().String()).do("GET", "x"); got != `"y"` {
		t.Error("another namespace, again:", got)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// persist adds items to a set of each partition. What is not known to be done is done again: sets
// of exact counts would tell, this one asks only whether items are there.
func (c *trial) persist(i int, prefix string, from, to int) {
	c.t.Helper()
	for p := range c.partitions {
		words := []string{"CF.INSERT", c.key(prefix, p), "ITEMS"}
		for item := range to - from {
			words = append(words, fmt.Sprint("item", from+item))
		}
		c.until("it is stored", func() error {
			got, err := c.ask(i, words...)
			if err == nil && !strings.HasPrefix(got, "[") {
				err = fmt.Errorf("%s: %w", got, errNotYet)
			}
			return err
		})
	}
}

// TestFolderOfAnotherMode has folders of each mode, which the others refuse.
func TestFolderOfAnotherMode(t *testing.T) {
	ways := [][]string{
		{"log", "jetstream"},
		{"log", "file"},
		{"member", "n1", "peers", "n1=127.0.0.1:1,n2=127.0.0.1:2"},
		{"member", "n2", "peers", "n1=127.0.0.1:1,n2=127.0.0.1:2"},
		{"nats", "nats://127.0.0.1:1"},
		{"nats", "nats://127.0.0.1:1", "namespace", "other"},
	}
	for i, made := range ways {
		dir := t.TempDir()
		settings := NewSettings()
		for j := 0; j < len(made); j += 2 {
			if err := settings.Set(made[j], made[j+1]); err != nil {
				t.Fatal(err)
			}
		}
		if err := (&folder{path: dir}).mark((&Server{settings: settings}).mode()); err != nil {
			t.Fatal(err)
		}
		for j, asked := range ways {
			if i == j {
				continue
			}
			s, err := open(t, append([]string{"dir", dir}, asked...)...)
			if err == nil {
				_ = s.release() // the test has failed
			}
			if err == nil || !strings.Contains(err.Error(), "was created for a server") || !strings.Contains(err.Error(), "everbloom import") {
				t.Errorf("%q in a folder of %q: %v", asked, made, err)
			}
		}
	}
}
