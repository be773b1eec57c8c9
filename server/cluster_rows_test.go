package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/server/internal/cluster/clustertest"
	"github.com/everbloom-go/everbloom/server/internal/record"
)

// TestCluster has one thing after the other happen to a cluster, one for each row of the
// table of failures in docs/cluster.md. Each leaves all servers running.
func TestCluster(t *testing.T) {
	effort.LongOnly(t)
	t.Parallel()
	c := newTrial(t, 3)
	c.patience = 12 * time.Second
	c.start(0, 1, 2)
	c.balanced()
	c.rows([]clusterRow{
		{"FollowerKilled", false, followerKilled},
		{"FollowerStopped", true, followerStopped},
		{"FollowerCut", true, followerCut},
		{"LeaderKilled", false, leaderKilled},
		{"LeaderCut", false, leaderCut},
		{"LeaderStopped", true, leaderStopped},
		{"TermHandsOver", false, termHandsOver},
		{"TermWhileCut", true, termWhileCut},
		{"AllKilled", true, allKilled},
		{"WipedDisk", false, wipedDisk},
		{"ClockJump", true, clockJump},
		{"MajorityLost", true, majorityLost},
		{"Upgraded", true, upgraded},
	})
}

// A clusterRow is something that happens to a cluster.
type clusterRow struct {
	name string
	long bool // in the long form only: TestFailures has it, too
	do   func(c *trial)
}

// rows has one thing after the other happen.
func (c *trial) rows(list []clusterRow) {
	for _, row := range list {
		if row.long && !effort.Long() {
			continue
		}
		ok := c.t.Run(row.name, func(t *testing.T) {
			outer := c.t
			defer func() { c.t = outer }()
			c.t = t
			started := time.Now()
			row.do(c)
			c.whole()
			t.Log("took", time.Since(started).Round(time.Millisecond))
		})
		if !ok {
			break
		}
	}
}

// balanced waits until each server leads a partition.
func (c *trial) balanced() {
	c.t.Helper()
	c.whole()
	c.until("each server leads a partition", func() error {
		s, err := c.status(0)
		if err != nil {
			return err
		}
		for _, o := range s.Nodes {
			if o.Leading() == 0 {
				return fmt.Errorf("%s leads none: %w", o.Node, errNotYet)
			}
		}
		return nil
	})
	c.drawn()
}

// A stream of commands about one set, each of which must succeed.
type steady struct {
	*trial
	node int
	set  string
	stop chan struct{}
	wg   sync.WaitGroup

	mu       sync.Mutex
	done     int
	failed   []string
	slowest  time.Duration
	progress chan struct{}
}

// steadily adds items to a set of a partition and counts them, at a server.
func (c *trial) steadily(node, partition int) *steady {
	s := &steady{trial: c, node: node, set: c.key("steady", partition), stop: make(chan struct{}), progress: make(chan struct{}, 1)}
	s.wg.Go(s.run)
	return s
}

func (s *steady) run() {
	a, err := s.newAsker(s.node)
	if err != nil {
		s.note(err.Error(), 0)
		return
	}
	defer a.conn.Close()
	for i := 0; ; i++ {
		select {
		case <-s.stop:
			return
		case <-time.After(2 * time.Millisecond):
		}
		item := fmt.Sprint(s.node, "-", time.Now().UnixNano())
		for _, verb := range []string{"CF.ADD", "CF.COUNT"} {
			started := time.Now()
			reply, err := a.do(verb, s.set, item)
			failed := ""
			if err != nil || reply != ":1" {
				failed = fmt.Sprintf("%s: %s %v", verb, reply, err)
			}
			s.note(failed, time.Since(started))
			if err != nil {
				return
			}
		}
	}
}

func (s *steady) note(failed string, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done++
	s.slowest = max(s.slowest, took)
	if failed != "" {
		s.failed = append(s.failed, failed)
	}
	select {
	case s.progress <- struct{}{}:
	default:
	}
}

