package ebf21

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// newFlow is the share of packets that begin a flow: ten packets to a flow, about
// as in traffic of a backbone.
const newFlow = 0.1

// A trace is a sequence of packets by their flows, which repeat. It stands in for
// the CAIDA trace: a packet begins a flow with probability newFlow, and else is of
// the flow of an earlier packet, all being as likely. So large flows grow faster
// (the Yule-Simon process), and the share of flows with more than x packets falls
// as x^(-1/(1-newFlow)), that is x^(-1.1): few flows have most packets.
type trace struct {
	name    string
	packets []filter.Key
}

// makeTrace draws a trace of n packets.
func makeTrace(r *rand.Rand, n int) trace {
	t := trace{"seeded heavy-tailed flows", make([]filter.Key, n)}
	for i := range t.packets {
		if i == 0 || r.Float64() < newFlow {
			t.packets[i] = filter.Key(r.Uint64())
		} else {
			t.packets[i] = t.packets[r.IntN(i)]
		}
	}
	return t
}

// flows are the different keys of a trace in the order of their first packets.
func (t trace) flows() []filter.Key {
	seen := make(map[filter.Key]bool)
	var out []filter.Key
	for _, k := range t.packets {
		if !seen[k] {
			seen[k] = true
			out = append(out, k)
		}
	}
	return out
}

// packetsFor returns n packets: of captures from the folder with data, again and
// again if they are fewer, or seeded ones.
func packetsFor(e *lab.Env, n int) (trace, error) {
	if e.Data == "" {
		return makeTrace(e.Rand(0), n), nil
	}
	t, err := readCaptures(e.Data)
	if err == nil && len(t.packets) == 0 {
		err = errors.New("ebf21: the captures have no packets with addresses")
	}
	if err != nil {
		return t, err
	}
	t.packets = slices.Repeat(t.packets, n/len(t.packets)+1)[:n]
	return t, nil
}

// describe is the note on where the keys are from.
func (t trace) describe() string {
	return fmt.Sprintf("The trace is not CAIDA's, which is not ours to ship, but %s: %d packets of %d flows.", t.name, len(t.packets), len(t.flows()))
}
