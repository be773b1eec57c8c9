package gate

import (
	"math"

	"github.com/everbloom-go/everbloom/filter"
)

// Stats is what a gate has done and how full it is.
type Stats struct {
	Packets  uint64 `json:"packets"`
	Passed   uint64 `json:"passed"`
	Dropped  uint64 `json:"dropped"`  // for completing a pattern
	Rejected uint64 `json:"rejected"` // from banned and listed sources
	Strikes  uint64 `json:"strikes"`
	Bans     uint64 `json:"bans"` // by the last strike

	// Reasons counts verdicts by reason.
	Reasons map[string]uint64 `json:"reasons"`

	States     int    `json:"states"`     // users inside a chain or with strikes
	Room       int    `json:"room"`       // users that there is room for
	Exceptions int    `json:"exceptions"` // exceptions from the banned set
	Bytes      uint64 `json:"bytes"`      // in use by sets and states
	Limit      uint64 `json:"limit"`      // upper bound of Bytes; 0 if there is none
	Tables     uint64 `json:"tables"`     // bytes of the automaton, which the limit does not cover
	Networks   int    `json:"networks"`   // on the black list
	Allowed    int    `json:"whitelist"`  // entries of the white list

	Lost     Lost     `json:"lost"`
	Tracked  Set      `json:"tracked"`
	Banned   Set      `json:"banned"`
	Words    Set      `json:"words"`
	Overflow Overflow `json:"overflow"`
}

// Set describes one of the sets.
type Set struct {
	filter.Info
	Planned float64 `json:"planned_fpr"` // rate with as many keys as expected
	Most    uint64  `json:"most"`        // keys that the memory has room for; 0 if the set is never full
	Pinned  uint64  `json:"pinned"`      // keys that could not be deleted
	Refused uint64  `json:"refused"`     // Adds that found no room
}

// Overflow describes the exact table that takes bans when the banned set has no room.
type Overflow struct {
	Bans  uint64 `json:"bans"`
	Bytes uint64 `json:"bytes"`
}

// Lost is what the gate could not keep for want of memory, in the order in which it
// gives things up.
type Lost struct {
	Chains   uint64 `json:"chains"`   // beginnings of patterns that were given up
	Strikes  uint64 `json:"strikes"`  // strikes that were not counted
	Users    uint64 `json:"users"`    // packets whose source could not enter the tracked set
	Exact    bool   `json:"exact"`    // bad hits can no longer be confirmed
	Overflow uint64 `json:"overflow"` // bans that went to the table behind the banned set, where they are kept
	Bans     uint64 `json:"bans"`     // bans that were forgotten
}

// Any reports whether anything was lost, that is whether the limit was felt.
func (l Lost) Any() bool { return l != Lost{} }

// Lost returns what the gate could not keep so far. Unlike [Engine.Stats] it is cheap.
func (e *Engine) Lost() Lost {
	l := e.lost
	l.Chains += e.states.evicted
	l.Strikes += e.states.struck
	l.Exact = e.config.Confirm == ConfirmAlways && e.confirm == nil
	l.Overflow = e.overflowed
	return l
}

// Stats describes the gate. It asks every set, which takes some microseconds.
func (e *Engine) Stats() Stats {
	s := Stats{
		Strikes: e.strikes, Reasons: map[string]uint64{},
		States: e.states.count, Room: e.states.room(), Exceptions: e.exceptions.count,
		Bytes: e.Bytes(), Limit: e.limit, Tables: e.tables(),
		Networks: e.listed.Size(), Allowed: e.allowed.Size(),
		Lost: e.Lost(), Tracked: e.tracked.describe(e.lost.Users), Banned: e.banned.describe(e.overflowed), Words: Set{Info: e.words.Info()},
	}
	s.Overflow = Overflow{Bans: uint64(e.overflow.count), Bytes: uint64(8 * len(e.overflow.slots))}
	for action, row := range e.tally {
		var sum uint64
		for reason, n := range row {
			sum += n
			if n > 0 {
				s.Reasons[Reason(reason).String()] += n
			}
		}
		s.Packets += sum
		*[actions]*uint64{&s.Passed, &s.Dropped, &s.Rejected, &s.Bans}[action] += sum
	}
	return s
}

func (s *set) describe(refused uint64) Set {
	d := Set{Info: s.Info(), Planned: s.planned, Pinned: s.pinned, Refused: refused}
	if s.grows && s.limit != math.MaxUint64 {
		d.Most = s.limit
	}
	return d
}

// Packets returns how many packets were judged.
func (e *Engine) Packets() (n uint64) {
	for _, row := range e.tally {
		for _, count := range row {
			n += count
		}
	}
	return n
}

// Bytes returns the memory in use by the sets and the states.
func (e *Engine) Bytes() uint64 {
	total := e.states.bytes() + uint64(8*(len(e.exceptions.slots)+len(e.overflow.slots)))
	if e.exactBans != nil {
		total += uint64(8 * len(e.exactBans.slots))
	}
	for _, f := range []filter.Filter{e.tracked, e.banned, e.words} {
		i := f.Info()
		total += (i.FastBits + i.SlowBits + 7) / 8
	}
	return total
}

// tables returns the memory of the automata.
func (e *Engine) tables() uint64 {
	n := e.patterns.Bytes()
	if e.stream != nil {
		n += e.stream.Bytes()
	}
	return n
}

// Limit returns the bytes that [Engine.Bytes] never exceeds: Config.Memory, or 0 if the
// gate takes what it needs. That is memory in use: sets that grow by segments reserve
// address space ahead of it, which is not touched but counts as allocated, so with
// evergreen the heap may show up to 1.2 times the limit.
func (e *Engine) Limit() uint64 { return e.limit }

// Confirms reports whether hits of the banned set are looked up exactly.
func (e *Engine) Confirms() bool { return e.confirm != nil }

// RejectRate returns the predicted share of absent sources that are rejected by
// mistake now: 0 if hits are confirmed.
func (e *Engine) RejectRate() float64 {
	if e.confirm != nil {
		return 0
	}
	return e.banned.Info().FPR
}
