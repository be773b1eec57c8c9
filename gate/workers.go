package gate

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"github.com/everbloom-go/everbloom/filter"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// Workers is a gate that judges records with several engines at once. Users are split among
// them by their keys, so that each user's packets are judged by one engine, in order: the
// verdicts are those of a single [Engine], as long as hits are confirmed and nothing is full:
// each has its part of the memory. It is for one goroutine at a time.
type Workers struct {
	engines []*Engine
	keys    []filter.Key
	found   [][]Verdict // by engine: two processors do not write to one line of memory
}

// maxWorkers is how many engines there may be.
const maxWorkers = 64

// NewWorkers returns a gate of so many engines, 1 to 64. They share what the Config says of
// users, bans and memory; all have the networks of both lists.
func NewWorkers(c Config, workers int) (*Workers, error) {
	if workers < 1 || workers > maxWorkers {
		return nil, fault.In("gate", "%d workers, must be 1 to %d", workers, maxWorkers)
	}
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	black, white, memory := c.Blacklist, c.Whitelist, c.Memory
	n := uint64(workers)
	c.Blacklist, c.Whitelist, c.Memory = nil, nil, min(memory, max(1, memory/n)) // 0 is no limit
	c.Users, c.Banned = (c.Users+n-1)/n, (c.Banned+n-1)/n
	w := &Workers{}
	for range workers {
		e, err := New(c)
		if low := (*LimitError)(nil); errors.As(err, &low) {
			low.Memory, low.Enough, low.sets, low.which = memory, n*low.Enough, n*low.sets, fmt.Sprintf("%d times %s", n, low.which)
		}
		if err != nil {
			return nil, err
		}
		w.engines = append(w.engines, e)
	}
	for _, p := range black {
		w.Blacklist(p)
	}
	for _, p := range white {
		w.Whitelist(p)
	}
	return w, nil
}

// owner returns the number of the engine that has a user. Tables take the upper bits of keys.
func (w *Workers) owner(k filter.Key) int {
	return int(uint64(uint32(k)) * uint64(len(w.engines)) >> 32)
}

// of returns the engine that has the user of an address.
func (w *Workers) of(src netip.Addr) *Engine {
	return w.engines[w.owner(w.engines[0].identify(src).key)]
}

// Blacklist bans an address or a network, as [Engine.Blacklist] does.
func (w *Workers) Blacklist(p netip.Prefix) {
	if w.engines[0].isUser(unmap(p)) {
		w.of(p.Addr()).Blacklist(p)
		return
	}
	for _, e := range w.engines {
		e.Blacklist(p)
	}
}

// Whitelist lets all packets of an address or a network pass.
func (w *Workers) Whitelist(p netip.Prefix) {
	for _, e := range w.engines {
		e.Whitelist(p)
	}
}

// Query returns what is known about an address.
func (w *Workers) Query(src netip.Addr) Answer { return w.of(src).Query(src) }

// StepWords judges one packet with any number of words.
func (w *Workers) StepWords(src netip.Addr, words []uint32, at int64) Verdict {
	return w.of(src).StepWords(src, words, at)
}

// StepBatch judges records in order, and puts the verdicts into out. It panics if out is
// shorter. A batch should have some thousands: each costs a few microseconds.
func (w *Workers) StepBatch(records []Record, out []Verdict) {
	n := len(records)
	out = out[:n]
	if n == 0 {
		return
	}
	if len(w.engines) == 1 {
		w.engines[0].StepBatch(records, out)
		return
	}
	if len(w.keys) < n {
		w.allocate(n)
	}
	part := func(i int) (from, to int) { return i * n / len(w.engines), (i + 1) * n / len(w.engines) }
	w.each(func(i int, e *Engine) {
		from, to := part(i)
		for at := from; at < to; at++ {
			w.keys[at] = e.identify(records[at].Src).key
		}
	})
	w.each(func(i int, e *Engine) {
		var a ahead
		for at, k := range w.keys[:n] {
			if w.owner(k) == i {
				a.add(e, user{records[at].Src.Unmap(), k}, records, at, w.found[i])
			}
		}
		a.judge(e, records, w.found[i])
	})
	for at, k := range w.keys[:n] {
		out[at] = w.found[w.owner(k)][at]
	}
}

