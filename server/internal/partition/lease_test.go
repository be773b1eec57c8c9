package partition

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/record"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// TestOneLeadsOthersFollow starts an empty cluster: only the winner's hash counts.
func TestOneLeadsOthersFollow(t *testing.T) {
	m := new(log.Memory)
	nodes := led(t, m, "n1", "n2", "n3")
	if u := nodes[0].submit(add(1)); u.answer(t) != nil {
		t.Error("the leader does not take a change")
	}
	catchUp(t, m, nodes...)
	for _, n := range nodes {
		if want := (Leader{"n1", "n1:6379", 1}); n.Leader() != want || n.Leads() != (n == nodes[0]) || !n.has(1) || n.Applied() != 2 {
			t.Errorf("%+v, leads: %t, has the key: %t", n.State(), n.Leads(), n.has(1))
		}
		if n.store.Hash() != nodes[0].config.Hash {
			t.Error("the hash is not the leader's")
		}
	}
	u := nodes[1].submit(add(2))
	want(t, "a change at a follower", u.answer(t), ErrNotLeading)
	if _, err := Open(t.Context(), Config{Store: store.New(), Log: m}); err == nil {
		t.Error("a server alone opens the log of a cluster")
	}
}

// TestEveryRecordIsApplied looks for the keys of thousands of records: in the copies of the leader, of
// a follower, and of a node that comes later.
func TestEveryRecordIsApplied(t *testing.T) {
	const keys = 2500
	m := new(log.Memory)
	nodes := led(t, m, "n1", "n2")
	for key := range keys {
		if _, err := nodes[0].change(modelOp{opAdd, key}); err != nil {
			t.Fatal(err)
		}
	}
	nodes = append(nodes, openNode(t, m, "n3"))
	catchUp(t, m, nodes...)
	for _, n := range nodes {
		for key := range keys {
			if got := n.copies(key); got != 1 {
				t.Errorf("%s: key %d is there %d times", n.self.Node, key, got)
			}
		}
	}
}

// TestLeaseIsCountedFromSending has an answer that takes most of a lease.
func TestLeaseIsCountedFromSending(t *testing.T) {
	n := led(t, new(log.Memory), "n1")[0]
	calls := 0
	n.log.Fault(func() log.Fault {
		if calls++; calls == 1 {
			n.clock.add(testLease * 8 / 10)
			return log.None
		}
		n.log.Cut() // the beat that is due
		return log.LostUnknown
	})
	if err := n.submit(add(1)).answer(t); err != nil {
		t.Fatal(err)
	}
	if left := n.State().Lease; left != testLease*2/10 {
		t.Errorf("%v are left of the lease", left)
	}
	n.clock.add(testLease * 2 / 10)
	if n.Leads() {
		t.Error("it leads after its lease")
	}
}

// TestReadsNeedTheLease lets the lease end while units are decided.
func TestReadsNeedTheLease(t *testing.T) {
	n := led(t, new(log.Memory), "n1")[0]
	u := n.submit(func(*Tx) { n.clock.add(testLease) })
	want(t, "a read", u.answer(t), ErrNotLeading)
	if u.restarts != 1 {
		t.Error("the read is not restarted")
	}
	await(t, "a beat renews the lease", n.Leads)
	epoch := n.Epoch()
	read := unitOf(func(*Tx) {})
	write := unitOf(func(tx *Tx) {
		add(1)(tx)
		n.clock.add(testLease)
	})
	n.Do(func() { n.Submit(read); n.Submit(write) })
	want(t, "a change, which is stored at its place", write.answer(t), nil)
	want(t, "a read in the same record", read.answer(t), nil)
	if n.Epoch() != epoch && n.Epoch() != 0 {
		t.Error("a record of the same epoch is of another one")
	}
}

// TestUnitsDoNotWaitForALogThatHangs cuts the leader off while units are queued.
func TestUnitsDoNotWaitForALogThatHangs(t *testing.T) {
	n := openNode(t, new(log.Memory), "n1", func(c *Config) { c.Clock = nil })
	await(t, "it leads", n.Leads)
	var hangs, waits *testUnit
	n.Do(func() {
		n.log.Cut()
		hangs = n.submit(func(tx *Tx) {
			add(1)(tx)
			tx.Barrier()
		})
		waits = n.submit(add(2)) // taken from the queue together with the first
	})
	want(t, "a unit behind a record that hangs", waits.answer(t), ErrNotLeading)
	select {
	case err := <-hangs.done:
		t.Error("it is unknown what is stored, the answer:", err)
	default:
	}
	n.log.Heal()
	want(t, "the unit whose record was late", hangs.answer(t), nil)
	await(t, "it leads again", n.Leads)
	if e := n.State().Leader.Epoch; e != 1 {
		t.Errorf("epoch %d: its lease was over, but no other has claimed", e)
	}
}

