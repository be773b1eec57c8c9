package partition

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/record"
)

// An entry is a record that was received, or the reason why none will be.
type entry struct {
	at  uint64
	b   []byte
	err error
}

// maxIncoming is how many records wait to be applied.
const maxIncoming = 16

// startFollowing makes this node a follower, from the last record on that it applied.
func (p *Partition) startFollowing() {
	p.role, p.skew = Following, 0 // what Open has read is old
	p.waitAnew()
	ctx, cancel := context.WithCancel(p.ctx)
	incoming := make(chan entry, maxIncoming)
	p.incoming, p.unwatch = incoming, cancel
	after := p.position
	p.watching.Go(func() { p.watchLog(ctx, after, incoming) })
	p.tell()
}

// waitAnew begins the wait before this node claims the lead.
func (p *Partition) waitAnew() {
	p.heard, p.scatter = p.running(), rand.Float64()
}

// watchLog sends the records behind a position, until ctx ends or one is missing.
func (p *Partition) watchLog(ctx context.Context, after uint64, out chan<- entry) {
	send := func(e entry) error {
		select {
		case out <- e:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for failed := false; ctx.Err() == nil; failed = true {
		err := p.shared.Watch(ctx, after, func(at uint64, b []byte) error {
			after = at
			return send(entry{at: at, b: bytes.Clone(b)})
		})
		if errors.Is(err, log.ErrGap) {
			_ = send(entry{err: fmt.Errorf("partition: behind position %d of the log: %w", after, err)}) // or it is not wanted
			return
		}
		if !failed && ctx.Err() == nil {
			p.report("the log cannot be followed: trying again", err)
		}
		pause(ctx, p.tick)
	}
}

// receive applies a record of another node.
func (p *Partition) receive(e entry) {
	if p.role != Following || e.err == nil && e.at <= p.position {
		return
	}
	if e.err == nil {
		p.heard = p.running()
		e.err = p.take(e.at, e.b)
	}
	if e.err != nil {
		p.end(e.err)
	}
}

// receiveAll applies what was received already: a node that was busy or stopped must not take
// that for silence.
func (p *Partition) receiveAll() {
	for range maxIncoming {
		select {
		case e := <-p.incoming:
			p.receive(e)
		default:
			return
		}
	}
}

// hear looks at what a record says about the nodes, before it is applied.
func (p *Partition) hear(h record.Header, effects record.Effects) error {
	p.handed, p.moved = false, false
	claimed := false
	for h.Level > 1 {
		x, ok, err := effects.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		claimed = claimed || x.Code == record.Claim
		if err := p.hearEffect(h, &x); err != nil {
			return err
		}
	}
	if claimed != (h.Epoch > p.chain.Epoch) {
		return fmt.Errorf("partition: epoch %d follows %d, with a claim: %t: %w", h.Epoch, p.chain.Epoch, claimed, record.ErrDamaged)
	}
	return nil
}

func (p *Partition) hearEffect(h record.Header, x *record.Effect) error {
	switch x.Code {
	case record.Claim, record.Beat:
		l, err := record.ReadLease(x.Data)
		if err != nil {
			return err
		}
		p.leader, p.others = Leader{l.Node, l.Address, h.Epoch}, l.Lasts
		if x.Code == record.Claim {
			p.store.ForgetPieces() // of contents that the node before did not complete
		}
	case record.HandOver:
		p.leader, p.handed, p.heir = Leader{}, true, string(x.Data)
	case record.Level:
		if len(x.Data) != 1 {
			return fmt.Errorf("partition: a level of %d bytes: %w", len(x.Data), record.ErrDamaged)
		}
		if x.Data[0] > p.highest {
			return fmt.Errorf("partition: records of level %d may follow, this release reads up to %d: upgrade it: %w", x.Data[0], p.highest, record.ErrNewer)
		}
		p.level = max(p.level, x.Data[0])
	}
	return nil
}

// end stops the partition: it cannot follow the log.
func (p *Partition) end(err error) {
	if p.role == Ended {
		return
	}
	p.giveUp()
	p.role, p.leader, p.incoming = Ended, Leader{}, nil
	p.unwatch()
	p.broken.Store(nil)
	p.refuseWaiting()
	p.tell()
	if p.config.Ended != nil {
		go p.config.Ended(err)
	}
}
