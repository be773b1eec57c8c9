package exact

import (
	"bytes"
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
	tails    map[byte][]int   // patterns by their last byte, longest first

	tracked, banned, exceptions map[netip.Addr]bool
	users                       map[netip.Addr]*user
	flows                       map[flow][]byte // the last bytes since a pattern
	listed, allowed             networks
}

// flow is a conversation of a user.
type flow struct {
	user netip.Addr
	name string
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
		config: c, endings: map[uint32][]int{}, tails: map[byte][]int{}, flows: map[flow][]byte{},
		tracked: map[netip.Addr]bool{}, banned: map[netip.Addr]bool{}, exceptions: map[netip.Addr]bool{},
		users: map[netip.Addr]*user{}, listed: networks{}, allowed: networks{},
	}
	if c.Patterns != nil {
		g.patterns = c.Patterns.Patterns()
	}
	g.config.Strikes = cmp.Or(c.Strikes, 3)
	g.config.IPv6Prefix = cmp.Or(c.IPv6Prefix, 64)
	g.sortPatterns()
	for _, p := range c.Blacklist {
		g.Blacklist(p)
	}
	for _, p := range c.Whitelist {
		g.Whitelist(p)
	}
	return g
}

// Whitelist lets all packets of a prefix pass.
func (g *Gate) Whitelist(p netip.Prefix) { g.allowed[normal(p)] = true }

// sortPatterns finds the patterns that a word or a byte may complete, longest first.
func (g *Gate) sortPatterns() {
	for i, p := range g.patterns {
		if n := len(p.Words); n > 0 {
			g.endings[p.Words[n-1]] = append(g.endings[p.Words[n-1]], i)
		}
		last := p.Payload()[len(p.Payload())-1]
		g.tails[last] = append(g.tails[last], i)
		if other := last ^ 0x20; p.NoCase && other|0x20 >= 'a' && other|0x20 <= 'z' {
			g.tails[other] = append(g.tails[other], i)
		}
	}
	longest := func(a, b int) int { return len(g.patterns[b].Payload()) - len(g.patterns[a].Payload()) }
	for _, list := range g.endings {
		slices.SortStableFunc(list, longest)
	}
	for _, list := range g.tails {
		slices.SortStableFunc(list, longest)
	}
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

// StepWords judges a packet of words.
func (g *Gate) StepWords(src netip.Addr, words []uint32, at int64) gate.Verdict {
	src, v := g.judge(src)
	if v.Reason != gate.Clean {
		return v
	}
	u, match := g.users[src], -1
	for _, w := range words {
		if m := g.feed(u, w); m >= 0 && match < 0 {
			match = m
		}
	}
	return g.conclude(src, match, at)
}

// StepPayload judges a packet with a payload.
func (g *Gate) StepPayload(src netip.Addr, name, payload []byte, at int64) gate.Verdict {
	src, v := g.judge(src)
	if v.Reason != gate.Clean {
		return v
	}
	f, match := flow{src, string(name)}, -1
	for _, c := range payload {
		if m := g.feedByte(f, c); m >= 0 && match < 0 {
			match = m
		}
	}
	return g.conclude(src, match, at)
}

// judge judges a packet by its source, and returns the user. One that may pass is Clean.
func (g *Gate) judge(src netip.Addr) (netip.Addr, gate.Verdict) {
	one, src := g.identify(src)
	if g.allowed.cover(one) {
		return src, gate.Verdict{Action: gate.Pass, Reason: gate.Whitelisted, Pattern: -1}
	}
	if reason := g.rejects(one, src); reason != gate.Clean {
		return src, gate.Verdict{Action: gate.Reject, Reason: reason, Pattern: -1}
	}
	g.tracked[src] = true
	if g.users[src] == nil {
		g.users[src] = &user{}
	}
	return src, gate.Verdict{Action: gate.Pass, Reason: gate.Clean, Pattern: -1}
}

// conclude gives a strike for a pattern, if there is one.
func (g *Gate) conclude(src netip.Addr, match int, at int64) gate.Verdict {
	if match < 0 {
		return gate.Verdict{Action: gate.Pass, Reason: gate.Clean, Pattern: -1}
	}
	return g.strike(src, g.users[src], match, at)
}

// feedByte appends a byte to those of a flow and returns the longest pattern that they
// now end with, or -1.
func (g *Gate) feedByte(f flow, c byte) int {
	sent := append(g.flows[f], c)
	sent = sent[max(0, len(sent)-pattern.MaxBytes):]
	g.flows[f] = sent
	for _, i := range g.tails[c] {
		p := g.patterns[i]
		want := p.Payload()
		if n := len(sent) - len(want); n >= 0 && (bytes.Equal(sent[n:], want) || p.NoCase && equalFold(sent[n:], want)) {
			g.flows[f] = nil
			return i
		}
	}
	return -1
}

// equalFold compares letters of ASCII in either case, and all other bytes as they are.
func equalFold(a, b []byte) bool {
	for i := range a {
		if x, y := a[i]|0x20, b[i]|0x20; a[i] != b[i] && (x != y || x < 'a' || x > 'z') {
			return false
		}
	}
	return true
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
func (g *Gate) strike(src netip.Addr, u *user, match int, now int64) gate.Verdict {
	if window := int64(g.config.Window); window > 0 {
		u.strikes = slices.DeleteFunc(u.strikes, func(at int64) bool {
			return at != 0 && now != 0 && (now-at > window || at-now > window)
		})
	}
	u.strikes = append(u.strikes, now)
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
