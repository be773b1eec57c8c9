package partition

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/record"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

const (
	testLease = 100 * time.Millisecond
	patience  = 30 * time.Second
)

// A testClock stands still unless it is put forward.
type testClock struct{ passed atomic.Int64 }

func (c *testClock) read() (time.Time, time.Duration) {
	d := time.Duration(c.passed.Load())
	return time.UnixMilli(1_000_000_000_000).Add(d), d
}

func (c *testClock) add(d time.Duration) { c.passed.Add(int64(d)) }

// A testNode is a node of a cluster over a log in memory.
type testNode struct {
	*Partition
	log   *log.Node
	clock *testClock
	ended chan error
}

// openNode starts a node whose clock stands still.
func openNode(t *testing.T, m *log.Memory, name string, change ...func(*Config)) *testNode {
	t.Helper()
	n := &testNode{log: m.Node(), clock: new(testClock), ended: make(chan error, 10)}
	c := Config{
		Store: store.New(), Log: n.log, Hash: filter.SipHash([16]byte{name[len(name)-1]}), Clock: n.clock.read,
		Node: name, Address: name + ":6379", Lease: testLease, Ended: func(err error) { n.ended <- err },
	}
	for _, f := range change {
		f(&c)
	}
	var err error
	if n.Partition, err = Open(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		n.log.Fault(nil)
		n.log.Heal()
		n.Close()
	})
	return n
}

// turn has the node do everything that is due by its clock.
func (n *testNode) turn() {
	for range 2 {
		n.Do(func() {})
	}
}

// await waits until something holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come about:", what)
		}
	}
}

// catchUp waits until nodes have applied the whole log.
func catchUp(t *testing.T, m *log.Memory, nodes ...*testNode) {
	t.Helper()
	for _, n := range nodes {
		await(t, "the node applies the whole log", func() bool {
			last, _ := m.Last(t.Context())
			return n.State().Position == last
		})
	}
}

// led opens nodes of which the first one leads.
func led(t *testing.T, m *log.Memory, names ...string) []*testNode {
	t.Helper()
	var nodes []*testNode
	for i, name := range names {
		n := openNode(t, m, name)
		if i == 0 {
			n.clock.add(testLease)
			await(t, "the first node leads", n.Leads)
		}
		nodes = append(nodes, n)
	}
	catchUp(t, m, nodes...)
	return nodes
}

// A testUnit is a unit that runs a function.
type testUnit struct {
	do       func(*Tx)
	restarts int
	done     chan error
}

func unitOf(do func(*Tx)) *testUnit { return &testUnit{do: do, done: make(chan error, 1)} }

func (u *testUnit) Decide(t *Tx)     { u.do(t) }
func (u *testUnit) Restart()         { u.restarts++ }
func (u *testUnit) Answer(err error) { u.done <- err }

// answer waits for the answer to the unit.
func (u *testUnit) answer(t *testing.T) error {
	t.Helper()
	select {
	case err := <-u.done:
		return err
	case <-time.After(patience):
		t.Fatal("a unit is not answered")
		return nil
	}
}

// submit hands a unit to a node.
func (n *testNode) submit(do func(*Tx)) *testUnit {
	u := unitOf(do)
	n.Submit(u)
	return u
}

// set returns the set that tests change, which it makes if it is not there.
func set(t *Tx) *store.Entry {
	if e := t.Find([]byte("set")); e != nil {
		return e
	}
	shape, err := t.Store().Shape(frame.Evergreen, 1000, 0.01)
	if err != nil {
		panic(err)
	}
	e, err := t.Create([]byte("set"), store.Spec{
		Type: store.Cuckoo, Kind: frame.Evergreen, Shape: shape, Capacity: 1000, FPR: 0.01, Expansion: 1, BucketSize: 2, Iterations: 20, Limit: 5,
	})
	if err != nil {
		panic(err)
	}
	return e
}

// add returns what adds a key to the set.
func add(k filter.Key) func(*Tx) {
	return func(t *Tx) { t.Add(set(t), []byte{byte(k)}, Origin{}) }
}

// has reports whether a node has applied a key.
func (n *testNode) has(k filter.Key) (found bool) {
	n.Do(func() {
		if e := n.store.Lookup([]byte("set"), 0); e != nil {
			found = e.Has(e.Key([]byte{byte(k)}))
		}
	})
	return found
}

// epochs returns the epochs of the records in a log.
func epochs(t *testing.T, m *log.Memory) (list []uint32) {
	t.Helper()
	var c record.Chain
	err := m.Follow(t.Context(), 0, func(_ uint64, b []byte) (err error) {
		c, _, _, err = c.Next(b)
		list = append(list, c.Epoch)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// want fails the test unless err is the error that is wanted.
func want(t *testing.T, what string, err, wanted error) {
	t.Helper()
	if !errors.Is(err, wanted) {
		t.Errorf("%s: %v, want %v", what, err, wanted)
	}
}
