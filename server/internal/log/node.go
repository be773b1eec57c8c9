package log

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A Node is a Memory as one of several nodes sees it, over a network that can be cut and
// loses answers. It retries as an engine does: with the same bytes and position, until the
// outcome is known.
type Node struct {
	m *Memory

	mu     sync.Mutex
	healed chan struct{} // closed when the node is connected; nil while it is
	delay  func() time.Duration
	fault  func() Fault
}

// Node returns a new view of the log.
func (m *Memory) Node() *Node { return &Node{m: m} }

// Cut cuts the node off: its appends hang, and it hears nothing. An append that is under way may
// or may not be stored.
func (n *Node) Cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.healed == nil {
		n.healed = make(chan struct{})
	}
}

// Heal connects the node again.
func (n *Node) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.healed != nil {
		close(n.healed)
		n.healed = nil
	}
}

// Delay has every message take some time; nil means none.
func (n *Node) Delay(f func() time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.delay = f
}

// Fault has f say before each try of an append what is to go wrong; nil means nothing. After
// LostUnknown and StoredUnknown the node tries again.
func (n *Node) Fault(f func() Fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fault = f
}

// state returns the channel that is closed when the node is connected, nil if it is, and how
// long the next message takes.
func (n *Node) state() (healed chan struct{}, delay time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.delay != nil {
		delay = n.delay()
	}
	return n.healed, delay
}

// pass lets a message through when the node is connected, or returns the error of ctx.
func (n *Node) pass(ctx context.Context) error {
	_, delay := n.state()
	if delay > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(delay):
		}
	}
	for {
		healed, _ := n.state()
		if healed == nil {
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-healed:
		}
	}
}

// next returns what goes wrong with the next try.
func (n *Node) next() Fault {
	n.mu.Lock()
	fault := n.fault
	n.mu.Unlock()
	if fault == nil {
		return None
	}
	return fault()
}

// Append stores b. It goes on until the outcome is known or ctx ends.
func (n *Node) Append(ctx context.Context, after uint64, b []byte) (uint64, error) {
	for {
		if err := n.pass(ctx); err != nil {
			return 0, errors.Join(errOutcome, err)
		}
		fault := n.next()
		switch fault {
		case Full:
			return 0, ErrFull
		case LostUnknown:
			continue
		}
		at, err := n.m.Append(ctx, after, b)
		if fault == StoredUnknown {
			continue
		}
		if err := n.pass(ctx); err != nil { // the answer is a message too
			return 0, errors.Join(errOutcome, err)
		}
		return at, err
	}
}

// Follow hands the entries behind after to do.
func (n *Node) Follow(ctx context.Context, after uint64, do func(at uint64, b []byte) error) error {
	if err := n.pass(ctx); err != nil {
		return err
	}
	return n.m.Follow(ctx, after, do)
}

// Watch hands the entries behind after to do, and those that come.
func (n *Node) Watch(ctx context.Context, after uint64, do func(at uint64, b []byte) error) error {
	return n.m.Watch(ctx, after, func(at uint64, b []byte) error {
		if err := n.pass(ctx); err != nil {
			return err
		}
		return do(at, b)
	})
}

// Trim forgets the entries through a position.
func (n *Node) Trim(ctx context.Context, through uint64) error {
	if err := n.pass(ctx); err != nil {
		return err
	}
	return n.m.Trim(ctx, through)
}

// Last returns the position of the last entry.
func (n *Node) Last(ctx context.Context) (uint64, error) {
	if err := n.pass(ctx); err != nil {
		return 0, err
	}
	return n.m.Last(ctx)
}

// Close does nothing.
func (n *Node) Close() error { return nil }
