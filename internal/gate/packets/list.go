package packets

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// A List is addresses and networks, as a black list has them. It takes 4 bytes for an IPv4
// address.
type List struct {
	addresses []uint32
	networks  []netip.Prefix
}

// Len returns the number of entries.
func (l *List) Len() int { return len(l.addresses) + len(l.networks) }

// Add adds an entry.
func (l *List) Add(p netip.Prefix) {
	if a := p.Addr(); a.Is4() && p.IsSingleIP() {
		l.addresses = append(l.addresses, number(a))
		return
	}
	l.networks = append(l.networks, p.Masked())
}

// Each calls do with each entry.
func (l *List) Each(do func(netip.Prefix)) {
	for _, a := range l.addresses {
		do(netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a)}), 32))
	}
	for _, p := range l.networks {
		do(p)
	}
}

// All returns the entries in a slice.
func (l *List) All() []netip.Prefix {
	all := make([]netip.Prefix, 0, l.Len())
	l.Each(func(p netip.Prefix) { all = append(all, p) })
	return all
}

// Read adds the entries of a list, one to a line: addresses, networks in CIDR notation and
// ranges of addresses (a-b), also as ipset save writes them ("add NAME ENTRY"). It skips
// everything behind a space, such as a score, empty lines, and comments after # and ;.
func (l *List) Read(r io.Reader) error {
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	line := 0
	for s.Scan() {
		line++
		if err := l.parse(s.Bytes()); err != nil {
			return fault.In("packets", "line %d: %w", line, err)
		}
	}
	if err := s.Err(); err != nil {
		return fault.In("packets", "line %d: %w", line+1, err)
	}
	slices.Sort(l.addresses)
	slices.SortFunc(l.networks, comparePrefixes)
	l.addresses, l.networks = slices.Clip(l.addresses), slices.Clip(l.networks)
	return nil
}

func comparePrefixes(a, b netip.Prefix) int {
	return cmp.Or(a.Addr().Compare(b.Addr()), a.Bits()-b.Bits())
}

// Has reports whether a list that was read has an entry: a network of the list that covers
// it does not count.
func (l *List) Has(p netip.Prefix) (found bool) {
	if a := p.Addr(); a.Is4() && p.IsSingleIP() {
		_, found = slices.BinarySearch(l.addresses, number(a))
	} else {
		_, found = slices.BinarySearchFunc(l.networks, p, comparePrefixes)
	}
	return found
}

// number returns an IPv4 address as a number.
func number(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

func (l *List) parse(text []byte) error {
	if i := bytes.IndexAny(text, "#;"); i >= 0 {
		text = text[:i]
	}
	field, rest := cutField(text)
	switch string(field) {
	case "", "create", "COMMIT", "flush":
		return nil
	case "add", "-A":
		_, rest = cutField(rest)
		field, rest = cutField(rest)
	}
	if next, behind := cutField(rest); len(next) > 0 && next[0] == '-' { // a - b
		to, more := cutField(behind)
		if len(next) > 1 {
			to, more = next[1:], behind
		}
		field, rest = slices.Concat(field, []byte("-"), to), more
	}
	if err := checkRest(rest); err != nil {
		return err
	}
	if from, to, ok := bytes.Cut(field, []byte("-")); ok {
		if a, err := ParseAddress(string(from)); err == nil {
			return l.addRange(a, to)
		}
	}
	p, err := parsePrefix(field)
	if err == nil {
		l.Add(p)
	}
	return err
}

// checkRest refuses what behind an entry would change what it means: a second address, such
// as the last one of a range, and an exception of ipset.
func checkRest(rest []byte) error {
	for len(rest) > 0 {
		var field []byte
		field, rest = cutField(rest)
		if string(field) == "nomatch" {
			return errors.New("nomatch: exceptions are not read: put the entry on the white list")
		}
		if !bytes.ContainsAny(field, ".:") {
			continue // a score, most likely
		}
		if _, err := parsePrefix(field); err == nil {
			return fmt.Errorf("a second address %q: write one entry to a line, and a range as a-b", field)
		}
	}
	return nil
}

// cutField returns the first field of a line and what is behind it.
func cutField(text []byte) (field, rest []byte) {
	text = bytes.TrimSpace(text)
	if i := bytes.IndexAny(text, " \t,"); i >= 0 {
		return text[:i], text[i+1:]
	}
	return text, nil
}

// parsePrefix reads an address, which is a network of one, or a network. It allocates
// nothing unless there is an error.
func parsePrefix(text []byte) (netip.Prefix, error) {
	if bytes.Contains(text, []byte("/")) {
		p, err := netip.ParsePrefix(string(text))
		if err != nil {
			return p, fmt.Errorf("network %.60q: not an address, a slash and a number of bits", text)
		}
		return p, nil
	}
	a, err := ParseAddress(string(text))
	if err != nil {
		return netip.Prefix{}, err
	}
	return netip.PrefixFrom(a.WithZone(""), a.BitLen()), nil
}

// addRange adds the fewest networks that cover exactly the addresses from one to another.
func (l *List) addRange(a netip.Addr, to []byte) error {
	b, err := ParseAddress(string(to))
	if err != nil {
		return err
	}
	if a.BitLen() != b.BitLen() || b.Less(a) {
		return fmt.Errorf("range %v-%v: the first address must come before the last, of the same kind", a, b)
	}
	for {
		bits := a.BitLen()
		for bits > 0 {
			p, err := a.Prefix(bits - 1)
			if err != nil || p.Addr() != a || b.Less(lastOf(p)) {
				break
			}
			bits--
		}
		p := netip.PrefixFrom(a, bits)
		l.Add(p)
		last := lastOf(p)
		if last == b {
			return nil
		}
		a = last.Next()
	}
}

// lastOf returns the last address of a network.
func lastOf(p netip.Prefix) netip.Addr {
	b := p.Addr().As16()
	for i := 128 - (p.Addr().BitLen() - p.Bits()); i < 128; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	if p.Addr().Is4() {
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return netip.AddrFrom16(b)
}