// more waits until so many more commands are done.
func (s *steady) more(n int) {
	s.t.Helper()
	s.mu.Lock()
	want := s.done + n
	s.mu.Unlock()
	s.until("commands go on", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.done < want && len(s.failed) == 0 {
			return errNotYet
		}
		return nil
	})
}

// end ends the commands; none may have failed.
func (s *steady) end() {
	s.t.Helper()
	close(s.stop)
	s.wg.Wait()
	s.t.Logf("at %s, %s: %d commands, the slowest took %v", s.nodes[s.node].name, s.set, s.done, s.slowest.Round(time.Millisecond))
	if len(s.failed) > 0 {
		s.t.Errorf("%d commands failed, such as %s", len(s.failed), s.failed[0])
	}
}

// whileFollower has commands at the leader of a partition go on while another server fails, and
// while it is back.
func whileFollower(c *trial, fail, mend func(follower int)) {
	c.t.Helper()
	c.balanced() // no partition is about to be handed over
	leader := c.leader(0, 0)
	follower, _ := c.others(leader)
	s := c.steadily(leader, 0)
	s.more(20)
	epoch := c.epoch(leader, 0)
	fail(follower)
	s.more(200)
	time.Sleep(7 * time.Second) // longer than a lease
	s.more(200)
	if got := c.epoch(leader, 0); got != epoch {
		c.t.Errorf("the leader has lost its lease: epoch %d, before %d", got, epoch)
	}
	mend(follower)
	c.whole()
	s.end()
}

// epoch returns the epoch of a partition as a server knows it.
func (c *trial) epoch(i, partition int) (epoch uint32) {
	c.t.Helper()
	c.until("the server answers", func() error {
		s, err := c.status(i)
		if err == nil {
			epoch = s.Partitions[partition].Epoch
		}
		return err
	})
	return epoch
}

func followerKilled(c *trial) {
	whileFollower(c, func(i int) { c.kill(i) }, func(i int) { c.start(i) })
}

func followerStopped(c *trial) {
	whileFollower(c, func(i int) { c.signal(i, syscall.SIGSTOP) }, func(i int) { c.signal(i, syscall.SIGCONT) })
}

func followerCut(c *trial) {
	whileFollower(c, func(i int) { c.cut(i, clustertest.Silent) }, func(i int) { c.cut(i, clustertest.Open) })
}

// leaderKilled: commands at the others wait and succeed; the outcome of those on the way is
// unknown, and the connection is closed.
func leaderKilled(c *trial) {
	leader := c.leader(0, 0)
	j, k := c.others(leader)
	set := c.key("killed", 0)
	c.must(j, "CF.ADD", set, "before")
	c.kill(leader)
	if got := c.must(j, "CF.ADD", set, "after"); got != ":1" {
		c.t.Error(got)
	}
	for _, item := range []string{"before", "after"} {
		if got := c.must(k, "CF.COUNT", set, item); got != ":1" {
			c.t.Error(item, got)
		}
	}
	c.start(leader)
}

// leaderCut: the others take over, the leader refuses when its lease is over and still answers
// from its copy; when the network is back it follows.
func leaderCut(c *trial) {
	leader := c.leader(0, 0)
	j, _ := c.others(leader)
	set := c.key("cut", 0)
	c.must(j, "CF.ADD", set, "before")
	c.cut(leader, clustertest.Silent)
	refused := make(chan string, 1)
	go func() {
		reply, err := c.ask(leader, "CF.ADD", set, "lonely")
		refused <- fmt.Sprint(reply, err)
	}()
	c.must(j, "CF.ADD", set, "after")
	if got := c.local(leader, "CF.COUNT", set, "before"); got != ":1" {
		c.t.Error("from its copy:", got)
	}
	got, err := c.ask(leader, "CF.COUNT", set, "before")
	if err != nil || !strings.HasPrefix(got, "-CLUSTERDOWN") {
		c.t.Error("cut off:", got, err)
	}
	c.cut(leader, clustertest.Open)
	c.whole()
	text := <-refused // it may wait until now
	lonely := c.must(j, "CF.COUNT", set, "lonely")
	switch {
	case strings.HasPrefix(text, ":1") && lonely == ":1": // it waited, and another server took it
	case strings.HasPrefix(text, "-CLUSTERDOWN") && lonely == ":0":
	case strings.Contains(text, "EOF") || strings.Contains(text, "reset"): // unknown
	default:
		c.t.Errorf("a command that waited was answered %s, the item is there %s times", text, lonely)
	}
	if got := c.must(leader, "CF.COUNT", set, "after"); got != ":1" {
		c.t.Error("back again:", got)
	}
}

