package partition

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/record"
)

// DefaultLease is how long a record of the leader lets it lead.
const DefaultLease = 5 * time.Second

// A Role is what a node does for a partition.
type Role uint8

// The roles.
const (
	Following Role = iota // it applies what the leader writes
	Leading               // it writes; whether it has the lease is another question
	Ended                 // nothing, see Config.Ended
)

// String returns the name of the role.
func (r Role) String() string { return [...]string{"following", "leading", "ended"}[r] }

// A Leader is the node that a partition is led by.
type Leader struct {
	Node    string
	Address string
	Epoch   uint32
}

// A State is what a partition is at the moment.
type State struct {
	Role     Role
	Leader   Leader        // as heard last; zero if unknown
	Lease    time.Duration // how long this node may still lead; 0 if it does not
	Applied  uint64        // number of the last record
	Position uint64        // of that record in the log
	Heard    time.Time     // when the last record came or was stored
	Level    uint8         // of the records that may come, see package record
}

// A member is a partition's part in a cluster. All but shared, lease, held and told belongs to
// the goroutine of the partition.
type member struct {
	shared  log.Shared // nil if the node is alone
	self    record.Lease
	lease   time.Duration
	tick    time.Duration
	highest uint8 // level that this node reads

	role  Role
	level uint8
	beat  time.Duration // when the last beat was sent; times are those of the running clock

	incoming chan entry // records of others; nil while leading
	unwatch  context.CancelFunc
	watching sync.WaitGroup

	leader  Leader
	heard   time.Duration // when the last record was received, or the wait began anew
	others  time.Duration // the lease of the node that leads
	handed  bool          // the last record hands over
	heir    string        // to that node
	moved   bool          // a claim was refused: another record stands behind the last one
	quiet   time.Duration // until then another node is to claim
	scatter float64       // 0 to 1: nodes wait differently long
	skew    time.Duration // of this node's clock, by the last record that was received

	held atomic.Pointer[heldLease] // nil if this node does not lead

	telling sync.Mutex
	told    State
}

// A heldLease is until when a node may lead.
type heldLease struct {
	epoch uint32
	until time.Duration
}

// enroll takes what a configuration says about the cluster.
func (m *member) enroll(c Config) error {
	m.tick, m.highest, m.level = expiryTick, cmp.Or(c.Highest, record.Highest), 1
	if c.Node == "" {
		m.role, m.told.Role = Leading, Leading
		return nil
	}
	shared, ok := c.Log.(log.Shared)
	if !ok {
		return errors.New("partition: a node with a name needs a log that can be shared")
	}
	if m.lease = c.Lease.Truncate(time.Millisecond); m.lease <= 0 {
		m.lease = DefaultLease
	}
	m.shared, m.level, m.tick = shared, 2, min(expiryTick, m.lease/10)
	m.self = record.Lease{Node: c.Node, Address: c.Address, Lasts: m.lease}
	return nil
}

// running returns the time that leases are measured by.
func (p *Partition) running() time.Duration {
	_, running := p.clock.source()
	return running
}

// Epoch returns 0 if this node does not have the lease at this moment, else the epoch in which it
// leads; that of a node alone is 1. What was read between two calls that return the same number,
// not 0, was the state of the moment: it has every change that was acknowledged before the first
// call.
func (p *Partition) Epoch() uint64 {
	if p.shared == nil {
		return 1
	}
	t := p.held.Load()
	if t == nil || p.running() >= t.until {
		return 0
	}
	return uint64(t.epoch) // at least 1: a claim has the next one
}

// Leads reports whether this node has the lease at this moment. Reads must use Epoch.
func (p *Partition) Leads() bool { return p.Epoch() != 0 }

// Leader returns the node that leads, as heard last, and the zero Leader if that is unknown.
func (p *Partition) Leader() Leader { return p.State().Leader }

// Applied returns the number of the last record that is in the store.
func (p *Partition) Applied() uint64 { return p.State().Applied }

