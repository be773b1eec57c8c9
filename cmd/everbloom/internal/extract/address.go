package extract

import (
	"bytes"
	"net/netip"
)

// addresses finds IPv4 and IPv6 addresses. An address in a longer name or number
// is none; ports, brackets, prefix lengths and zones are not part of it. One that
// is not written in the shortest form has that as its other form, and an IPv4
// address inside an IPv6 one ("::ffff:192.0.2.1") has itself.
func addresses(found []Part, text []byte) []Part {
	for from, to := run(text, 0, inAddress); from < len(text); from, to = run(text, to, inAddress) {
		touches := from > 0 && classes[text[from-1]]&isLetter != 0 || to < len(text) && classes[text[to]]&isLetter != 0
		if !touches {
			found = appendAddress(found, text, from, to)
		}
	}
	return found
}

// appendAddress appends the addresses in a run of hexadecimal digits, dots and
// colons. Most runs are none and end here.
func appendAddress(found []Part, text []byte, from, to int) []Part {
	const shortest = len("::")
	for from < to && text[from] == '.' {
		from++
	}
	for from < to && text[to-1] == '.' { // the end of a sentence
		to--
	}
	if to-from < shortest {
		return found
	}
	part := text[from:to]
	if bytes.Count(part, []byte{':'}) >= 6 || bytes.Contains(part, []byte("::")) { // no time of day
		if p, ok := parse6(text, from, to); ok {
			return append(found, p)
		}
		if text[to-1] == ':' { // "from 2001:db8::1: closed"
			if p, ok := parse6(text, from, to-1); ok {
				return append(found, p)
			}
		}
	}
	for from < to { // "192.0.2.1:80"
		end := to
		if i := bytes.IndexByte(text[from:to], ':'); i >= 0 {
			end = from + i
		}
		if is4(text[from:end]) {
			found = append(found, Part{From: from, To: end})
		}
		from = end + 1
	}
	return found
}

// is4 reports whether text is an IPv4 address. It does not allocate, as
// netip.ParseAddr does for what is none.
func is4(text []byte) bool {
	fields, value, digits := 1, 0, 0
	for _, b := range text {
		switch {
		case b == '.' && digits > 0:
			fields, value, digits = fields+1, 0, 0
		case b < '0' || b > '9' || digits > 0 && value == 0: // also a leading zero
			return false
		default:
			value, digits = 10*value+int(b-'0'), digits+1
			if value > 255 {
				return false
			}
		}
	}
	return fields == 4 && digits > 0
}

// parse6 reads one IPv6 address.
func parse6(text []byte, from, to int) (Part, bool) {
	const longest = len("0000:0000:0000:0000:0000:0000:255.255.255.255")
	p := Part{From: from, To: to}
	if to-from > longest {
		return p, false
	}
	a, err := netip.ParseAddr(string(text[from:to]))
	if err != nil {
		return p, false
	}
	var buf [longest]byte
	if short := a.Unmap().AppendTo(buf[:0]); string(short) != string(text[from:to]) {
		p.Also = string(short)
	}
	return p, true
}
