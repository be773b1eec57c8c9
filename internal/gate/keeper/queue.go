package keeper

import (
	"sync"

	"github.com/everbloom-go/everbloom/internal/gate/event"
)

// A Queue has the events that a writer of this process has not taken yet. Unlike a listener
// it misses none, up to a number that only a writer that stands still reaches.
type Queue struct {
	mu     sync.Mutex
	most   int
	events []event.Event
	more   chan struct{} // has one element if there are events
}

// maxQueued is how many events a Queue keeps: some hundred megabytes.
const maxQueued = 1 << 20

// Queue returns a queue of the events from now on.
func (k *Keeper) Queue() *Queue {
	q := &Queue{most: maxQueued, more: make(chan struct{}, 1)}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.queues = append(k.queues, q)
	return q
}

// put adds an event and reports whether there was room.
func (q *Queue) put(e *event.Event) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.events) >= q.most {
		return false
	}
	q.events = append(q.events, *e)
	select {
	case q.more <- struct{}{}:
	default:
	}
	return true
}

// More returns a channel that has an element if Take returns events.
func (q *Queue) More() <-chan struct{} { return q.more }

// Take returns the events that have come, in order.
func (q *Queue) Take() []event.Event {
	q.mu.Lock()
	defer q.mu.Unlock()
	events := q.events
	q.events = nil
	return events
}

// tell numbers an event, has it written, and passes it on.
func (k *Keeper) tell(e *event.Event) {
	k.seq++
	k.recordFailure(k.journal.append(k.seq, e))
	for _, q := range k.queues {
		if !q.put(e) {
			k.missed++
		}
	}
	for c := range k.listeners {
		select {
		case c <- *e:
		default:
			k.missed++
		}
	}
}

// Listen returns the events from now on, until stop is called. One that does not keep up
// misses some.
func (k *Keeper) Listen() (events <-chan event.Event, stop func()) {
	c := make(chan event.Event, 1024)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.listeners[c] = true
	return c, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.listeners, c)
	}
}
