package exact

import "net/netip"

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