// TestClaimWaits cuts the leader off and puts the clock of a follower forward.
func TestClaimWaits(t *testing.T) {
	for _, extra := range []time.Duration{0, 2 * testLease} {
		m := new(log.Memory)
		one := led(t, m, "n1")[0]
		two := openNode(t, m, "n2", func(c *Config) { c.Prefer = func() time.Duration { return extra } })
		one.log.Cut()
		two.clock.add(testLease*124/100 + extra)
		two.turn()
		if s := two.State(); s.Role != Following {
			t.Errorf("it claims before the wait is over: %+v", s)
		}
		two.clock.add(testLease * 27 / 100)
		two.turn()
		if s := two.State(); s.Role != Leading || s.Leader.Epoch != 2 {
			t.Errorf("silence for longer than a lease and the spread: %+v", s)
		}
	}
}

// TestForeignRecordEndsTheTerm cuts a leader off whose clock stands still, so that its lease
// does not end by itself.
func TestForeignRecordEndsTheTerm(t *testing.T) {
	m := new(log.Memory)
	nodes := led(t, m, "n1", "n2")
	one, two := nodes[0], nodes[1]
	one.log.Cut()
	u := one.submit(add(1))
	two.clock.add(2 * testLease)
	await(t, "the other node leads", two.Leads)
	want(t, "a change there", two.submit(add(2)).answer(t), nil)
	one.log.Heal()
	want(t, "a change of the old leader", u.answer(t), ErrNotLeading)
	if u.restarts != 1 {
		t.Error("the unit is not restarted")
	}
	catchUp(t, m, one)
	if one.Leads() || one.Leader().Node != "n2" || one.has(1) || two.has(1) || !one.has(2) {
		t.Errorf("the old leader: %+v", one.State())
	}
	for i, e := range epochs(t, m) {
		if e != min(uint32(i)+1, 2) {
			t.Errorf("record %d has epoch %d", i+1, e)
		}
	}
}

// TestBeats puts all clocks forward together, in small steps: without a beat the lease would
// end.
func TestBeats(t *testing.T) {
	m := new(log.Memory)
	nodes := led(t, m, "n1", "n2")
	for step := range 40 {
		for _, n := range nodes {
			n.clock.add(testLease / 10)
		}
		nodes[0].turn()
		catchUp(t, m, nodes...)
		nodes[1].turn()
		if s := nodes[0].State(); s.Lease < testLease/2 || nodes[1].Leader().Node != "n1" {
			t.Fatalf("step %d: %+v", step, s)
		}
	}
	if n := len(epochs(t, m)); n > 25 {
		t.Errorf("%d records in 4 leases", n)
	}
	place, at := place(nodes[1])
	for range 5 { // there are beats between changes
		nodes[0].clock.add(testLease / 20)
		nodes[0].submit(func(tx *Tx) { tx.Expire(set(tx), 0) }).answer(t)
	}
	late := openNode(t, m, "n3", func(c *Config) { c.After, c.Position = place, at; c.Store = copyOfStore(nodes[1]) })
	if late.Leader().Node != "n1" {
		t.Errorf("a node that has not read the claim: %+v", late.State())
	}
}

// place returns where a node is.
func place(n *testNode) (c record.Chain, at uint64) {
	n.Do(func() { c, at = n.Place() })
	return c, at
}

// copyOfStore returns an empty store with the hash of a node.
func copyOfStore(n *testNode) *store.Store {
	s := store.New()
	s.LoadState(n.store.Hash(), 1, nil)
	return s
}

// TestNewLeaderKnowsWhatItApplied hands over and lets limits, names and times count that the
// other has applied.
func TestNewLeaderKnowsWhatItApplied(t *testing.T) {
	m := new(log.Memory)
	nodes := led(t, m, "n1", "n2")
	nodes[1].clock.add(testLease) // as the first one's
	for k := range filter.Key(5) {
		want(t, "an add", nodes[0].submit(add(k)).answer(t), nil)
	}
	one := nodes[0]
	const lasts = testLease / 2
	want(t, "a time", one.submit(func(tx *Tx) { tx.Expire(set(tx), tx.Now()+lasts.Milliseconds()) }).answer(t), nil)
	for round := range 4 { // to the other, and back
		from, to := nodes[round%2], nodes[(round+1)%2]
		want(t, "hand over", from.HandOver(t.Context(), to.self.Node), nil)
		await(t, "the other leads", to.Leads)
		var out store.Outcome
		u := to.submit(func(tx *Tx) {
			out = tx.AddKey(set(tx), 99, Origin{})
			tx.Rename(set(tx), []byte("other"))
			tx.Rename(tx.Find([]byte("other")), []byte("set"))
		})
		if want(t, "an add", u.answer(t), nil); out != store.Full {
			t.Errorf("round %d: the outcome of the sixth key of five is %d", round, out)
		}
	}
	catchUp(t, m, nodes[1])
	nodes[1].clock.add(lasts)
	time.Sleep(5 * one.tick) // a follower must not drop it
	if !nodes[1].has(1) || !one.has(1) {
		t.Error("the set is gone too early")
	}
	one.clock.add(lasts)
	await(t, "the leader drops what has ended", func() bool { return !one.has(1) })
	catchUp(t, m, nodes[1])
	if nodes[1].has(1) {
		t.Error("the follower has not dropped it")
	}
}

