package router

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/log"
)

// TestSlots has slots that Redis Cluster computes.
func TestSlots(t *testing.T) {
	for key, slot := range map[string]int{
		"123456789": 12739, "foo": 12182, "": 0, "{user1000}.following": 3443, "user1000": 3443,
		"foo{}{bar}": 8363, "foo{bar}{zap}": 5061, "bar": 5061, "foo{{bar}}zap": 4015, "{bar": 4015,
	} {
		if got := Slot([]byte(key)); got != slot {
			t.Errorf("slot of %q is %d, want %d", key, got, slot)
		}
	}
	for _, partitions := range []int{1, 2, 3, 16, 7, 256} {
		next := 0
		for i := range partitions {
			first, last := slotsOf(i, partitions)
			if first != next || first*partitions/slots != i || last*partitions/slots != i {
				t.Errorf("partition %d of %d has slots %d to %d", i, partitions, first, last)
			}
			next = last + 1
		}
		if next != slots {
			t.Errorf("%d partitions have %d slots", partitions, next)
		}
	}
}

// randomCommand returns a command about few keys.
func randomCommand(rng *rand.Rand) string {
	key := func() string { return fmt.Sprintf("k%d", rng.IntN(12)) }
	item := func() string { return fmt.Sprintf("item%d", rng.IntN(30)) }
	verbs := []func() string{
		func() string { return "BF.ADD b" + key() + " " + item() },
		func() string { return "BF.EXISTS b" + key() + " " + item() },
		func() string { return "BF.MADD b" + key() + " " + item() + " " + item() },
		func() string { return "CF.ADD c" + key() + " " + item() },
		func() string { return "CF.COUNT c" + key() + " " + item() },
		func() string { return "CF.DEL c" + key() + " " + item() },
		func() string { return "SET " + key() + " " + item() },
		func() string { return "GET " + key() },
		func() string { return "GET b" + key() },
		func() string { return "DEL " + key() },
		func() string { return "DEL " + key() + " b" + key() + " " + key() },
		func() string { return "EXISTS " + key() + " b" + key() + " c" + key() },
		func() string { return "TYPE b" + key() },
		func() string { return "EXPIRE " + key() + " 1000" },
		func() string { return "TTL " + key() },
		func() string { return "MEMORY USAGE b" + key() },
		func() string { return "DBSIZE" },
		func() string { return "PING " + item() },
		func() string { return "ECHO" },
		func() string { return "CLIENT REPLY SKIP" },
		func() string { return "NONSENSE " + key() },
		func() string { return fmt.Sprintf("HELLO %d", 2+rng.IntN(2)) },
		func() string { return "CLIENT SETNAME " + item() },
		func() string { return "CLIENT GETNAME" },
		func() string { return "EB.CREATE e" + key() + " DELETE NX" },
		func() string { return "EB.ADD e" + key() + " " + item() + " " + item() },
		func() string { return "EB.DEL e" + key() + " " + item() },
		func() string { return "EB.CONTAINS e" + key() + " " + item() },
	}
	return verbs[rng.IntN(len(verbs))]()
}

// randomPipeline returns commands, some of them in transactions about one partition.
func randomPipeline(rng *rand.Rand) (lines []string) {
	for range 1 + rng.IntN(30) {
		if rng.IntN(20) > 0 {
			lines = append(lines, randomCommand(rng))
			continue
		}
		if rng.IntN(2) == 0 {
			lines = append(lines, "WATCH {t}x")
		}
		if rng.IntN(3) == 0 {
			lines = append(lines, "SET {t}x 5", "UNWATCH")
		}
		lines = append(lines, "MULTI")
		for range rng.IntN(4) {
			lines = append(lines, []string{"BF.ADD {t}b a", "PING", "SET {t}x 1", "GET {t}x", "NONSENSE", "DEL {t}x {t}b"}[rng.IntN(6)])
		}
		lines = append(lines, []string{"EXEC", "DISCARD", "EXEC"}[rng.IntN(3)])
	}
	return lines
}

// TestSameAsAlone compares all replies with those of a server that is alone, while leaders
// move.
func TestSameAsAlone(t *testing.T) {
	for _, nodes := range []int{1, 2, 3} {
		t.Run(fmt.Sprint(nodes, " nodes"), func(t *testing.T) {
			c := newCluster(t, nodes, 5, nil)
			st, p := openPartition(t, new(log.Memory))
			defer p.Close()
			alone := newEnv(newHost(), st, p)
			ours, theirs := c.nodes[0].session(t), command.NewSession(alone, 1, "", "")
			rng := rand.New(rand.NewPCG(uint64(nodes), 1))
			for range effort.PickVariant(150, 500, 5000) {
				lines := randomPipeline(rng)
				got, err := run(ours, lines...)
				if err != nil {
					t.Fatal(err)
				}
				want, err := run(theirs, lines...)
				if err != nil {
					t.Fatal(err)
				}
				for i, w := range want {
					if strings.Contains(w, "standalone") { // HELLO
						w = strings.Replace(w, "$10\r\nstandalone", "$7\r\ncluster", 1)
					}
					if i >= len(got) || got[i] != w {
						t.Fatalf("%q: reply %d is %q, want %q", lines, i, got, want)
					}
				}
				if len(got) != len(want) {
					t.Fatalf("%q: %q, want %q", lines, got, want)
				}
				c.move(rng.IntN(5), rng.IntN(nodes))
			}
			sameNames(t, ours, theirs)
		})
	}
}

