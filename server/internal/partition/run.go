package partition

import (
	"errors"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/record"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

const (
	expiryTick = 100 * time.Millisecond
	expireMost = 1000 // entries that are dropped at once
	retryEvery = time.Second
)

// run is the goroutine of the partition.
func (p *Partition) run() {
	defer close(p.done)
	ticks := time.NewTicker(p.tick)
	defer ticks.Stop()
	var tried, checked time.Time // to repair, for room
	for {
		select {
		case <-p.wake:
		case e := <-p.incoming:
			p.receive(e)
		case <-ticks.C:
			if text, err := p.clock.adjust(); text != "" {
				p.report(text, err)
			}
			p.expire()
		}
		p.receiveAll()
		p.claimIfDue()
		if p.Broken() == nil {
			tried = time.Time{}
			if time.Since(checked) >= retryEvery {
				p.checkRoom()
				checked = time.Now()
			}
		} else if time.Since(tried) >= retryEvery {
			p.repair()
			tried = time.Now()
		}
		if p.work() {
			p.leave()
			return
		}
	}
}

// work handles what waits. It reports whether the partition is closed and nothing waits.
func (p *Partition) work() (ended bool) {
	for {
		p.beatIfDue()
		p.mu.Lock()
		units, tasks := p.queue, p.tasks
		p.queue, p.tasks = nil, nil
		closed := p.closed
		p.mu.Unlock()
		if len(units) == 0 && len(tasks) == 0 {
			return closed
		}
		for _, task := range tasks {
			task()
		}
		p.decide(units)
	}
}

// decide lets units decide, and commits.
func (p *Partition) decide(units []Unit) {
	if !p.Leads() {
		refuse(units)
		return
	}
	t := &p.tx
	now := p.clock.now()
	p.rest = units
	for len(p.rest) > 0 {
		u := p.rest[0]
		p.rest = p.rest[1:]
		t.begin(now)
		t.run(u)
		if t.err != nil {
			t.abandon(u)
			continue
		}
		t.units = append(t.units, decided{u, t.partial})
		if t.builder.Len() > softLimit {
			_ = p.commit() // the units are told
		}
	}
	p.rest = nil
	_ = p.commit() // the units are told
}

// run lets a unit decide.
func (t *Tx) run(u Unit) {
	u.Decide(t)
	t.foresight.forget() // its items are the unit's
}

// abandon answers a unit that a commit failed in the middle of. If it is certain that
// nothing of it is stored, it is refused as units of a failed commit are.
func (t *Tx) abandon(u Unit) {
	err := t.err
	t.undo()
	switch {
	case !t.partial && errors.Is(err, log.ErrFull):
		t.begin(t.now)
		t.refuse = err
		u.Restart()
		t.run(u)
		u.Answer(nil)
	case t.p.shared != nil && errors.Is(err, log.ErrMoved):
		turnAway(decided{u, t.partial})
	default:
		u.Answer(err)
	}
}

// begin prepares for a unit.
func (t *Tx) begin(now int64) {
	t.partial, t.err, t.now = false, nil, now
	t.refuse = t.p.Broken()
}

// expire drops entries whose time is over.
func (p *Partition) expire() {
	t := &p.tx
	if !p.Leads() || p.Broken() != nil || len(p.expiries.list) == 0 {
		return
	}
	t.begin(p.clock.now())
	for range expireMost {
		number, ok := p.expiries.pop(t.now)
		if !ok {
			break
		}
		e := p.store.ByNumber(number)
		if e == nil || e.Ahead.Gone || e.Ahead.Expiry == 0 || e.Ahead.Expiry > t.now {
			continue
		}
		t.drop(e, record.ByTime)
	}
	_ = p.commit() // nothing waits for it; the entries are found ended all the same
}

// commit appends what was decided to the log, applies it and answers the units.
func (p *Partition) commit() error {
	t := &p.tx
	if t.builder.Effects() == 0 {
		t.answerUnchanged()
		return nil
	}
	if err := p.Broken(); err != nil {
		t.undo()
		t.answer(err)
		return err
	}
	return p.write()
}

// write makes a record of what was decided, appends it to the log, applies it and answers the
// units.
func (p *Partition) write() error {
	t := &p.tx
	b := t.builder.Record(record.Header{Epoch: p.chain.Epoch, Number: p.chain.Number + 1, Time: t.now, Previous: p.chain.Sum})
	started := time.Now()
	at, err := p.append(b)
	p.waited.Add(int64(time.Since(started)))
	if err != nil {
		return p.failed(err)
	}
	err = p.applied(at, b)
	t.forget()
	t.answer(err)
	return err
}

// applied applies a record that is on disk.
func (p *Partition) applied(at uint64, b []byte) error {
	p.chain, p.position = record.Of(b), at
	p.tell()
	if p.config.Tail != nil {
		p.config.Tail(p.chain)
	}
	h, effects, err := record.Open(b)
	if err == nil {
		p.outcomes, err = p.store.Apply(h.Number, effects, p.outcomes[:0])
	}
	p.records.Add(1)
	p.logged.Add(uint64(len(b)))
	p.effects.Add(uint64(len(p.outcomes)))
	if err != nil {
		p.fatal(err)
		return err
	}
	p.fix()
	return nil
}

// fix corrects the replies that were not what became of their keys.
func (p *Partition) fix() {
	for i, o := range p.tx.origins {
		if out := p.outcomes[i]; o.fixer != nil && (o.always || out != store.Done) {
			o.fixer.Fix(o.offset, o.form, out)
		}
	}
}

// forget empties the batch.
func (t *Tx) forget() {
	t.builder.Reset()
	t.keys.clear()
	clear(t.names)
	clear(t.copies)
	for _, e := range t.changed {
		e.ResetAhead()
	}
	clear(t.changed)
	clear(t.origins)
	t.changed, t.origins = t.changed[:0], t.origins[:0]
	t.flushed, t.bytes = false, 0
	t.p.store.Unpend()
}

// answer ends the units that are decided.
func (t *Tx) answer(err error) {
	for i, u := range t.units {
		t.units[i] = decided{}
		u.Answer(err)
	}
	t.units = t.units[:0]
}

// failed handles a log that did not take a record.
func (p *Partition) failed(err error) error {
	t := &p.tx
	t.undo()
	if p.shared != nil && !errors.Is(err, log.ErrFull) {
		return p.dethrone(err)
	}
	if !errors.Is(err, log.ErrFull) {
		p.breakDown("the log failed: writes are refused until its end can be read", err)
		t.answer(err)
		return err
	}
	p.breakDown("the log is full: writes are refused until there is room", err)
	units := append([]decided(nil), t.units...)
	t.units = t.units[:0]
	refuse := t.refuse
	t.refuse = err
	for _, u := range units {
		if u.partial {
			u.Answer(err)
			continue
		}
		u.Restart()
		t.run(u)
		u.Answer(nil)
	}
	t.refuse = refuse
	return err
}

// undo takes back what was decided.
func (t *Tx) undo() {
	for _, e := range t.changed {
		e.Ahead.Gone = false
	}
	t.forget()
}