// TestHandOver looks at which node leads, with clocks that stand still.
func TestHandOver(t *testing.T) {
	m := new(log.Memory)
	nodes := led(t, m, "n1", "n2", "n3")
	led, epoch := true, nodes[0].Epoch()
	nodes[0].log.Fault(func() log.Fault { led = nodes[0].Leads(); return log.None })
	waits := unitOf(add(1))
	nodes[0].Do(func() {
		nodes[0].enqueue(func() { nodes[0].Submit(waits) })
	})
	waits.answer(t)
	want(t, "hand over", nodes[0].HandOver(t.Context(), "n3"), nil)
	if led {
		t.Error("it still leads when the record is sent")
	}
	await(t, "the heir leads", nodes[2].Leads)
	catchUp(t, m, nodes...)
	nodes[1].turn()
	if nodes[1].Leads() || nodes[0].Leads() || nodes[1].Leader().Node != "n3" {
		t.Errorf("%+v, %+v", nodes[0].State(), nodes[1].State())
	}
	want(t, "hand over by a follower", nodes[0].HandOver(t.Context(), ""), ErrNotLeading)

	nodes[2].log.Cut()
	nodes[0].clock.add(testLease * 19 / 10)
	nodes[0].turn()
	if nodes[0].State().Role != Following {
		t.Error("it claims again soon after it handed over")
	}
	nodes[0].clock.add(testLease / 10)
	await(t, "it claims when no other has", nodes[0].Leads)
	if nodes[0].Epoch() == epoch {
		t.Error("a reader of the first epoch takes this one for the same")
	}
	nodes[0].Close()
	catchUp(t, m, nodes[1])
	if nodes[1].Leader() != (Leader{}) {
		t.Errorf("the leader has ended: %+v", nodes[1].State())
	}
	nodes[1].clock.add(testLease / 16)
	await(t, "another leads after a leader was closed", nodes[1].Leads)
}

// TestUnitsOfALostBatch has a record that is refused in the middle of a unit.
func TestUnitsOfALostBatch(t *testing.T) {
	m := new(log.Memory)
	n := led(t, m, "n1")[0]
	foreign := func() {
		var b record.Builder
		b.Data(record.Claim, 0, record.Lease{Node: "x", Lasts: testLease}.AppendTo(nil))
		if _, err := m.Append(t.Context(), n.position, b.Record(n.nextHeader(n.chain.Epoch+1))); err != nil {
			t.Error(err)
		}
	}
	whole := unitOf(add(3))
	part := unitOf(func(tx *Tx) {
		add(1)(tx)
		tx.Barrier()
		foreign()
		add(2)(tx)
	})
	n.Do(func() { n.Submit(part); n.Submit(whole) })
	if err := part.answer(t); err == nil || errors.Is(err, ErrNotLeading) || part.restarts != 0 {
		t.Errorf("a unit that is stored in part: %v", err)
	}
	want(t, "a unit of which nothing is stored", whole.answer(t), ErrNotLeading)
	catchUp(t, m, n)
	n.clock.add(2 * testLease)
	await(t, "it leads again", n.Leads)
	early := n.submit(func(tx *Tx) {
		add(4)(tx)
		foreign()
		tx.Barrier()
	})
	want(t, "a unit that is lost at its first record", early.answer(t), ErrNotLeading)
	if early.restarts != 1 || !n.has(1) || n.has(2) || n.has(3) || n.has(4) {
		t.Errorf("%d restarts, keys %t %t %t %t", early.restarts, n.has(1), n.has(2), n.has(3), n.has(4))
	}
}

// TestClocksThatDiffer hands over to a node with another clock, which is reported if it differs
// by more than a minute. The age of records that were there before is no difference.
func TestClocksThatDiffer(t *testing.T) {
	for by, reports := range map[time.Duration]bool{50 * time.Second: false, 2 * time.Minute: true, -2 * time.Minute: true} {
		for _, live := range []bool{false, true} {
			m := new(log.Memory)
			one := led(t, m, "n1")[0]
			if !live {
				one.Close()
			}
			var said atomic.Bool
			two := openNode(t, m, "n2", func(c *Config) {
				clock := c.Clock
				c.Clock = func() (time.Time, time.Duration) {
					wall, running := clock()
					return wall.Add(by), running
				}
				c.Report = func(text string, _ error) {
					said.Store(said.Load() || strings.Contains(text, "synchronise the clocks"))
				}
			})
			if live {
				want(t, "hand over", one.HandOver(t.Context(), "n2"), nil)
			}
			two.clock.add(testLease)
			await(t, "the other leads", two.Leads)
			two.turn()
			if said.Load() != (live && reports) {
				t.Errorf("the clocks differ by %v, records are received: %t: it is reported: %t", by, live, said.Load())
			}
		}
	}
}
