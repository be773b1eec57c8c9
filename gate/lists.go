package gate

import (
	"fmt"
	"net/netip"

	"github.com/everbloom-go/everbloom/filter"
)

// Blacklist bans an address, or a network. What counts as one user goes to the bad
// set; networks of many users, which cannot be listed one by one, to an exact table
// of prefixes. So do parts of a user, where users are IPv6 networks: packets from
// these addresses are rejected, and the rest of the network is served as before.
func (e *Engine) Blacklist(p netip.Prefix) {
	p = unmap(p)
	if !e.isUser(p) {
		e.listed.Insert(p)
		e.anyListed = true
		return
	}
	_, k := e.identify(p.Addr())
	e.ban(k, e.states.find(k))
}

// Whitelist has all packets of an address or a network pass. It may be a part of a
// user.
func (e *Engine) Whitelist(p netip.Prefix) {
	e.allowed.Insert(unmap(p))
	e.anyAllowed = true
}

// unmap turns a prefix of IPv4 addresses that are written as IPv6 into what it
// means, and clears the bits behind it.
func unmap(p netip.Prefix) netip.Prefix {
	if a := p.Addr(); a.Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(a.Unmap(), p.Bits()-96)
	}
	return p.Masked()
}

// isUser reports whether a prefix is exactly what counts as one user.
func (e *Engine) isUser(p netip.Prefix) bool {
	if p.Addr().Is4() {
		return p.Bits() == 32
	}
	return p.Bits() == e.config.IPv6Prefix
}

// Query says what is known about an address: bad, else good, else none. Who is on
// the white list is good.
func (e *Engine) Query(src netip.Addr) Answer {
	src, k := e.identify(src)
	good := e.tracked.MayContain(k)
	bad := e.rejects(src, k) != Clean
	switch {
	case e.anyAllowed && e.allowed.Contains(src):
		return Answer{Good, bad}
	case bad:
		return Answer{Bad, good}
	case good:
		return Answer{Good, false}
	}
	return Answer{None, false}
}

// Unban takes an address off the banned set, and with it the whole user, where users
// are IPv6 networks. It answers [filter.ErrNotFound] if the address is not claimed
// by it.
//
// A filter that cannot tell whether it holds the address or only claims it might
// forget others by a delete, so there an exception is made instead, and so it is for
// an address that is pinned, or covered by a network of the black list. For these
// there is room for a sixteenth of Config.Banned, then the answer is
// [filter.ErrFull], and the address stays as bad as it was.
func (e *Engine) Unban(src netip.Addr) error {
	src, k := e.identify(src)
	if e.rejects(src, k) == Clean {
		return fmt.Errorf("gate: unban %v: %w", src, filter.ErrNotFound)
	}
	known := e.exactBans != nil && e.exactBans.has(k)
	taken := (e.banned.backing.exact || known) && e.banned.take(k)
	if taken && known {
		e.exactBans.remove(k)
	}
	if e.claims(src, k) != Clean && !e.exceptions.add(k) {
		if taken {
			e.addBan(k) // an unban that is refused changes nothing
		}
		return fmt.Errorf("gate: unban %v: %d exceptions are all that there is room for: %w", src, e.exceptions.most, filter.ErrFull)
	}
	return nil
}
