package live

import (
	"net/netip"
	"slices"
)

// merge returns the networks of one family that no other covers, in order.
func merge(list []netip.Prefix, is4 bool) (out []netip.Prefix) {
	for _, p := range list {
		if p.Addr().Unmap().Is4() == is4 {
			if p.Addr().Is4In6() && p.Bits() >= 96 {
				p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
			}
			out = append(out, p.Masked())
		}
	}
	slices.SortFunc(out, func(a, b netip.Prefix) int {
		if c := a.Addr().Compare(b.Addr()); c != 0 {
			return c
		}
		return a.Bits() - b.Bits()
	})
	kept := out[:0]
	for _, p := range out {
		if n := len(kept); n == 0 || !kept[n-1].Contains(p.Addr()) {
			kept = append(kept, p)
		}
	}
	return kept
}

// behind returns the first address after a network; it is not valid if there is none.
func behind(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < 8*len(b); i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	last, _ := netip.AddrFromSlice(b)
	return last.Next()
}

// without returns networks less some that are excepted from them.
func without(list []netip.Prefix, except map[netip.Prefix]bool) (out []netip.Prefix) {
	if len(except) == 0 {
		return list
	}
	for _, p := range list {
		rest := []netip.Prefix{p.Masked()}
		for e := range except {
			var next []netip.Prefix
			for _, r := range rest {
				next = append(next, cut(r, e)...)
			}
			rest = next
		}
		out = append(out, rest...)
	}
	return out
}

// cut returns a network less another one: halves of it, halves of halves, and so on.
func cut(p, e netip.Prefix) (out []netip.Prefix) {
	if !p.Overlaps(e) {
		return []netip.Prefix{p}
	}
	for bits := p.Bits() + 1; bits <= e.Bits(); bits++ {
		b := e.Addr().AsSlice()
		b[(bits-1)/8] ^= 0x80 >> ((bits - 1) % 8) // the half that e is not in
		other, _ := netip.AddrFromSlice(b)
		out = append(out, netip.PrefixFrom(other, bits).Masked())
	}
	return out
}
