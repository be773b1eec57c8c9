package partition

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/record"
)

// TestFollowerEnds gives a follower what it cannot apply.
func TestFollowerEnds(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(m *log.Memory, leader *testNode)
		is   error
	}{
		"damage": {func(m *log.Memory, leader *testNode) {
			leader.submit(add(1)).answer(t)
			m.Damage(2, 500)
		}, record.ErrDamaged},
		"gap": {func(m *log.Memory, leader *testNode) {
			for k := range 3 {
				leader.submit(func(tx *Tx) { tx.Expire(set(tx), int64(k)) }).answer(t)
			}
			_ = m.Trim(t.Context(), 4)
		}, log.ErrGap},
		"a newer level": {func(_ *log.Memory, leader *testNode) {
			leader.Do(func() { leader.highest = 3 })
			want(t, "level 3", leader.Raise(t.Context(), 3), nil)
			if l := leader.State().Level; l != 3 {
				t.Error("the level stays", l)
			}
		}, record.ErrNewer},
		"an epoch without a claim": {func(m *log.Memory, leader *testNode) {
			var b record.Builder
			b.Data(record.Beat, 0, leader.self.AppendTo(nil))
			_, _ = m.Append(t.Context(), 1, b.Record(leader.nextHeader(2)))
		}, record.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			m := new(log.Memory)
			nodes := led(t, m, "n1", "n2")
			nodes[1].log.Cut()
			c.harm(m, nodes[0])
			nodes[1].log.Heal()
			select {
			case err := <-nodes[1].ended:
				want(t, "it ended by", err, c.is)
			case <-time.After(patience):
				t.Fatal("it does not end")
			}
			nodes[1].clock.add(10 * testLease)
			nodes[1].turn()
			if s := nodes[1].State(); s.Role != Ended || nodes[1].Leads() || len(nodes[1].ended) != 0 {
				t.Errorf("%+v, %d more ends", s, len(nodes[1].ended))
			}
			want(t, "a change", nodes[1].submit(add(2)).answer(t), ErrNotLeading)
		})
	}
}

func TestRaise(t *testing.T) {
	nodes := led(t, new(log.Memory), "n1", "n2")
	if err := nodes[0].Raise(t.Context(), record.Highest+1); err == nil {
		t.Error("a level above the highest")
	}
	want(t, "the level that is there", nodes[0].Raise(t.Context(), 2), nil)
	if n := nodes[0].Applied(); n != 1 {
		t.Errorf("%d records", n)
	}
	want(t, "a follower", nodes[1].Raise(t.Context(), 2), ErrNotLeading)
}

// TestUnknownOutcomesAreTriedAgain has a log that does not try again by itself.
func TestUnknownOutcomesAreTriedAgain(t *testing.T) {
	m := new(log.Memory)
	n := openNode(t, m, "n1", func(c *Config) { c.Log = m })
	n.clock.add(testLease)
	await(t, "it leads", n.Leads)
	faults := []log.Fault{log.LostUnknown, log.Full, log.StoredUnknown}
	n.Do(func() {
		m.Fault = func(uint64) (f log.Fault) {
			if len(faults) > 0 {
				f, faults = faults[0], faults[1:]
			}
			return f
		}
	})
	want(t, "a change", n.submit(add(1)).answer(t), nil)
	if last, _ := m.Last(t.Context()); last != 2 || !n.has(1) || len(faults) != 0 {
		t.Errorf("%d records, %d faults are left", last, len(faults))
	}
}

// TestFullLog refuses changes, and the node leads on.
func TestFullLog(t *testing.T) {
	n := led(t, new(log.Memory), "n1")[0]
	n.log.Fault(func() log.Fault { return log.Full })
	var refused error
	u := n.submit(func(tx *Tx) {
		if refused = tx.Refuses(); refused == nil {
			add(1)(tx)
		}
	})
	if want(t, "a change", u.answer(t), nil); !errors.Is(refused, log.ErrFull) || !n.Leads() {
		t.Errorf("refused by %v, leads: %t", refused, n.Leads())
	}
	n.log.Fault(nil)
	await(t, "it takes changes again", func() bool { return n.Broken() == nil })
	want(t, "a change", n.submit(add(1)).answer(t), nil)
}

