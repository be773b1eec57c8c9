package partition

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/record"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// A Unit is a list of commands of one connection that is decided together.
type Unit interface {
	// Decide runs the commands, as far as they were not run before, and keeps their replies.
	Decide(t *Tx)

	// Restart forgets what Decide did: none of it was stored.
	Restart()

	// Answer ends the unit: everything it decided is stored and applied. With ErrNotLeading
	// nothing is, and with another error it is unknown what is stored.
	Answer(err error)
}

// A Partition owns a log and a store.
type Partition struct {
	store    *store.Store
	log      log.Log
	config   Config
	clock    clock
	chain    record.Chain
	position uint64
	tx       Tx
	outcomes []store.Outcome
	expiries expiries
	lost     bool   // memory is not what the log says
	rest     []Unit // that were taken from the queue and are not decided
	member

	mu     sync.Mutex
	queue  []Unit
	tasks  []func()
	closed bool
	wake   chan struct{}
	done   chan struct{}
	cancel context.CancelFunc
	ctx    context.Context //nolint:containedctx // it ends with the partition

	broken  atomic.Pointer[error]
	records atomic.Uint64
	logged  atomic.Uint64 // bytes
	effects atomic.Uint64
	waited  atomic.Int64 // nanoseconds for the log
	read    atomic.Uint64
}

// ErrClosed is the answer to units that come too late.
var ErrClosed = errors.New("partition: closed")

// ErrNotLeading is the answer to units of a node that does not lead the partition. Nothing of
// them is stored, and they are as they were before Decide.
var ErrNotLeading = errors.New("partition: this node does not lead it")

// Open reads the log to its end and starts the partition. With Config.Node it follows the log at
// first, and leads when it has claimed the lead.
func Open(ctx context.Context, c Config) (*Partition, error) {
	p := &Partition{
		store: c.Store, log: c.Log, config: c, chain: c.After, position: c.Position,
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	p.clock.start(c.Clock)
	if err := p.enroll(c); err != nil {
		return nil, err
	}
	p.tx = Tx{p: p, finder: store.NewFinder(c.Store), names: make(map[string]*store.Entry), copies: make(map[copyOf]uint64)}
	if err := p.follow(ctx); err != nil {
		return nil, err
	}
	if err := p.store.Loaded(); err != nil {
		return nil, err
	}
	if c.Check != nil {
		if err := c.Check(p.chain); err != nil {
			return nil, err
		}
	}
	p.resetEntries()
	if err := p.clock.behind(); err != nil {
		p.report(standsStill, err)
	}
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := p.join(); err != nil {
		return nil, err
	}
	go p.run()
	return p, nil
}

// join begins to lead if the node is alone, else to follow.
func (p *Partition) join() error {
	switch {
	case p.shared != nil:
		p.startFollowing()
	case p.chain.Epoch != 0:
		return fmt.Errorf("partition: the log has epoch %d: it is that of a cluster, which a server alone must not write to", p.chain.Epoch)
	case p.chain.Number == 0:
		return p.begin()
	}
	return nil
}

// resetEntries forgets what was decided about entries and not applied, and reads again when they
// end.
func (p *Partition) resetEntries() {
	p.expiries.clear()
	p.store.Entries(func(e *store.Entry) {
		e.ResetAhead()
		p.expiries.set(e.Expiry(), e.Number())
	})
}

// begin writes the first record of a server alone, with the hash of items.
func (p *Partition) begin() error {
	p.tx.now = p.clock.now()
	if err := p.addHash(&p.tx.builder); err != nil {
		return err
	}
	return p.commit()
}

// addHash adds the hash of items to a record, the first one.
func (p *Partition) addHash(b *record.Builder) error {
	data, err := p.config.Hash.MarshalBinary()
	if err == nil {
		b.Data(record.Hash, 0, data)
	}
	return err
}

// follow applies the records behind the last one that was applied.
func (p *Partition) follow(ctx context.Context) error {
	return p.log.Follow(ctx, p.position, p.take)
}

// take applies a record that is in the log.
func (p *Partition) take(at uint64, b []byte) error {
	next, h, effects, err := p.chain.Next(b)
	if err == nil {
		err = p.hear(h, effects)
	}
	if err == nil {
		p.outcomes, err = p.store.Apply(h.Number, effects, p.outcomes[:0])
	}
	if err != nil {
		return fmt.Errorf("partition: position %d of the log: %w", at, err)
	}
	p.skew = p.clock.since(h.Time)
	p.clock.least(h.Time)
	p.chain, p.position = next, at
	p.read.Add(uint64(len(b)))
	p.tell()
	return nil
}

// Submit hands a unit to the partition, which answers it some time: at once with ErrNotLeading if
// it does not lead.
func (p *Partition) Submit(u Unit) {
	var refuse error
	p.mu.Lock()
	switch {
	case p.closed:
		refuse = ErrClosed
	case !p.Leads():
		refuse = ErrNotLeading
	default:
		p.queue = append(p.queue, u)
	}
	p.mu.Unlock()
	if refuse != nil {
		u.Answer(refuse)
		return
	}
	p.signal()
}

// Do runs a function in the goroutine of the partition, between two batches, and returns
// when it is done. It reports false if the partition is closed.
func (p *Partition) Do(task func()) bool {
	finished := make(chan struct{})
	ok := p.enqueue(func() {
		defer close(finished)
		task()
	})
	if ok {
		<-finished
	}
	return ok
}

// enqueue has the goroutine of the partition run a function. It reports false if the partition
// is closed.
func (p *Partition) enqueue(task func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.tasks = append(p.tasks, task)
	p.signal()
	return true
}

func (p *Partition) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Now returns the time in milliseconds since 1970. It never goes back.
func (p *Partition) Now() int64 { return p.clock.now() }

// Place returns the last record that was applied, and its position in the log. It is called
// by functions that Do runs.
func (p *Partition) Place() (record.Chain, uint64) { return p.chain, p.position }

// Stats are numbers that only grow.
type Stats struct {
	Records, Bytes, Effects uint64
	Waited                  time.Duration // for the log
	Read                    uint64        // bytes of records that were there before
}

// Stats returns what the partition did since it was opened.
func (p *Partition) Stats() Stats {
	return Stats{p.records.Load(), p.logged.Load(), p.effects.Load(), time.Duration(p.waited.Load()), p.read.Load()}
}

// Broken returns why nothing can be changed at the moment, nil if it can.
func (p *Partition) Broken() error {
	if err := p.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// Close ends the partition when all units that wait were answered. A leader hands over. If the
// log does not answer for two leases, the outcome of what is under way stays unknown. It does not
// close the log.
func (p *Partition) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.signal()
	if p.shared != nil {
		defer time.AfterFunc(2*p.lease, p.cancel).Stop()
	}
	<-p.done
	p.cancel()
	p.watching.Wait()
}

func (p *Partition) report(text string, err error) {
	if p.config.Report != nil {
		p.config.Report(text, err)
	}
}
