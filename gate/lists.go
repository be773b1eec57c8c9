package gate

import (
	"errors"
	"net/netip"

	"github.com/everbloom-go/everbloom/filter"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// Blacklist bans an address or a network. A prefix that is exactly one user goes to the
// banned set. Networks of many users go to an exact table of prefixes, and so do parts
// of a user, where users are IPv6 networks: packets from these addresses are rejected,
// and the rest of the network is served as before.
func (e *Engine) Blacklist(p netip.Prefix) {
	p = unmap(p)
	if !e.isUser(p) {
		e.listed.Insert(p)
		return
	}
	e.Ban(p.Addr())
}

// Ban bans the user of an address.
func (e *Engine) Ban(src netip.Addr) {
	k := e.identify(src).key
	e.ban(k, e.states.find(k))
}

// Whitelist lets all packets of an address or a network pass. It may be a part of a
// user.
func (e *Engine) Whitelist(p netip.Prefix) { e.allowed.Insert(unmap(p)) }

// Unlist takes an entry off the black list. A user that was banned besides is unbanned; like
// [Engine.Unban] that may fail with [filter.ErrFull].
func (e *Engine) Unlist(p netip.Prefix) error {
	p = unmap(p)
	if !e.isUser(p) {
		e.listed.Delete(p)
		return nil
	}
	if err := e.Unban(p.Addr()); !errors.Is(err, filter.ErrNotFound) {
		return err
	}
	return nil // it was unbanned before
}

// Unallow takes an entry off the white list.
func (e *Engine) Unallow(p netip.Prefix) { e.allowed.Delete(unmap(p)) }

// unmap returns the IPv4 form of a prefix of IPv4 addresses in IPv6.
func unmap(p netip.Prefix) netip.Prefix {
	if a := p.Addr(); a.Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(a.Unmap(), p.Bits()-96)
	}
	return p
}

// isUser reports whether a prefix is exactly one user.
func (e *Engine) isUser(p netip.Prefix) bool {
	if p.Addr().Is4() {
		return p.Bits() == 32
	}
	return p.Bits() == e.config.IPv6Prefix
}

// Query returns what is known about an address: bad, else good, else none. An address
// on the white list is good.
func (e *Engine) Query(src netip.Addr) Answer {
	u := e.identify(src)
	good := e.tracked.MayContain(u.key)
	bad := e.rejects(u, e.banned.MayContain(u.key)) != Clean
	switch {
	case e.allowed.Contains(u.src):
		return Answer{Good, bad}
	case bad:
		return Answer{Bad, good}
	case good:
		return Answer{Good, false}
	}
	return Answer{None, false}
}

// Unban takes the user of an address off the banned set. It returns
// [filter.ErrNotFound] if packets of the address are not rejected.
//
// It makes an exception for the user where a delete might forget other users, because
// the filter cannot tell whether it holds the key or only claims it, and for users
// that are pinned or covered by a network of the black list. There is room for
// exceptions for a sixteenth of Config.Banned; then Unban returns [filter.ErrFull] and
// changes nothing.
func (e *Engine) Unban(src netip.Addr) error {
	u := e.identify(src)
	k := u.key
	if e.rejects(u, e.banned.MayContain(u.key)) == Clean {
		return fault.In("gate", "unban %v: %w", src, filter.ErrNotFound)
	}
	taken := e.takeBan(k)
	if e.claims(u, e.banned.MayContain(k)) != Clean && !e.exceptions.add(k) {
		if taken {
			e.addBan(k)
		}
		return fault.In("gate", "unban %v: no room for more than %d exceptions: %w", src, e.exceptions.most, filter.ErrFull)
	}
	return nil
}

// takeBan deletes the ban of a user, if the gate knows that it has it.
func (e *Engine) takeBan(k filter.Key) bool {
	if e.overflow.Contains(k) {
		e.overflow.remove(k)
		return true
	}
	known := e.exactBans != nil && e.exactBans.Contains(k)
	taken := (e.banned.exact || known) && e.banned.take(k)
	if taken && known {
		e.exactBans.remove(k)
	}
	return taken
}

// EndBan is Unban for a ban that is over: it makes no exception from a network of the black
// list, which rejects the address as before.
func (e *Engine) EndBan(src netip.Addr) error {
	if !e.Lists(src) {
		return e.Unban(src)
	}
	e.takeBan(e.identify(src).key)
	return nil
}

// EndException ends the exception that Unban made for an address, if a network of the black
// list covers it.
func (e *Engine) EndException(src netip.Addr) {
	if e.Lists(src) {
		e.exceptions.remove(e.identify(src).key)
	}
}

// Lists reports whether a network of the black list covers an address.
func (e *Engine) Lists(src netip.Addr) bool { return e.listed.Contains(src.Unmap().WithZone("")) }

// Allows reports whether the white list has an address.
func (e *Engine) Allows(src netip.Addr) bool { return e.allowed.Contains(src.Unmap().WithZone("")) }
