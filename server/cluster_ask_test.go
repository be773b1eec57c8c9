package server

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/router"
)

// An asker is a connection to a server that may fail.
type asker struct {
	conn net.Conn
	r    *bufio.Reader
}

// askTimeout is how long a reply may take: longer than commands wait for a leader.
const askTimeout = time.Minute

// dialTime is how long connecting may take.
const dialTime = 5 * time.Second

// newAsker connects to a server as a client beside it.
func (c *trial) newAsker(i int) (*asker, error) {
	dial := func(addr string) (net.Conn, error) { return net.DialTimeout("tcp", addr, dialTime) }
	if c.spaces != nil {
		dial = c.spaces.nodes[i].dial
	}
	conn, err := dial(c.nodes[i].addr)
	if err != nil {
		return nil, err
	}
	a := &asker{conn, bufio.NewReader(conn)}
	if c.login != nil {
		if reply, err := a.do(c.login...); err != nil || reply != "+OK" {
			_ = conn.Close() // it may not be open yet
			return nil, fmt.Errorf("login: %s: %w", reply, errors.Join(errNotYet, err))
		}
	}
	return a, nil
}

// do sends a command. After an error the connection is of no use.
func (a *asker) do(args ...string) (string, error) {
	if err := a.conn.SetDeadline(time.Now().Add(askTimeout)); err != nil {
		return "", err
	}
	if _, err := a.conn.Write(encode(args...)); err != nil {
		return "", err
	}
	return readReply(a.r)
}

// ask sends one command to a server.
func (c *trial) ask(i int, args ...string) (string, error) {
	a, err := c.newAsker(i)
	if err != nil {
		return "", err
	}
	defer a.conn.Close()
	return a.do(args...)
}

// must is ask for a command that succeeds. If there is no leader, or the server is not ready, it
// is sent again: nothing was done.
func (c *trial) must(i int, args ...string) string {
	c.t.Helper()
	reply, err := c.ask(i, args...)
	for begun := time.Now(); err == nil && (strings.HasPrefix(reply, "-CLUSTERDOWN") || strings.HasPrefix(reply, "-LOADING")) && time.Since(begun) < settleTime; {
		reply, err = c.ask(i, args...)
	}
	if err != nil || strings.HasPrefix(reply, "-") {
		c.t.Fatalf("%s: %q: %s %v", c.nodes[i].name, args, reply, err)
	}
	return reply
}

// local asks a server about its own copy.
func (c *trial) local(i int, args ...string) string {
	c.t.Helper()
	a, err := c.newAsker(i)
	if err != nil {
		c.t.Fatal(err)
	}
	defer a.conn.Close()
	if reply, err := a.do("READONLY"); err != nil || reply != "+OK" {
		c.t.Fatal(reply, err)
	}
	reply, err := a.do(args...)
	if err != nil {
		c.t.Fatal(err)
	}
	return reply
}

// status returns the status of the cluster as a server knows it.
func (c *trial) status(i int) (s ClusterStatus, err error) {
	reply, err := c.ask(i, "CLUSTER", "STATUS")
	if err != nil {
		return s, err
	}
	text, err := strconv.Unquote(reply)
	if err != nil {
		return s, fmt.Errorf("%w: %s", err, reply)
	}
	return s, json.Unmarshal([]byte(text), &s)
}

// settleTime is how long a cluster may take to do what it will do.
const settleTime = 3 * time.Minute

