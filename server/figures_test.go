package server

import (
	"flag"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/internal/effort"
)

var figures = flag.Int("figures", effort.Pick(0, 30), "how often a leader is ended in TestClusterFigures; 0 means that it is skipped")

// TestClusterFigures measures what docs/cluster.md tells. Nothing depends on the times.
func TestClusterFigures(t *testing.T) {
	if *figures == 0 {
		t.Skip("figures of a cluster: run with -figures 30, or in the long form")
	}
	c := newTrial(t, 3)
	c.ways = nil // proxies take time
	c.start(0, 1, 2)
	c.balanced()
	for _, one := range []struct {
		name string
		do   func()
	}{
		{"Forwarding", c.measureForwarding},
		{"Wait", c.measureWait},
		{"Writers", c.measureWriters},
		{"Kill", func() { c.measureEnds("kill -9", func(i int) { c.signal(i, syscall.SIGKILL) }) }},
		{"Term", func() { c.measureEnds("TERM", func(i int) { c.signal(i, syscall.SIGTERM) }) }},
	} {
		t.Run(one.name, func(*testing.T) { one.do() })
	}
}

// measureForwarding compares commands at the leader with those at another server.
func (c *trial) measureForwarding() {
	c.t.Helper()
	leader := c.leader(0, 0)
	other, _ := c.others(leader)
	set := c.key("way", 0)
	c.must(leader, "CF.ADD", set, "x")
	var askers []*asker
	for _, i := range []int{leader, other} {
		a, err := c.newAsker(i)
		if err != nil {
			c.t.Fatal(err)
		}
		defer a.conn.Close()
		askers = append(askers, a)
	}
	for _, verb := range []string{"CF.COUNT", "CF.ADD"} {
		var took [2][]time.Duration
		for n := range 1500 {
			for way, a := range askers { // in turn, so that the machine is the same to both
				item := "x"
				if verb == "CF.ADD" {
					item = fmt.Sprint(way, "-", n)
				}
				started := time.Now()
				if _, err := a.do(verb, set, item); err != nil {
					c.t.Fatal(err)
				}
				took[way] = append(took[way], time.Since(started))
			}
		}
		direct, forwarded := share(took[0], 0.5), share(took[1], 0.5)
		c.t.Logf("%s: p50 %v at the leader, %v forwarded: %.2f", verb, direct, forwarded, float64(forwarded)/float64(direct))
	}
}

// share returns the time that a share of the times does not exceed.
func share(times []time.Duration, p float64) time.Duration {
	slices.Sort(times)
	return times[min(int(p*float64(len(times))), len(times)-1)]
}

// measureWait measures how long it takes until two other servers have a change.
func (c *trial) measureWait() {
	c.t.Helper()
	leader := c.leader(0, 0)
	a, err := c.newAsker(leader)
	if err != nil {
		c.t.Fatal(err)
	}
	defer a.conn.Close()
	var took []time.Duration
	for n := range 200 {
		if _, err := a.do("CF.ADD", c.key("way", 0), fmt.Sprint("wait", n)); err != nil {
			c.t.Fatal(err)
		}
		started := time.Now()
		if got, err := a.do("WAIT", "2", "60000"); err != nil || got != ":2" {
			c.t.Fatal(got, err)
		}
		took = append(took, time.Since(started))
	}
	c.t.Logf("WAIT 2: p50 %v, p95 %v", share(took, 0.5), share(took, 0.95))
}

// measureEnds ends leaders, and measures the longest time without a write to one of their
// partitions at another server.
func (c *trial) measureEnds(how string, end func(i int)) {
	c.t.Helper()
	var took []time.Duration
	for round := range *figures {
		partition := round % c.partitions
		c.balanced()
		leader := c.leader(0, partition)
		took = append(took, c.measureEnd(leader, c.key("end", partition), func() { end(leader) }))
		c.wait(leader)
		c.start(leader)
	}
	c.t.Logf("%s: no writes for %v", how, rounded(took))
	c.t.Logf("%s: p50 %v, p95 %v, longest %v", how, share(took, 0.5), share(took, 0.95), share(took, 1))
}

// measureEnd writes to a set until its leader is gone and another server has taken a write.
func (c *trial) measureEnd(leader int, set string, end func()) (longest time.Duration) {
	other, _ := c.others(leader)
	var a *asker
	end()
	last := time.Now()
	for n, gone := 0, false; ; n++ {
		if a == nil {
			a, _ = c.newAsker(other) // tried again
			continue
		}
		was := gone
		select {
		case <-c.nodes[leader].ended:
			gone = true
		default:
		}
		reply, err := a.do("CF.ADD", set, fmt.Sprint(time.Now().UnixNano(), "-", n))
		if err != nil {
			_ = a.conn.Close()
			a = nil
		} else if reply == ":1" {
			longest = max(longest, time.Since(last))
			last = time.Now()
			if was {
				_ = a.conn.Close()
				return longest
			}
		}
	}
}

func rounded(times []time.Duration) (list []time.Duration) {
	for _, d := range times {
		list = append(list, d.Round(10*time.Millisecond))
	}
	return list
}
