package packets

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// ReadPrefixes reads a list of addresses and networks in CIDR notation, one to a line. It
// skips everything behind a space, such as a score, empty lines, and comments after #.
func ReadPrefixes(r io.Reader) ([]netip.Prefix, error) {
	var list []netip.Prefix
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	line := 0
	for s.Scan() {
		line++
		text, _, _ := strings.Cut(s.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		p, err := parsePrefix(fields[0])
		if err != nil {
			return nil, fault.In("packets", "line %d: %w", line, err)
		}
		list = append(list, p)
	}
	if err := s.Err(); err != nil {
		return nil, fault.In("packets", "line %d: %w", line+1, err)
	}
	return list, nil
}

// parsePrefix reads an address, which is a network of one, or a network.
func parsePrefix(text string) (netip.Prefix, error) {
	if strings.Contains(text, "/") {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return p, fmt.Errorf("network %.60q: not an address, a slash and a number of bits", text)
		}
		return p, nil
	}
	a, err := ParseAddress(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	return netip.PrefixFrom(a.WithZone(""), a.BitLen()), nil
}