// TestRefusedChangesKeepExpiries has the log refuse what changes when a set ends: it ends as
// before.
func TestRefusedChangesKeepExpiries(t *testing.T) {
	for name, change := range map[string]func(*Tx){
		"Drop":   func(tx *Tx) { tx.Drop(set(tx)) },
		"Expire": func(tx *Tx) { tx.Expire(set(tx), 0) },
		"Flush":  (*Tx).Flush,
	} {
		t.Run(name, func(t *testing.T) {
			n := led(t, new(log.Memory), "n1")[0]
			want(t, "a change", n.submit(func(tx *Tx) { tx.Expire(set(tx), n.Now()+1000) }).answer(t), nil)
			n.log.Fault(func() log.Fault { return log.Full })
			refused := n.submit(func(tx *Tx) {
				if tx.Refuses() == nil {
					change(tx)
				}
			})
			want(t, "a change to a full log", refused.answer(t), nil)
			n.log.Fault(nil)
			await(t, "it takes changes again", func() bool { return n.Broken() == nil })
			if all, expiring := n.store.Len(); all != 1 || expiring != 1 {
				t.Fatalf("%d sets, %d of them end", all, expiring)
			}
			n.clock.add(2 * time.Second)
			await(t, "the set ends", func() bool {
				all, _ := n.store.Len()
				return all == 0
			})
		})
	}
}

// TestLongLog refuses changes before the log is full, writes beats and hands over, and the next
// leader refuses them, too.
func TestLongLog(t *testing.T) {
	m := new(log.Memory)
	long := new(atomic.Bool)
	var nodes []*testNode
	for _, name := range []string{"n1", "n2"} {
		n := openNode(t, m, name, func(c *Config) { c.Log = &limited{c.Log.(*log.Node), long} })
		if nodes = append(nodes, n); name == "n1" {
			n.clock.add(testLease)
			await(t, "the first node leads", n.Leads)
		}
	}
	want(t, "a change", nodes[0].submit(add(1)).answer(t), nil)
	long.Store(true)
	refuses := func(n *testNode) bool {
		var refused error
		u := n.submit(func(tx *Tx) { refused = tx.Refuses() })
		return u.answer(t) == nil && errors.Is(refused, log.ErrLong)
	}
	await(t, "changes are refused", func() bool { return refuses(nodes[0]) })
	before := nodes[0].Applied()
	nodes[0].clock.add(testLease / 2)
	await(t, "a beat is written", func() bool { return nodes[0].Applied() > before })
	want(t, "hand over", nodes[0].HandOver(t.Context(), "n2"), nil)
	await(t, "the other leads", nodes[1].Leads)
	await(t, "it refuses changes", func() bool { return refuses(nodes[1]) })
	long.Store(false)
	await(t, "it takes changes again", func() bool { return nodes[1].Broken() == nil })
	want(t, "a change", nodes[1].submit(add(2)).answer(t), nil)
}

// A limited log has nearly reached its limit, or not.
type limited struct {
	*log.Node
	long *atomic.Bool
}

func (l *limited) Room() error {
	if l.long.Load() {
		return log.ErrLong
	}
	return nil
}

func (l *limited) Probe() error { return l.Room() }

// TestCloseWhileTheLogHangs leaves the outcome unknown: the unit may be stored.
func TestCloseWhileTheLogHangs(t *testing.T) {
	n := led(t, new(log.Memory), "n1")[0]
	n.log.Cut()
	u := n.submit(add(1))
	n.Close()
	if err := u.answer(t); err == nil || errors.Is(err, ErrNotLeading) {
		t.Error("the answer:", err)
	}
	want(t, "a change", n.submit(add(1)).answer(t), ErrClosed)
	want(t, "hand over", n.HandOver(t.Context(), ""), ErrClosed)
}

