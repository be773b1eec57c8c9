package forward

import (
	"cmp"
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
)

// Switch sends packets to the services that their headers name, such as a firewall,
// a load balancer and an inspector, one after the other, before it lets them go.
//
// The switch has a table of service IDs. It sends a packet to the first one that is
// in its header. When the packet comes back from there the switch looks again, and
// lets it go when it finds none. A filter knows no order: it is that of the table. For
// chains in any order the table has an ID for each service at each step, by
// [ServiceID].
type Switch struct {
	// Table has the IDs in the order in which they are looked for.
	Table []filter.Key

	// Delete takes a service out of the header when the packet comes back from it.
	Delete bool

	// ByPort makes the switch go on in the table after the service that the packet
	// comes back from, which it knows by the port. Otherwise it begins at the top.
	ByPort bool

	// Passes is how often the packet comes to the switch from the network, because
	// its way leads through it more than once; 0 means 1.
	Passes int

	// TTL is how many visits there may be in all; 0 means 64.
	TTL int
}

// ServiceID returns the ID of a service at a step of a chain.
func ServiceID(service string, step int) filter.Key {
	var hash filter.Hash
	return hash.String(fmt.Sprintf("%d %s", step, service))
}

// Visits is what a packet met.
type Visits struct {
	Right   int  // first visits to services of the chain
	Wrong   int  // to services that are not in it
	Twice   int  // to services of the chain where the packet had been
	Skipped int  // services of the chain that were never visited
	Late    int  // services of the chain that were visited after one that stands behind them
	Pinned  int  // services of the chain that could not be deleted after the visit
	Expired bool // the TTL ended it
}

// Done reports whether every service of the chain was visited once, in order, and no
// other.
func (v *Visits) Done() bool {
	return v.Wrong+v.Twice+v.Skipped+v.Late == 0 && !v.Expired
}

// Serve sends a packet around. The chain has the entries of the table that its header
// was made for, in order.
func (s Switch) Serve(h Header, chain []int) (Visits, error) {
	s.Passes, s.TTL = cmp.Or(s.Passes, 1), cmp.Or(s.TTL, 64)
	t := tour{s: s, header: h, place: map[int]int{}, been: map[int]bool{}}
	for i, entry := range chain {
		if entry < 0 || entry >= len(s.Table) {
			return Visits{}, fmt.Errorf("forward: chain: entry %d, the table has %d", entry, len(s.Table))
		}
		t.place[entry] = i
	}
	for range s.Passes {
		t.pass()
	}
	t.v.Skipped = len(t.place) - t.v.Right
	return t.v, nil
}

// tour is one packet that is sent around.
type tour struct {
	s      Switch
	header Header
	place  map[int]int // in the chain, of entries of the table
	been   map[int]bool
	last   int // the furthest place in the chain, plus 1
	visits int
	v      Visits
}

// pass serves the packet from its arrival until the switch lets it go.
func (t *tour) pass() {
	from := 0
	for {
		entry := t.find(from)
		if entry < 0 {
			return
		}
		if t.visits == t.s.TTL {
			t.v.Expired = true
			return
		}
		t.visit(entry)
		if t.s.ByPort {
			from = entry + 1
		}
	}
}

// find returns the first entry from the given one on that is in the header, or -1.
func (t *tour) find(from int) int {
	for i := from; i < len(t.s.Table); i++ {
		if t.header.Has(t.s.Table[i]) {
			return i
		}
	}
	return -1
}

func (t *tour) visit(entry int) {
	t.visits++
	place, right := t.place[entry]
	switch {
	case !right:
		t.v.Wrong++
	case t.been[entry]:
		t.v.Twice++
	default:
		t.v.Right++
		if place+1 < t.last {
			t.v.Late++
		}
		t.last = max(t.last, place+1)
	}
	t.been[entry] = true
	// There is one copy only: to delete what was visited by mistake may make it forget
	// services that it needs.
	if t.s.Delete && t.header.Delete(t.s.Table[entry]) != nil && right {
		t.v.Pinned++
	}
}
