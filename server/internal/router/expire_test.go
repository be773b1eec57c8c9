package router

import (
	"fmt"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/store"
)

// interrupt has the n-th look at the leader run a function, as another client would at that
// moment. It returns how often was looked.
func interrupt(c *testCluster, n int, do func()) (looks *int) {
	looks = new(int)
	for i := range c.parts {
		for _, node := range c.nodes {
			node.shards[i].lead = func() uint64 {
				if *looks++; *looks == n+1 {
					do()
				}
				return c.epoch(i, node.number)
			}
		}
	}
	return looks
}

// TestExpireAtOnce has a command change when a set ends at every moment of another one: all
// parts end when the first does.
func TestExpireAtOnce(t *testing.T) {
	for _, commands := range [][]string{
		{"", "EXPIRE k 1000", "PERSIST k"},
		{"EX 500", "EXPIRE k 1000", "PERSIST k"},
		{"EX 500", "PERSIST k", "EXPIRE k 1000"},
		{"", "EXPIRE k 1000", "EXPIRE k 2000"},
		{"", "EXPIRE k 1000", "EXPIRE k -1"},
		{"", "EXPIRE k -1", "EXPIRE k 1000"},
		{"", "EXPIRE k 1000", "DEL k"},
		{"", "DEL k", "EXPIRE k 1000"},
		{"none", "EB.CREATE k SHARDS 3", "EXPIRE k 1000"},
		{"none", "EB.CREATE k SHARDS 3 EX 500", "PERSIST k"},
		{"none", "EB.CREATE k SHARDS 3", "EXPIRE k -1"},
		{"none", "EB.CREATE k SHARDS 3", "DEL k"},
	} {
		t.Run(fmt.Sprint(commands), func(t *testing.T) {
			c := newCluster(t, 1, 3, nil)
			s, other := c.nodes[0].session(t), c.nodes[0].session(t)
			for moment := 0; ; moment++ {
				if commands[0] != "none" {
					want(t, s, "EB.CREATE k SHARDS 3 "+commands[0], "+OK")
				}
				looks := interrupt(c, moment, func() {
					if _, err := run(other, commands[2]); err != nil {
						t.Error(err)
					}
				})
				if _, err := run(s, commands[1]); err != nil {
					t.Fatal(err)
				}
				if *looks <= moment {
					return // the command had ended
				}
				alike(t, c, moment)
				cleared(t, c, s, "k")
			}
		})
	}
}

// TestExpireBreaksOff has the first part lose its leader at every moment of EXPIRE: no part that
// is to end loses its time. The command can be done again, also if the first part has nothing to
// change.
func TestExpireBreaksOff(t *testing.T) {
	c := newCluster(t, 1, 3, func(c *Config) { c.Patience = 5 * time.Millisecond })
	s := c.nodes[0].session(t)
	home := s.node.of([]byte("k"))
	want(t, s, "EB.CREATE k SHARDS 3 EX 500", "+OK")
	for moment, broken := 0, true; broken; moment++ {
		interrupt(c, moment, func() { c.move(home, noLeader) })
		replies, err := run(s, "EXPIRE k 1000 XX")
		if err != nil {
			t.Fatal(err)
		}
		broken = replies[0] != ":1"
		for i, st := range c.stores {
			if e := st.Lookup([]byte("k"), 0); e.Expiry() == 0 {
				t.Errorf("moment %d: partition %d never ends: %q", moment, i, replies)
			}
		}
		c.move(home, 0)
	}
	interrupt(c, -1, nil)
	set, _ := s.node.spread.view.Load().find([]byte("k"))
	if reply := part(t, s, "PERSIST k", store.Part{Count: 3, Index: 2, Set: set.Set}); reply != ":1" {
		t.Fatal(reply)
	}
	want(t, s, "EXPIRE k 1000 NX", ":0")
	alike(t, c, -1)
}

// alike looks whether all parts of the set k end when the first does.
func alike(t *testing.T, c *testCluster, moment int) {
	t.Helper()
	first := c.stores[c.nodes[0].node.of([]byte("k"))].Lookup([]byte("k"), 0)
	for i, st := range c.stores {
		switch e := st.Lookup([]byte("k"), 0); {
		case (e == nil) != (first == nil):
			t.Errorf("moment %d: partition %d has %v, the first part is %v", moment, i, e, first)
		case e != nil && e.Expiry() != first.Expiry():
			t.Errorf("moment %d: partition %d ends at %d, the first part at %d", moment, i, e.Expiry(), first.Expiry())
		}
	}
}