// TestHandOverWhileTheLogHangs ends the lead all the same.
func TestHandOverWhileTheLogHangs(t *testing.T) {
	n := led(t, new(log.Memory), "n1")[0]
	n.log.Cut()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	want(t, "hand over", n.HandOver(ctx, ""), context.DeadlineExceeded)
	await(t, "it follows", func() bool { return n.State().Role == Following })
	n.log.Heal()
	n.clock.add(3 * testLease)
	await(t, "it leads again", n.Leads)
	if e := n.Leader().Epoch; e != 2 {
		t.Errorf("epoch %d", e)
	}
}

// TestPlaceOfARetryIsTrimmed cuts the leader off after its record was stored, and trims: what
// became of the record cannot be known any more.
func TestPlaceOfARetryIsTrimmed(t *testing.T) {
	m := new(log.Memory)
	nodes := led(t, m, "n1", "n2")
	calls := 0
	nodes[0].log.Fault(func() log.Fault {
		if calls++; calls == 1 {
			nodes[0].log.Cut()
			return log.StoredUnknown
		}
		return log.None
	})
	u := nodes[0].submit(add(1))
	await(t, "the other has it", func() bool { return nodes[1].has(1) })
	nodes[1].clock.add(2 * testLease)
	await(t, "the other leads", nodes[1].Leads)
	if err := m.Trim(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	nodes[0].log.Heal()
	if err := u.answer(t); err == nil || errors.Is(err, ErrNotLeading) || u.restarts != 0 {
		t.Error("the answer:", err)
	}
	want(t, "it ended by", <-nodes[0].ended, log.ErrGap)
}

// TestFollowerOfALogThatFails has Watch fail now and then.
func TestFollowerOfALogThatFails(t *testing.T) {
	m := new(log.Memory)
	one := led(t, m, "n1")[0]
	two := openNode(t, m, "n2", func(c *Config) { c.Log = &fragile{Memory: m} })
	for k := range 5 {
		one.submit(func(tx *Tx) { tx.Expire(set(tx), int64(k)<<50) }).answer(t)
	}
	catchUp(t, m, two)
}

// A fragile log ends each Watch after an entry.
type fragile struct{ *log.Memory }

func (f *fragile) Watch(ctx context.Context, after uint64, do func(uint64, []byte) error) error {
	failure := errors.New("the connection is lost")
	return f.Memory.Watch(ctx, after, func(at uint64, b []byte) error {
		if at > after+1 {
			return failure
		}
		return do(at, b)
	})
}

// TestRefusedClaimWaitsAnew has a node that hears nothing of the log and can write to it.
func TestRefusedClaimWaitsAnew(t *testing.T) {
	m := new(log.Memory)
	l := &deaf{Memory: m}
	two := openNode(t, m, "n2", func(c *Config) { c.Log = l })
	led(t, m, "n1")
	for _, c := range []struct {
		step  time.Duration
		tries int64
	}{{testLease, 1}, {testLease, 1}, {testLease / 2, 2}, {0, 2}} {
		two.clock.add(c.step)
		two.turn()
		if got := l.tries.Load(); got != c.tries {
			t.Errorf("%d claims after a step of %v, want %d", got, c.step, c.tries)
		}
	}
}

// A deaf log hears nothing, and counts what is appended.
type deaf struct {
	*log.Memory
	tries atomic.Int64
}

func (d *deaf) Watch(ctx context.Context, _ uint64, _ func(uint64, []byte) error) error {
	<-ctx.Done()
	return ctx.Err()
}

func (d *deaf) Append(ctx context.Context, after uint64, b []byte) (uint64, error) {
	d.tries.Add(1)
	return d.Memory.Append(ctx, after, b)
}