// allocate makes room for a batch.
func (w *Workers) allocate(n int) {
	w.keys, w.found = make([]filter.Key, n), nil
	for range w.engines {
		w.found = append(w.found, make([]Verdict, n))
	}
}

// each calls do for all engines at once, and waits.
func (w *Workers) each(do func(i int, e *Engine)) {
	var group sync.WaitGroup
	for i, e := range w.engines[1:] {
		group.Go(func() { do(i+1, e) })
	}
	do(0, w.engines[0])
	group.Wait()
}

// Packets returns how many packets were judged.
func (w *Workers) Packets() (n uint64) {
	for _, e := range w.engines {
		n += e.Packets()
	}
	return n
}

// Lost returns what the engines could not keep so far.
func (w *Workers) Lost() (l Lost) {
	for _, e := range w.engines {
		l.add(e.Lost())
	}
	return l
}

// Confirms reports whether hits of the banned sets are looked up exactly.
func (w *Workers) Confirms() bool {
	for _, e := range w.engines {
		if !e.Confirms() {
			return false
		}
	}
	return true
}

// RejectRate returns the predicted share of absent sources that are rejected by mistake.
func (w *Workers) RejectRate() (rate float64) {
	for _, e := range w.engines {
		rate += e.RejectRate() / float64(len(w.engines))
	}
	return rate
}

// Stats describes the gate: counts are sums, rates are means. Each engine has the networks
// and the words, whose memory is counted as often.
func (w *Workers) Stats() Stats {
	sum := w.engines[0].Stats()
	for _, e := range w.engines[1:] {
		s := e.Stats()
		sum.Packets, sum.Passed, sum.Dropped = sum.Packets+s.Packets, sum.Passed+s.Passed, sum.Dropped+s.Dropped
		sum.Rejected, sum.Strikes, sum.Bans = sum.Rejected+s.Rejected, sum.Strikes+s.Strikes, sum.Bans+s.Bans
		for reason, n := range s.Reasons {
			sum.Reasons[reason] += n
		}
		sum.States, sum.Room, sum.Exceptions = sum.States+s.States, sum.Room+s.Room, sum.Exceptions+s.Exceptions
		sum.Bytes, sum.Limit = sum.Bytes+s.Bytes, sum.Limit+s.Limit
		sum.Lost.add(s.Lost)
		sum.Tracked.add(s.Tracked)
		sum.Banned.add(s.Banned)
		sum.Overflow.Bans, sum.Overflow.Bytes = sum.Overflow.Bans+s.Overflow.Bans, sum.Overflow.Bytes+s.Overflow.Bytes
	}
	for _, s := range []*Set{&sum.Tracked, &sum.Banned} {
		s.FPR, s.Fill, s.Planned = s.FPR/float64(len(w.engines)), s.Fill/float64(len(w.engines)), s.Planned/float64(len(w.engines))
	}
	return sum
}

// add adds those of another engine.
func (l *Lost) add(o Lost) {
	l.Chains, l.Strikes, l.Users = l.Chains+o.Chains, l.Strikes+o.Strikes, l.Users+o.Users
	l.Overflow, l.Bans, l.Exact = l.Overflow+o.Overflow, l.Bans+o.Bans, l.Exact || o.Exact
}

// add adds the set of another engine: rates are to be divided by their number.
func (s *Set) add(o Set) {
	s.Keys, s.FastBits, s.SlowBits = s.Keys+o.Keys, s.FastBits+o.FastBits, s.SlowBits+o.SlowBits
	s.FPR, s.Fill, s.Planned = s.FPR+o.FPR, s.Fill+o.Fill, s.Planned+o.Planned
	s.Most, s.Pinned, s.Refused = s.Most+o.Most, s.Pinned+o.Pinned, s.Refused+o.Refused
}