// leaderStopped: others take over; when it goes on it answers nothing that is old.
func leaderStopped(c *trial) {
	leader := c.leader(0, 0)
	j, _ := c.others(leader)
	set := c.key("stopped", 0)
	c.must(leader, "CF.ADD", set, "x")
	a, err := c.newAsker(leader)
	if err != nil {
		c.t.Fatal(err)
	}
	defer a.conn.Close()
	c.signal(leader, syscall.SIGSTOP)
	c.must(j, "CF.ADD", set, "x")
	answer := make(chan string, 1)
	go func() {
		reply, err := a.do("CF.COUNT", set, "x")
		answer <- fmt.Sprint(reply, err)
	}()
	time.Sleep(100 * time.Millisecond) // so that the question waits there
	c.signal(leader, syscall.SIGCONT)
	if got := <-answer; got != ":2<nil>" && !strings.Contains(got, "EOF") {
		c.t.Error(got)
	}
}

// termHandsOver: no command fails at the others, and none waits for the end of a lease.
func termHandsOver(c *trial) {
	leader := c.leader(0, 0)
	j, _ := c.others(leader)
	s := c.steadily(j, 0)
	s.more(20)
	c.signal(leader, syscall.SIGTERM)
	c.wait(leader)
	s.more(50)
	c.start(leader)
	s.more(50)
	s.end()
}

// termWhileCut: a server that cannot hand over ends all the same, with a write under way.
func termWhileCut(c *trial) {
	leader := c.leader(0, 0)
	set := c.key("ends", 0)
	c.must(leader, "CF.ADD", set, "x")
	c.cut(leader, clustertest.Silent)
	answer := make(chan string, 1)
	go func() {
		reply, err := c.ask(leader, "CF.ADD", set, "y")
		answer <- fmt.Sprint(reply, err)
	}()
	time.Sleep(100 * time.Millisecond) // so that it waits for the log
	c.signal(leader, syscall.SIGTERM)
	c.wait(leader)
	if got := <-answer; !strings.Contains(got, "EOF") && !strings.Contains(got, "reset") && !strings.HasPrefix(got, "-CLUSTERDOWN") {
		c.t.Error("a write that no other server has was answered", got)
	}
	c.cut(leader, clustertest.Open)
	c.start(leader)
}

// majorityLost: the server that is left refuses, answers from its copy, and serves again when
// another one is back.
func majorityLost(c *trial) {
	set := c.key("majority", 0)
	c.must(0, "CF.ADD", set, "x")
	c.whole()
	c.kill(1, 2)
	got, err := c.ask(0, "CF.ADD", set, "y")
	if err != nil || !strings.HasPrefix(got, "-CLUSTERDOWN") {
		got, err = c.ask(0, "CF.ADD", set, "y") // the first one may have been on its way
	}
	if err != nil || !strings.HasPrefix(got, "-CLUSTERDOWN") {
		c.t.Error("alone:", got, err)
	}
	if got := c.local(0, "CF.COUNT", set, "x"); got != ":1" {
		c.t.Error("from its copy:", got)
	}
	c.until("it says that it takes no writes", func() error {
		info, err := c.ask(0, "CLUSTER", "INFO")
		if ready := c.page(0, "ready"); err != nil || !strings.Contains(info, "cluster_state:fail") || ready != http.StatusServiceUnavailable {
			return fmt.Errorf("/ready %d, CLUSTER INFO %s %w", ready, info, err)
		}
		return nil
	})
	c.kill(0)
	c.spawn(0)
	c.until("it says that it waits for others", func() error {
		got, err := c.ask(0, "PING")
		if health, ready := c.page(0, "health"), c.page(0, "ready"); !strings.HasPrefix(got, "-LOADING ") || health != http.StatusOK || ready != http.StatusServiceUnavailable {
			return fmt.Errorf("/health %d, /ready %d, PING %s %w", health, ready, got, err)
		}
		return nil
	})
	c.start(1)
	c.opened(0)
	c.until("it is ready", func() error {
		if c.page(0, "ready") != http.StatusOK {
			return errNotYet
		}
		return nil
	})
	c.must(0, "CF.ADD", set, "z")
	c.start(2)
}

