package gate

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/gaissmai/bart"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/gate/pattern"
)

// Engine is a gate. It is for one goroutine at a time.
type Engine struct {
	config   Config
	limit    uint64
	patterns *pattern.Automaton

	tracked, banned *set
	words           *bloom.Blocked // that begin or continue a pattern
	recent          recent         // keys that are in the tracked set for certain

	overflow   *bloom.Blocked // bans that the banned set had no room for
	overflowed uint64         // how many
	exactBans  *keyset        // all keys of the banned set, where these are to be confirmed and it cannot itself
	confirm    confirmer      // nil if hits are not confirmed
	exceptions *keyset        // exceptions from all that rejects

	listed, allowed bart.Lite // networks
	anyAllowed      bool
	anyListed       bool

	states *states
	now    int64

	tally   [actions][reasons]uint64
	strikes uint64
	lost    lost
}

// lost counts what the gate could not keep for want of memory.
type lost struct {
	users, chains, strikes uint64
}

// A confirmer knows exactly which keys were put into the banned set.
type confirmer interface {
	Contains(filter.Key) bool
}

// Contains makes a keyset a confirmer.
func (s *keyset) Contains(k filter.Key) bool { return s.has(k) }

// New returns a gate for the wish.
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
	needsBans := confirms && !b.exact
	shares, err := e.config.share(b, needsBans)
	if err != nil {
		return err
	}
	e.limit = max(e.config.Memory, shares.total())
	if e.tracked, err = newSet(b, e.config.Users, shares.tracked); err != nil {
		return err
	}
	if e.banned, err = newSet(b, e.config.Banned, shares.banned); err != nil {
		return err
	}
	if confirms && b.exact {
		e.confirm = e.banned.Deleter.(confirmer)
	}
	if err := errors.Join(e.allocateTables(shares, needsBans), e.allocateBloom(shares.overflow)); err != nil {
		return err
	}
	return e.checkLimit()
}

// checkLimit refuses a limit that is exceeded before the first packet: sets whose
// sizes are rounded up may take more than was planned for them. Where no limit was
// asked for it is what they take.
func (e *Engine) checkLimit() error {
	used := e.Bytes()
	if e.config.Memory == 0 {
		e.limit = max(e.limit, used)
	}
	if used > e.limit {
		return fmt.Errorf("gate: Memory: %d bytes, %d are needed before the first packet", e.limit, used)
	}
	return nil
}

// allocateTables makes all that is not a filter.
func (e *Engine) allocateTables(shares budget, needsBans bool) (err error) {
	if needsBans {
		if e.exactBans, err = newKeyset(e.config.Banned); err != nil {
			return err
		}
		e.confirm = e.exactBans
	}
	if e.exceptions, err = newKeyset(e.config.exceptions()); err != nil {
		return err
	}
	if e.recent, err = newRecent(shares.recent); err != nil {
		return err
	}
	e.states, err = newStates(shares.states, e.config.Strikes, int64(e.config.Window))
	return err
}

// allocateBloom makes the two sets from which nothing is ever deleted.
func (e *Engine) allocateBloom(overflowBytes uint64) (err error) {
	const hashes = 8 // one bit in each word of a block
	if e.overflow, err = bloom.BuildBlocked(bloom.BlockedShape{Blocks: overflowBytes / 64, Hashes: hashes}); err != nil {
		return err
	}
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

// identify returns the address in the one form that the lists know it by, whole,
// and the key of the user whom it belongs to. This is the one time that it is hashed.
func (e *Engine) identify(src netip.Addr) (netip.Addr, filter.Key) {
	src = src.Unmap()
	if src.Is4() {
		b := src.As4()
		return src, e.config.Hash.Bytes(b[:])
	}
	src = src.WithZone("")
	b := e.network(src).As16()
	return src, e.config.Hash.Bytes(b[:])
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

// Step judges a packet with one word. The time is in nanoseconds since any moment;
// one that is before that of an earlier packet counts as the latest so far. Packets
// that are rejected, or pass by the white list, do not move the clock.
func (e *Engine) Step(src netip.Addr, word uint32, at int64) Verdict {
	words := [1]uint32{word}
	return e.StepWords(src, words[:], at)
}

// StepWords judges a packet with any number of words, which gets at most one
// strike.
func (e *Engine) StepWords(src netip.Addr, words []uint32, at int64) Verdict {
	v := e.judge(src, words, at)
	e.tally[v.Action][v.Reason]++
	return v
}

func (e *Engine) judge(src netip.Addr, words []uint32, at int64) Verdict {
	src, k := e.identify(src)
	if e.anyAllowed && e.allowed.Contains(src) {
		return Verdict{Pass, Whitelisted, 0, -1}
	}
	if reason := e.rejects(src, k); reason != Clean {
		return Verdict{Reject, reason, 0, -1}
	}
	e.now = max(e.now, at)
	e.track(k)
	return e.feed(k, words)
}

// rejects says why packets of a source are rejected, or that they are clean.
func (e *Engine) rejects(src netip.Addr, k filter.Key) Reason {
	reason := e.claims(src, k)
	if reason != Clean && e.exceptions.count > 0 && e.exceptions.has(k) {
		return Clean
	}
	return reason
}

// claims says which of the places where bans are kept has the source.
func (e *Engine) claims(src netip.Addr, k filter.Key) Reason {
	switch {
	case e.banned.MayContain(k) && (e.confirm == nil || e.confirm.Contains(k)):
		return Banned
	case e.anyListed && e.listed.Contains(src):
		return Listed
	case e.overflowed > 0 && e.overflow.MayContain(k):
		return OverLimit
	}
	return Clean
}