// sameNames compares what commands tell that list names.
func sameNames(t *testing.T, ours *Session, theirs *command.Session) {
	t.Helper()
	want(t, ours, "RESET", "+RESET")
	want(t, theirs, "RESET", "+RESET")
	a, err := run(ours, "KEYS *")
	b, err2 := run(theirs, "KEYS *")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	names := func(reply string) []string {
		list := strings.Split(reply, "\r\n")
		slices.Sort(list)
		return list
	}
	all := names(b[0])
	if !slices.Equal(names(a[0]), all) || len(all) < 20 {
		t.Errorf("KEYS: %q, want %q", a, b)
	}
	var scanned []string
	for cursor := "0"; ; {
		reply, err := run(ours, "SCAN "+cursor+" COUNT 3")
		if err != nil {
			t.Fatal(err)
		}
		list := strings.Split(reply[0], "\r\n")
		cursor = list[2]
		for i := 5; i < len(list); i += 2 {
			scanned = append(scanned, list[i])
		}
		if cursor == "0" {
			break
		}
	}
	slices.Sort(scanned)
	want := slices.DeleteFunc(all, func(s string) bool { return strings.ContainsAny(s, "$*") })
	if !slices.Equal(scanned, want) {
		t.Errorf("SCAN: %q, want %q", scanned, want)
	}
	reply, err := run(ours, "RANDOMKEY")
	if err != nil || !slices.Contains(want, strings.Split(reply[0], "\r\n")[1]) {
		t.Errorf("RANDOMKEY: %q", reply)
	}
}

// A meeting is a log that takes a record only when all partitions have one.
type meeting struct {
	log.Memory
	all *sync.WaitGroup
	off bool
}

func (m *meeting) Append(ctx context.Context, after uint64, b []byte) (uint64, error) {
	if after > 0 && !m.off {
		m.off = true
		m.all.Done()
		m.all.Wait()
	}
	return m.Memory.Append(ctx, after, b)
}

// TestPipelineIsOneCommit has a pipeline for all partitions of two nodes: no partition commits
// until all have something to commit.
func TestPipelineIsOneCommit(t *testing.T) {
	const partitions = 16
	c := newCluster(t, 2, partitions, nil)
	var all sync.WaitGroup
	all.Add(partitions)
	for i := range partitions {
		c.parts[i].Close()
		c.stores[i], c.parts[i] = openPartition(t, &meeting{all: &all})
		for _, n := range c.nodes {
			n.shards[i].Env.Store, n.shards[i].Env.Partition = c.stores[i], c.parts[i]
		}
	}
	var lines []string
	for i := range 200 {
		lines = append(lines, fmt.Sprintf("SET key%d %d", i, i))
	}
	ended := make(chan error, 1)
	s := c.nodes[0].session(t)
	go func() {
		_, err := run(s, lines...)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the partitions of a pipeline wait for each other")
	}
	for i, p := range c.parts {
		if n := p.Stats().Records; n != 2 { // the first has the hash
			t.Errorf("partition %d has %d records", i, n)
		}
	}
}

// exactCounts has CF.COUNT tell how often an item was added.
func exactCounts(t *testing.T, n *testNode) {
	t.Helper()
	if err := n.home.Settings.Set("cf-kind", "evergreen"); err != nil {
		t.Fatal(err)
	}
}

// TestMovingLeaders adds items while leaders move: what was acknowledged is there once.
func TestMovingLeaders(t *testing.T) {
	c := newCluster(t, 3, 4, nil)
	for _, n := range c.nodes {
		exactCounts(t, n)
	}
	stop := make(chan struct{})
	var movers, wg sync.WaitGroup
	movers.Go(func() {
		rng := rand.New(rand.NewPCG(7, 7))
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Duration(rng.IntN(300)) * time.Microsecond):
				c.move(rng.IntN(4), rng.IntN(3))
			}
		}
	})
	for client := range 4 {
		s := c.nodes[client%3].session(t)
		wg.Go(func() {
			for round := range effort.PickVariant(100, 300, 3000) {
				var adds, asks []string
				for i := range 20 {
					adds = append(adds, fmt.Sprintf("CF.ADD set%d %d-%d-%d", i%7, client, round, i))
					asks = append(asks, fmt.Sprintf("CF.COUNT set%d %d-%d-%d", i%7, client, round, i))
				}
				_, err := run(s, adds...)
				if errors.Is(err, errUnknown) { // a busy machine: the leader took too long to answer
					s = c.nodes[client%3].session(t)
					continue
				}
				var replies []string
				if err == nil {
					replies, err = run(s, asks...)
				}
				if err != nil {
					t.Error(err)
					return
				}
				for i, reply := range replies {
					if reply != ":1" {
						t.Errorf("%s: %s", asks[i], reply)
					}
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	movers.Wait()
}
