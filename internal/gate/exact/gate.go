package exact

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/gate/pattern"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// Gate follows the rules of package gate with maps, and without a limit. It shares
// no code with the engine but the types of its answers.
type Gate struct {
	config   gate.Config
	patterns []pattern.Pattern
	endings  map[uint32][]int // patterns by their last word, longest first

	tracked, banned, exceptions map[netip.Addr]bool
	users                       map[netip.Addr]*user
	listed, allowed             networks
	now                         int64
}

// user is the state of a user that is not banned.
type user struct {
	words   []uint32 // the last since a pattern, as many as a pattern may have
	strikes []int64  // times
}

// New returns a gate for the same Config as [gate.New]. It ignores everything about
// filters and memory.
func New(c gate.Config) *Gate {
	g := &Gate{
		config: c, endings: map[uint32][]int{},
		tracked: map[netip.Addr]bool{}, banned: map[netip.Addr]bool{}, exceptions: map[netip.Addr]bool{},
		users: map[netip.Addr]*user{}, listed: networks{}, allowed: networks{},
	}
	if c.Patterns != nil {
		g.patterns = c.Patterns.Patterns()
	}
	g.config.Strikes = cmp.Or(c.Strikes, 3)
	g.config.IPv6Prefix = cmp.Or(c.IPv6Prefix, 128)
	for i, p := range g.patterns {
		last := p.Words[len(p.Words)-1]
		g.endings[last] = append(g.endings[last], i)
	}
	for _, list := range g.endings {
		slices.SortStableFunc(list, func(a, b int) int { return len(g.patterns[b].Words) - len(g.patterns[a].Words) })
	}
	for _, p := range c.Blacklist {
		g.Blacklist(p)
	}
	for _, p := range c.Whitelist {
		g.allowed[normal(p)] = true
	}
	return g
}

// identify returns the address in the form that the lists know it by, and the first
// address of its user, which may be a network.
func (g *Gate) identify(src netip.Addr) (one, user netip.Addr) {
	one = src.Unmap().WithZone("")
	if one.Is6() {
		if p, err := one.Prefix(g.config.IPv6Prefix); err == nil {
			return one, p.Addr()
		}
	}
	return one, one
}

// Blacklist bans a prefix that is exactly one user, and lists any other.
func (g *Gate) Blacklist(p netip.Prefix) {
	p = normal(p)
	user := 32
	if p.Addr().Is6() {
		user = g.config.IPv6Prefix
	}
	if p.Bits() == user {
		g.ban(p.Addr())
		return
	}
	g.listed[p] = true
}

// StepWords judges a packet.
func (g *Gate) StepWords(src netip.Addr, words []uint32, at int64) gate.Verdict {
	one, src := g.identify(src)
	if g.allowed.cover(one) {
		return gate.Verdict{Action: gate.Pass, Reason: gate.Whitelisted, Pattern: -1}
	}
	if reason := g.rejects(one, src); reason != gate.Clean {
		return gate.Verdict{Action: gate.Reject, Reason: reason, Pattern: -1}
	}
	g.now = max(g.now, at)
	g.tracked[src] = true
	u := g.users[src]
	if u == nil {
		u = &user{}
		g.users[src] = u
	}
	match := -1
	for _, w := range words {
		if m := g.feed(u, w); m >= 0 && match < 0 {
			match = m
		}
	}
	if match < 0 {
		return gate.Verdict{Action: gate.Pass, Reason: gate.Clean, Pattern: -1}
	}
	return g.strike(src, u, match)
}

// rejects returns why packets of an address of a user are rejected, or Clean.
func (g *Gate) rejects(one, user netip.Addr) gate.Reason {
	switch {
	case g.exceptions[user]:
		return gate.Clean
	case g.banned[user]:
		return gate.Banned
	case g.listed.cover(one):
		return gate.Listed
	}
	return gate.Clean
}

// feed appends a word to those of a user and returns the longest pattern that they
// now end with, or -1.
func (g *Gate) feed(u *user, word uint32) int {
	if len(u.words) == pattern.MaxWords {
		u.words = slices.Delete(u.words, 0, 1)
	}
	u.words = append(u.words, word)
	for _, i := range g.endings[word] {
		p := g.patterns[i].Words
		if n := len(u.words) - len(p); n >= 0 && slices.Equal(u.words[n:], p) {
			u.words = u.words[:0]
			return i
		}
	}
	return -1
}

// strike gives a strike to a user, and bans at the last.
func (g *Gate) strike(src netip.Addr, u *user, match int) gate.Verdict {
	if window := int64(g.config.Window); window > 0 {
		u.strikes = slices.DeleteFunc(u.strikes, func(at int64) bool { return g.now-at > window })
	}
	u.strikes = append(u.strikes, g.now)
	v := gate.Verdict{Action: gate.Pass, Reason: gate.Struck, Strikes: uint8(len(u.strikes)), Pattern: int32(match)}
	if len(u.strikes) >= g.config.Strikes {
		v.Action = gate.Ban
		g.ban(src)
	} else if g.config.DropFlagged {
		v.Action = gate.Drop
	}
	return v
}

func (g *Gate) ban(src netip.Addr) {
	delete(g.users, src)
	delete(g.tracked, src)
	delete(g.exceptions, src)
	g.banned[src] = true
}

// Query returns what is known about an address.
func (g *Gate) Query(src netip.Addr) gate.Answer {
	one, user := g.identify(src)
	bad := g.rejects(one, user) != gate.Clean
	switch {
	case g.allowed.cover(one):
		return gate.Answer{Standing: gate.Good, Both: bad}
	case bad:
		return gate.Answer{Standing: gate.Bad, Both: g.tracked[user]}
	case g.tracked[user]:
		return gate.Answer{Standing: gate.Good}
	}
	return gate.Answer{Standing: gate.None}
}

// Unban takes the user of an address off the banned set, or makes an exception from the
// black list.
func (g *Gate) Unban(src netip.Addr) error {
	one, user := g.identify(src)
	if g.rejects(one, user) == gate.Clean {
		return fault.In("exact", "unban %v: %w", one, filter.ErrNotFound)
	}
	delete(g.banned, user)
	if g.listed.cover(one) {
		g.exceptions[user] = true
	}
	return nil
}

// networks is a set of prefixes.
type networks map[netip.Prefix]bool

// cover reports whether one of the prefixes contains a.
func (n networks) cover(a netip.Addr) bool {
	if len(n) == 0 {
		return false
	}
	for bits := range a.BitLen() + 1 {
		if p, err := a.Prefix(bits); err == nil && n[p] {
			return true
		}
	}
	return false
}

// normal returns the form of a prefix that the lists have.
func normal(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked()
}