// until waits until something holds.
func (c *trial) until(what string, holds func() error) {
	c.t.Helper()
	deadline := time.Now().Add(settleTime)
	for {
		err := holds()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("not so: %s: %v", what, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

var errNotYet = errors.New("not yet")

// led waits until servers say that all partitions are led by one of them.
func (c *trial) led(list ...int) {
	c.t.Helper()
	c.until("all partitions have leaders", func() error {
		for _, i := range list {
			s, err := c.status(i)
			if err != nil {
				return err
			}
			for _, p := range s.Partitions {
				if !p.Leads || !c.among(p.Leader, list) {
					return fmt.Errorf("%s: partition %d is led by %q", c.nodes[i].name, p.Number, p.Leader)
				}
			}
		}
		return nil
	})
}

func (c *trial) among(name string, list []int) bool {
	for _, i := range list {
		if c.nodes[i].name == name {
			return true
		}
	}
	return false
}

// whole waits until all servers run, have heard each other and have applied the same.
func (c *trial) whole() {
	c.t.Helper()
	c.led(0, 1, 2)
	c.until("all servers are up to date", func() error {
		for i := range c.nodes {
			s, err := c.status(i)
			switch {
			case err != nil:
				return err
			case len(s.Nodes) != len(c.nodes) || len(s.Problems) > 0:
				return fmt.Errorf("%s: %d nodes, %q", c.nodes[i].name, len(s.Nodes), s.Problems)
			}
			for _, o := range s.Nodes {
				for k, p := range o.Partitions {
					if behind := s.Partitions[k].Applied; !p.Held || p.Applied+20 < behind {
						return fmt.Errorf("%s: partition %d is held: %t, at record %d of %d", o.Node, k, p.Held, p.Applied, behind)
					}
				}
			}
		}
		return nil
	})
}

// key returns a name of a partition.
func (c *trial) key(prefix string, partition int) string {
	for i := 0; ; i++ {
		if key := fmt.Sprint(prefix, i); router.Partition([]byte(key), c.partitions) == partition {
			return key
		}
	}
}

// leader returns the server that leads a partition, as server i knows it.
func (c *trial) leader(i, partition int) (n int) {
	c.t.Helper()
	c.until("there is a leader", func() error {
		s, err := c.status(i)
		if err != nil || !s.Partitions[partition].Leads {
			return errors.Join(errNotYet, err)
		}
		for j, o := range c.nodes {
			if o.name == s.Partitions[partition].Leader {
				n = j
			}
		}
		return nil
	})
	return n
}

// others returns the other two servers.
func (c *trial) others(i int) (j, k int) { return (i + 1) % 3, (i + 2) % 3 }

// TestClusterForms starts three servers and has each of them answer about everything.
func TestClusterForms(t *testing.T) {
	c := newTrial(t, 4)
	c.start(0, 1, 2)
	c.whole()
	for p := range c.partitions {
		key := c.key("k", p)
		c.must(p%3, "CF.ADD", key, "x")
		for i := range 3 {
			if got := c.must(i, "CF.COUNT", key, "x"); got != ":1" {
				t.Errorf("%s: %s", c.nodes[i].name, got)
			}
		}
	}
	serversAreNoClients(c)
}

// serversAreNoClients has as many clients at a server as are allowed: it takes no more of them, and
// what other servers forward all the same.
func serversAreNoClients(c *trial) {
	c.t.Helper()
	full := c.leader(0, 0)
	other, _ := c.others(full)
	a, err := c.newAsker(full)
	if err != nil {
		c.t.Fatal(err)
	}
	defer a.conn.Close()
	if got, err := a.do("CONFIG", "SET", "maxclients", "1"); err != nil || got != "+OK" {
		c.t.Fatal(got, err)
	}
	before := len(c.nodes[other].said())
	if got := c.must(other, "CF.COUNT", c.key("k", 0), "x"); got != ":1" {
		c.t.Error(got)
	}
	if text := c.nodes[other].said()[before:]; strings.Contains(text, "max number of clients") { // later another one may lead
		c.t.Error("a server is refused:", text)
	}
	for _, words := range [][]string{{"PING"}, {"EB.PEER", "wrong"}} {
		if got, err := c.ask(full, words...); err != nil || got[0] != '-' {
			c.t.Errorf("%q: %s, %v", words, got, err)
		}
	}
	silent, err := c.newAsker(full)
	if err != nil {
		c.t.Fatal(err)
	}
	defer silent.conn.Close()
	_ = silent.conn.SetDeadline(time.Now().Add(askTimeout)) // reading tells
	if got, err := readReply(silent.r); err != nil || got != "-ERR max number of clients reached" {
		c.t.Error(got, err)
	}
}

// page returns the status of a page of a server; 0 if it does not answer.
func (c *trial) page(i int, name string) int {
	r, err := (&http.Client{Timeout: 5 * time.Second}).Get("http://" + c.nodes[i].web + "/" + name)
	if err != nil {
		return 0
	}
	_ = r.Body.Close() // the status is enough
	return r.StatusCode
}
