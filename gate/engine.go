package gate

import (
	"errors"
	"net/netip"
	"slices"

	"github.com/gaissmai/bart"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/gate/pattern"
)

// Engine is a gate. It is for one goroutine at a time.
type Engine struct {
	config   Config
	limit    uint64 // of the memory; 0 means none
	patterns *pattern.Automaton
	stream   *pattern.Stream // of the same patterns, for payloads; nil if there was none

	tracked, banned *set
	words           *bloom.Blocked // that begin or continue a pattern
	claimed         uint64         // users that the tracked set has claimed
	banCount        uint64         // bans by strikes or by hand: what was asked before the last may not hold

	overflow   *keyset   // bans that the banned set had no room for, exactly
	overflowed uint64    // how many went there
	slack      uint64    // bytes of the limit that no part has
	hand       int       // where overflow looks for a ban to forget
	exactBans  *keyset   // all keys of the banned set, if they are to be confirmed and its kind does not store them
	confirm    confirmer // nil if hits are not confirmed
	exceptions *keyset   // users that are not rejected, whatever claims them

	listed, allowed bart.Lite // networks

	states *states

	tally   [actions][reasons]uint64
	strikes uint64
	lost    Lost // what happens outside of the states
}

// A confirmer knows exactly which keys are in the banned set.
type confirmer interface {
	Contains(filter.Key) bool
}

// New returns a gate, or an error that lists all problems of the Config.
func New(c Config) (*Engine, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Engine{config: c, patterns: c.Patterns}
	if err := e.allocate(); err != nil {
		return nil, err
	}
	for _, p := range c.Blacklist {
		e.Blacklist(p)
	}
	for _, p := range c.Whitelist {
		e.Whitelist(p)
	}
	return e, nil
}

func (e *Engine) allocate() error {
	b, err := backingOf(e.config.Kind)
	if err != nil {
		return err
	}
	confirms := e.config.Confirm == ConfirmAlways
	shares, err := e.config.share(b, confirms && !b.exact)
	if err != nil {
		return err
	}
	fixed := e.config.Memory > 0
	if e.tracked, err = newSet(b, e.config.Users, shares.tracked, fixed); err != nil {
		return err
	}
	if e.banned, err = newSet(b, e.config.Banned, shares.banned, fixed); err != nil {
		return err
	}
	if err := errors.Join(e.allocateTables(shares), e.allocateWords()); err != nil {
		return err
	}
	if fixed {
		e.slack = e.config.Memory - min(e.config.Memory, shares.total())
	}
	switch {
	case e.exactBans != nil:
		e.confirm = e.exactBans
	case confirms:
		e.confirm = e.banned.Deleter.(confirmer)
	}
	e.limit = e.config.Memory
	e.states.fixed = fixed
	if e.exactBans != nil {
		e.exactBans.grows = !fixed
	}
	if e.forPayloads() {
		return e.Payloads()
	}
	return nil
}

// Payloads makes the automaton for payloads, which StepPayload does otherwise when the
// first one comes. It returns an error if there are too many patterns for it.
func (e *Engine) Payloads() (err error) {
	if e.stream == nil {
		e.stream, err = e.patterns.Stream()
	}
	return err
}

// forPayloads reports whether a pattern was written for payloads.
func (e *Engine) forPayloads() bool {
	return slices.ContainsFunc(e.patterns.Patterns(), func(p pattern.Pattern) bool { return len(p.Bytes) > 0 })
}

// allocateTables makes all that is not a filter.
func (e *Engine) allocateTables(shares budget) (err error) {
	if shares.exactBans > 0 {
		if e.exactBans, err = newKeyset(e.config.Banned); err != nil {
			return err
		}
	}
	if e.exceptions, err = newKeyset(e.config.exceptions()); err != nil {
		return err
	}
	if e.overflow, err = newKeyset(keysIn(shares.overflow)); err != nil {
		return err
	}
	e.states, err = newStates(shares.states, e.config.Strikes, int64(e.config.Window))
	return err
}

