// Command iplist judges addresses by a black list that changes while it runs: +X puts
// X, an address or a network, on it, -X takes it off, and X alone asks. =X puts X on a
// white list, which overrides it, also where the filter is wrong: once in a thousand.
//
//	$ printf '%s\n' +192.0.2.1 +2001:db8::/32 2001:db8::7 192.0.2.1 =192.0.2.1 192.0.2.1 -192.0.2.9 | go run ./examples/iplist
//	2001:db8::7 black
//	192.0.2.1 black
//	192.0.2.1 white
//	192.0.2.9 was not listed
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log"
	"net/netip"
	"os"
	"strings"

	"github.com/gaissmai/bart"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
)

func main() {
	log.SetFlags(0)
	if err := judge(os.Stdin, os.Stdout); err != nil {
		log.Fatal("iplist: ", err)
	}
}

type lists struct {
	black           *everbloom.Set // single addresses
	networks, white bart.Lite      // a network has too many addresses to add each
}

// judge answers at once, unbuffered: in may be a pipe that stays open.
func judge(in io.Reader, out io.Writer) error {
	// Delete and Grow bring a kind that deletes exactly, at any size. The hash has a
	// secret, because senders choose the addresses.
	black, err := everbloom.New(everbloom.Needs{Items: 10_000, FPR: 0.001, Delete: true, Grow: true, Hash: filter.NewSipHash()})
	if err != nil {
		return err
	}
	l, lines := lists{black: black}, bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		if err := l.follow(lines.Text(), out); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lines.Err()
}

// follow does what a line says.
func (l *lists) follow(line string, out io.Writer) error {
	entry := strings.TrimLeft(line, "+-=")
	p, err := netip.ParsePrefix(entry)
	if a, e := netip.ParseAddr(entry); e == nil {
		a = a.Unmap() // ::ffff:192.0.2.1 is no way around the list
		p, err = a.Prefix(a.BitLen())
	}
	switch sign := strings.TrimSuffix(line, entry); {
	case line == "" || line[0] == '#' || line[0] == '@': // a remark
		return nil
	case err != nil:
	case sign == "=" && !p.Addr().Is4In6():
		l.white.Insert(p)
	case sign == "+" && p.IsSingleIP():
		_, err = l.black.Add(p.Addr().AsSlice())
	case sign == "+" && !p.Addr().Is4In6():
		l.networks.Insert(p)
	case sign == "-" && p.IsSingleIP():
		err = l.black.Delete(p.Addr().AsSlice())
	case sign == "-":
		l.networks.Delete(p)
	case sign == "" && p.IsSingleIP():
		_, err = fmt.Fprintln(out, entry, l.verdict(p.Addr()))
	default:
		err = fmt.Errorf("%q is neither an address nor a change (and write IPv4 as such)", line)
	}
	if errors.Is(err, filter.ErrNotFound) { // refused, so that no other address is harmed
		_, err = fmt.Fprintln(out, entry, "was not listed")
	}
	return err
}

// verdict asks the white list first, so that it overrides.
func (l *lists) verdict(a netip.Addr) string {
	switch {
	case l.white.Contains(a):
		return "white"
	case l.networks.Contains(a) || l.black.MayContain(a.AsSlice()):
		return "black"
	}
	return "unlisted"
}
