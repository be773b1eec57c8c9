package partition

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/record"
)

// claimIfDue claims the lead if nothing was heard of a leader for long enough.
func (p *Partition) claimIfDue() {
	if p.shared == nil || p.role != Following || !p.claimIsDue() {
		return
	}
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if !closed {
		p.claim()
	}
}

// claimIsDue reports whether this node may claim. The last record that it applied was
// received after it was sent, so that a quarter more than a lease later the lease of its writer
// is over. Behind a record that hands over, and in an empty log, there is no lease.
func (p *Partition) claimIsDue() bool {
	lease := max(p.lease, p.others)
	spread := time.Duration(p.scatter * float64(lease/4))
	wait := lease + lease/4 + spread
	switch {
	case p.moved: // something stands there that was not received yet
	case p.handed && p.heir == p.self.Node:
		return true
	case p.handed && p.heir != "":
		wait = lease/4 + spread
	case p.handed, p.chain.Number == 0:
		wait = spread / 4
	}
	now := p.running()
	if now < max(p.heard+wait, p.quiet) {
		return false
	}
	return p.config.Prefer == nil || now >= max(p.heard+wait+p.config.Prefer(), p.quiet)
}

// claim tries to make this node the leader.
func (p *Partition) claim() {
	var b record.Builder
	if p.chain.Number == 0 {
		if err := p.addHash(&b); err != nil {
			p.end(err)
			return
		}
	}
	b.Data(record.Claim, 0, p.self.AppendTo(nil))
	r := b.Record(p.nextHeader(p.chain.Epoch + 1))
	sent := p.running()
	at, err := p.insist(p.ctx, r)
	switch {
	case err == nil:
		p.lead(sent, at, r)
	case errors.Is(err, log.ErrGap):
		p.end(err)
	default: // another was first, or the log is full
		p.waitAnew()
		p.moved = errors.Is(err, log.ErrMoved)
		if errors.Is(err, log.ErrFull) {
			p.report("the log is full: no node can lead", err)
		}
	}
}

func (p *Partition) nextHeader(epoch uint32) record.Header {
	return record.Header{Epoch: epoch, Number: p.chain.Number + 1, Time: p.clock.now(), Previous: p.chain.Sum}
}

// lead makes this node the leader: its claim is stored. From now on it takes its place in the log
// from its own records alone.
func (p *Partition) lead(sent time.Duration, at uint64, claim []byte) {
	p.unwatch()
	p.incoming = nil
	p.role, p.beat = Leading, sent
	p.handed, p.moved = false, false
	p.leader = Leader{p.self.Node, p.self.Address, p.chain.Epoch + 1}
	if p.applied(at, claim) != nil {
		return
	}
	p.store.ForgetPieces()
	p.resetEntries()
	p.renew(sent)
	if p.skew.Abs() > maxSkew {
		p.report("the clock of this node is not that of the leader before: synchronise the clocks of all nodes, sets expire by that of the leader", fmt.Errorf("they differ by %v", p.skew))
	}
	p.skew = 0
}

// maxSkew is how much the clocks of nodes may differ before it is reported.
const maxSkew = time.Minute

// addBeat adds to a record that this node leads.
func (p *Partition) addBeat() {
	p.beat = p.running()
	p.tx.builder.Data(record.Beat, 0, p.self.AppendTo(nil))
}

// beatIfDue writes a beat now and then, also between changes: nodes that have not read the claim
// hear by it which node leads.
func (p *Partition) beatIfDue() {
	if p.shared == nil || p.role != Leading || p.running()-p.beat < p.lease/5 {
		return
	}
	p.tx.begin(p.clock.now())
	p.addBeat()
	_ = p.write() // no unit waits for it
}

// dethrone ends the lead of this node after an append that was not stored, or whose outcome is
// unknown.
func (p *Partition) dethrone(err error) error {
	t := &p.tx
	p.giveUp()
	if errors.Is(err, log.ErrMoved) {
		t.turnAway()
	} else {
		t.answer(err)
	}
	if errors.Is(err, log.ErrGap) {
		p.end(err)
	} else {
		p.stepDown()
	}
	return err
}

// stepDown makes a leader a follower.
func (p *Partition) stepDown() {
	p.giveUp()
	p.leader = Leader{}
	p.broken.Store(nil)
	p.refuseWaiting()
	p.startFollowing()
}

// HandOver ends the lead of this node so that another one may claim it at once: the one that
// is named, or any if to is empty. This node claims again only if no other has for two leases.
// With an error the lead has ended all the same, but for ErrNotLeading and ErrClosed; others have
// to wait for the end of the lease then.
func (p *Partition) HandOver(ctx context.Context, to string) error {
	return p.order(ctx, func() error { return p.handOver(ctx, to) })
}

// order runs a function in the goroutine of the partition if this node leads, and returns its
// error.
func (p *Partition) order(ctx context.Context, do func() error) error {
	result := make(chan error, 1)
	ok := p.enqueue(func() {
		switch {
		case ctx.Err() != nil:
			result <- ctx.Err()
		case p.shared == nil || p.role != Leading:
			result <- ErrNotLeading
		default:
			result <- do()
		}
	})
	if !ok {
		return ErrClosed
	}
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// handOver gives the lease up before it sends the record that says so.
func (p *Partition) handOver(ctx context.Context, to string) error {
	p.giveUp()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	var b record.Builder
	b.Data(record.HandOver, 0, []byte(to))
	r := b.Record(p.nextHeader(p.chain.Epoch))
	at, err := p.insist(ctx, r)
	if err == nil {
		err = p.applied(at, r)
	}
	if p.role == Leading {
		p.quiet = p.running() + 2*p.lease
		p.stepDown()
	}
	return err
}

// leave hands over when the partition is closed.
func (p *Partition) leave() {
	if p.shared != nil && p.role == Leading {
		_ = p.handOver(p.ctx, "") // otherwise others wait until the lease is over
	}
}

// Raise says in the log that records of a level may come. Every node must read it.
func (p *Partition) Raise(ctx context.Context, level uint8) error {
	return p.order(ctx, func() error {
		if level > p.highest {
			return fmt.Errorf("partition: level %d, this release writes up to %d", level, p.highest)
		}
		if level <= p.level {
			return nil
		}
		p.tx.begin(p.clock.now())
		p.tx.builder.Data(record.Level, 0, []byte{level})
		err := p.write()
		if err == nil {
			p.level = level
			p.tell()
		}
		return err
	})
}