// allocateWords makes the set of words.
func (e *Engine) allocateWords() (err error) {
	if e.words, err = bloom.NewBlocked(e.config.wordConfig()); err != nil {
		return err
	}
	for _, w := range e.patterns.Words() {
		if _, err := e.words.Add(filter.Key(w)); err != nil {
			return err
		}
	}
	return nil
}

// A user is what packets are counted for.
type user struct {
	src netip.Addr // in the form that the lists know it by
	key filter.Key
}

// identify returns the user of an address. An address is hashed here and nowhere else.
// Zones do not count.
func (e *Engine) identify(src netip.Addr) user {
	src = src.Unmap()
	if src.Is4() {
		b := src.As4()
		return user{src, e.config.Hash.Bytes(b[:])}
	}
	b := e.network(src).As16()
	return user{src, e.config.Hash.Bytes(b[:])}
}

// network returns the first address of the network that counts as one user.
func (e *Engine) network(src netip.Addr) netip.Addr {
	if e.config.IPv6Prefix == 128 {
		return src
	}
	p, err := src.Prefix(e.config.IPv6Prefix)
	if err != nil {
		return src // an address that is not valid is a user like any other
	}
	return p.Addr()
}

// User returns the addresses that count as one user with src.
func (e *Engine) User(src netip.Addr) netip.Prefix {
	src = src.Unmap().WithZone("")
	bits := 32
	if src.Is6() {
		bits = e.config.IPv6Prefix
	}
	return netip.PrefixFrom(src, bits).Masked()
}

// Step judges a packet with one word. The time is in nanoseconds since any moment, 0 if
// it is not known.
func (e *Engine) Step(src netip.Addr, word uint32, at int64) Verdict {
	words := [1]uint32{word}
	return e.StepWords(src, words[:], at)
}

// StepWords judges a packet with any number of words, which gets at most one
// strike.
func (e *Engine) StepWords(src netip.Addr, words []uint32, at int64) Verdict {
	u := e.identify(src)
	v := e.judge(u)
	if v.Reason == Clean {
		v = e.feedWords(u, words, at)
	}
	e.tally[v.Action][v.Reason]++
	return v
}

// StepPayload judges a packet with a payload, which gets at most one strike. The flow is
// what tells the conversations of a source apart, such as its addresses and ports, of
// which 64 bytes count: a chain is a run of bytes of one flow. If [Engine.Payloads] returns
// an error, payloads are not searched.
func (e *Engine) StepPayload(src netip.Addr, flow, payload []byte, at int64) Verdict {
	u := e.identify(src)
	v := e.judge(u)
	if v.Reason == Clean && len(payload) > 0 && e.Payloads() == nil {
		v = e.feedPayload(u, flow, payload, at)
	}
	e.tally[v.Action][v.Reason]++
	return v
}

// judge judges a packet by its source. A packet that may pass is Clean so far.
func (e *Engine) judge(u user) Verdict {
	if e.allowed.Size() > 0 && e.allowed.Contains(u.src) {
		return Verdict{Pass, Whitelisted, 0, -1}
	}
	if reason := e.rejects(u, e.banned.MayContain(u.key)); reason != Clean {
		return Verdict{Reject, reason, 0, -1}
	}
	e.track(u.key, e.tracked.MayContain(u.key))
	return Verdict{Pass, Clean, 0, -1}
}

// rejects returns why packets of a user are rejected, or Clean. The banned set claims the
// user or does not.
func (e *Engine) rejects(u user, claimed bool) Reason {
	reason := e.claims(u, claimed)
	if reason != Clean && e.exceptions.Contains(u.key) {
		return Clean
	}
	return reason
}

// claims returns which of the places where bans are kept has the user.
func (e *Engine) claims(u user, claimed bool) Reason {
	switch {
	case claimed && (e.confirm == nil || e.confirm.Contains(u.key)):
		return Banned
	case e.listed.Size() > 0 && e.listed.Contains(u.src):
		return Listed
	case e.overflow.Contains(u.key):
		return OverLimit
	}
	return Clean
}