// State returns what the partition is at the moment.
func (p *Partition) State() State {
	p.telling.Lock()
	s := p.told
	p.telling.Unlock()
	if t := p.held.Load(); t != nil {
		s.Lease = max(0, t.until-p.running())
	}
	return s
}

// tell publishes the state, behind a record or a change of the role.
func (p *Partition) tell() {
	p.telling.Lock()
	defer p.telling.Unlock()
	if p.told.Applied != p.chain.Number {
		p.told.Heard = time.Now()
	}
	p.told.Role, p.told.Leader, p.told.Level = p.role, p.leader, p.level
	p.told.Applied, p.told.Position = p.chain.Number, p.position
}

// renew lets this node lead for a lease from when a record was sent that is stored now.
func (p *Partition) renew(sent time.Duration) {
	p.held.Store(&heldLease{p.chain.Epoch, sent + p.lease})
}

// giveUp ends the lease of this node.
func (p *Partition) giveUp() { p.held.Store(nil) }

// append appends a record of the leader. While the log does not answer, units that wait are
// refused when the lease is over.
func (p *Partition) append(b []byte) (at uint64, err error) {
	if p.shared == nil {
		return p.log.Append(p.ctx, p.position, b)
	}
	p.handBack()
	sent := p.running()
	if t := p.held.Load(); t != nil {
		defer time.AfterFunc(t.until-sent+time.Millisecond, p.refuseWaiting).Stop()
	}
	if at, err = p.insist(p.ctx, b); err == nil {
		p.renew(sent)
	}
	return at, err
}

// insist appends a record behind the last one. If the outcome is unknown it tries again with the
// same bytes at the same place until it is known or ctx ends. A log does so by itself, but for
// errors that it does not know.
func (p *Partition) insist(ctx context.Context, b []byte) (uint64, error) {
	for tries := 0; ; tries++ {
		at, err := p.shared.Append(ctx, p.position, b)
		full := errors.Is(err, log.ErrFull) && tries == 0 // later, an earlier try may still be stored
		if err == nil || full || errors.Is(err, log.ErrMoved) || errors.Is(err, log.ErrGap) || ctx.Err() != nil {
			return at, err
		}
		if tries == 0 {
			p.report("the log does not answer: trying again", err)
		}
		pause(ctx, p.tick)
	}
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// handBack puts the units that are not decided back into the queue, before the log is waited for.
func (p *Partition) handBack() {
	if len(p.rest) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.rest, p.queue...)
	p.rest = nil
}

// refuseWaiting refuses the units in the queue if this node does not have the lease.
func (p *Partition) refuseWaiting() {
	if p.Leads() {
		return
	}
	p.mu.Lock()
	units := p.queue
	p.queue = nil
	p.mu.Unlock()
	refuse(units)
}

// refuse answers units that were not decided.
func refuse(units []Unit) {
	for _, u := range units {
		u.Answer(ErrNotLeading)
	}
}

// errPartial is the answer to units that are stored in part. Then they must not be decided
// elsewhere.
var errPartial = errors.New("partition: another node leads now: a part of the commands is stored")

// turnAway answers a unit that was decided and of which nothing more is stored.
func turnAway(u decided) {
	if u.partial {
		u.Answer(errPartial)
		return
	}
	u.Restart()
	u.Answer(ErrNotLeading)
}

// answerUnchanged ends the units of a batch that changes nothing. No record says that they
// saw the last state, so the lease must: it is looked at after they were decided. Units that
// are stored in part cannot go elsewhere; for those a record is written.
func (t *Tx) answerUnchanged() {
	switch p := t.p; {
	case p.Leads():
		t.answer(nil)
	case p.role == Leading && slices.ContainsFunc(t.units, func(u decided) bool { return u.partial }):
		p.addBeat()
		_ = p.write() // the units are told
	default:
		t.turnAway()
	}
}

// turnAway answers all units that are decided.
func (t *Tx) turnAway() {
	for i, u := range t.units {
		t.units[i] = decided{}
		turnAway(u)
	}
	t.units = t.units[:0]
}