func allKilled(c *trial) {
	for p := range c.partitions {
		c.must(0, "CF.ADD", c.key("all", p), "x")
	}
	c.kill(0, 1, 2)
	c.start(0, 1, 2)
	for p := range c.partitions {
		if got := c.must(1, "CF.COUNT", c.key("all", p), "x"); got != ":1" {
			c.t.Errorf("partition %d: %s", p, got)
		}
	}
}

// wipedDisk: the server gets everything from the others.
func wipedDisk(c *trial) {
	for p := range c.partitions {
		c.must(0, "CF.ADD", c.key("wiped", p), "x")
	}
	c.kill(1)
	c.led(0, 2)
	c.wipe(1)
	c.start(1)
	c.whole()
	for p := range c.partitions {
		set := c.key("wiped", p)
		c.until("it has everything", func() error {
			if got := c.local(1, "CF.COUNT", set, "x"); got != ":1" {
				return fmt.Errorf("partition %d: %s", p, got)
			}
			return nil
		})
	}
}

// clockJump: a key that ends in ten minutes is there after the clock of its leader has jumped by
// an hour, and the lease does not depend on the time of day.
func clockJump(c *trial) {
	leader := c.leader(0, 0)
	set := c.key("clock", 0)
	c.must(leader, "SET", set, "x", "EX", "600")
	s := c.steadily(leader, 0)
	for _, d := range []time.Duration{time.Hour, -2 * time.Hour, time.Hour} {
		c.nodes[leader].run.jump(d)
		s.more(100)
		if got := c.must(leader, "GET", set); got != `"x"` {
			c.t.Errorf("after %v: %s", d, got)
		}
	}
	s.end()
	if !strings.Contains(c.nodes[leader].said(), "the system clock jumped") {
		c.t.Error("nothing is said")
	}
}

// upgraded has one server after the other read a higher level of records. Logs take it when all
// do, and not before; a server of the release before is refused from then on.
func upgraded(c *trial) {
	c.t.Helper()
	levels := func(i int) (list []uint8) {
		s, err := c.status(i)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, p := range s.Partitions {
			list = append(list, p.Level)
		}
		return list
	}
	for i, n := range c.nodes {
		c.whole()
		if got := slices.Max(levels(i)); got != record.Highest {
			c.t.Fatalf("level %d when %d of 3 servers read %d", got, i, record.Highest+1)
		}
		c.signal(i, syscall.SIGTERM)
		c.wait(i)
		n.level = record.Highest + 1
		c.start(i)
	}
	c.until("all logs have the new level", func() error {
		if got := slices.Min(levels(0)); got != record.Highest+1 {
			return fmt.Errorf("level %d", got)
		}
		return nil
	})
	c.kill(0)
	c.nodes[0].level = 0
	c.spawn(0)
	c.until("the release before is refused", func() error {
		if !strings.Contains(c.nodes[0].said(), "upgrade it") {
			return errNotYet
		}
		return nil
	})
	c.kill(0)
	c.nodes[0].level = record.Highest + 1
	c.start(0)
}
