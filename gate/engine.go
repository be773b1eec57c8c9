package gate

import (
	"cmp"
	"errors"
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
	exactBans  *keyset        // all keys of the banned set, if they are to be confirmed and its kind does not store them
	confirm    confirmer      // nil if hits are not confirmed
	exceptions *keyset        // users that are not rejected, whatever claims them

	listed, allowed bart.Lite // networks

	states *states
	now    int64

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
	if e.tracked, err = newSet(b, e.config.Users, shares.tracked); err != nil {
		return err
	}
	if e.banned, err = newSet(b, e.config.Banned, shares.banned); err != nil {
		return err
	}
	if err := errors.Join(e.allocateTables(shares), e.allocateBloom(shares.overflow)); err != nil {
		return err
	}
	switch {
	case e.exactBans != nil:
		e.confirm = e.exactBans
	case confirms:
		e.confirm = e.banned.Deleter.(confirmer)
	}
	e.limit = cmp.Or(e.config.Memory, max(shares.total(), e.Bytes())) // sizes are rounded up
	return nil
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
	if e.recent, err = newRecent(shares.recent); err != nil {
		return err
	}
	e.states, err = newStates(shares.states, e.config.Strikes, int64(e.config.Window))
	return err
}

// allocateBloom makes the two sets without deletes.
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

// identify returns the address in the form that the lists know it by, and the key of
// its user. An address is hashed here and nowhere else. Zones do not count.
func (e *Engine) identify(src netip.Addr) (netip.Addr, filter.Key) {
	src = src.Unmap()
	if src.Is4() {
		b := src.As4()
		return src, e.config.Hash.Bytes(b[:])
	}
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
// one before that of an earlier packet counts as the latest so far. Packets that are
// rejected, or pass by the white list, do not move the clock.
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
	if e.allowed.Size() > 0 && e.allowed.Contains(src) {
		return Verdict{Pass, Whitelisted, 0, -1}
	}
	if reason := e.rejects(src, k); reason != Clean {
		return Verdict{Reject, reason, 0, -1}
	}
	e.now = max(e.now, at)
	e.track(k)
	return e.feed(k, words)
}

// rejects returns why packets of a source are rejected, or Clean.
func (e *Engine) rejects(src netip.Addr, k filter.Key) Reason {
	reason := e.claims(src, k)
	if reason != Clean && e.exceptions.Contains(k) {
		return Clean
	}
	return reason
}

// claims returns which of the places where bans are kept has the source.
func (e *Engine) claims(src netip.Addr, k filter.Key) Reason {
	switch {
	case e.banned.MayContain(k) && (e.confirm == nil || e.confirm.Contains(k)):
		return Banned
	case e.listed.Size() > 0 && e.listed.Contains(src):
		return Listed
	case e.overflowed > 0 && e.overflow.MayContain(k):
		return OverLimit
	}
	return Clean
}
