// Command lpm finds the route with the longest prefix of an address by a filter for
// each length of prefix ([EBF21] Sec. 1). It reads routes, a prefix and where it goes,
// and addresses, which it looks up among the routes before them:
//
//	$ printf '%s\n' '10.0.0.0/8 east' 10.1.2.3 '10.1.0.0/16 west' 10.1.2.3 192.0.2.1 | go run ./examples/lpm
//	10.1.2.3 10.0.0.0/8 east
//	10.1.2.3 10.1.0.0/16 west
//	192.0.2.1 no route
//	3 look-ups asked 4 filters and read 2 routes
//
// Without filters the routes of every length would be read. That matters where routes
// are in slow memory; elsewhere a trie does better: go test -bench . ./examples/lpm
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

	"github.com/everbloom-go/everbloom"
)

func main() {
	log.SetFlags(0)
	if err := run(os.Stdin, os.Stdout); err != nil {
		log.Fatal("lpm: ", err)
	}
}

func run(in io.Reader, out io.Writer) error {
	var t table
	w, lines, lookups := bufio.NewWriter(out), bufio.NewScanner(in), 0
	for n := 1; lines.Scan(); n++ {
		entry, _, _ := strings.Cut(lines.Text(), " ")
		if a, err := netip.ParseAddr(entry); err == nil {
			lookups++
			_, _ = fmt.Fprintln(w, a, t.lookup(a)) // Flush reports the first error
			continue
		}
		p, err := netip.ParsePrefix(entry)
		if err == nil {
			err = t.insert(p, lines.Text())
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	_, _ = fmt.Fprintf(w, "%d look-ups asked %d filters and read %d routes\n", lookups, t.asked, t.read)
	return errors.Join(lines.Err(), w.Flush())
}

// A table has prefixes by version and length: in a filter, which may be wrong, and with
// their routes in a hash table, which is read only if the filter may contain the prefix.
type table struct {
	lengths [2][129]struct {
		filter *everbloom.Set
		routes map[[16]byte]string
	}
	asked, read int
}

func (t *table) insert(p netip.Prefix, route string) (err error) {
	l, key := &t.lengths[p.Addr().BitLen()/128][p.Bits()], p.Masked().Addr().As16()
	if l.filter == nil {
		// The number of routes is unknown, and routes may be deleted.
		if l.filter, err = everbloom.New(everbloom.Needs{Items: 1, FPR: 0.01, Delete: true, Grow: true}); err != nil {
			return err
		}
		l.routes = map[[16]byte]string{}
	}
	l.routes[key] = route
	_, err = l.filter.Add(key[:])
	return err
}

// lookup tries the longest prefixes first.
func (t *table) lookup(a netip.Addr) string {
	for bits := a.BitLen(); bits >= 0; bits-- {
		if l := &t.lengths[a.BitLen()/128][bits]; l.filter != nil {
			p, _ := a.Prefix(bits)
			key := p.Addr().As16()
			t.asked++
			if l.filter.MayContain(key[:]) {
				t.read++
				if route, ok := l.routes[key]; ok {
					return route
				}
			}
		}
	}
	return "no route"
}
