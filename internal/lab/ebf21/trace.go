package ebf21

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// distinct is the Distinct Stream of Sec. 5.1.1. Keys of 64 random bits are
// distinct but for n²/2^65, and so are those that are asked for from those that
// were added.
func distinct(r *rand.Rand, n int) []filter.Key {
	keys := make([]filter.Key, n)
	for i := range keys {
		keys[i] = filter.Key(r.Uint64())
	}
	return keys
}

// A tuple identifies a flow: addresses, ports and protocol, as they stand in a
// packet.
type tuple [13]byte

// key hashes a tuple as the paper does.
func (t tuple) key() filter.Key { return filter.Murmur3(0).Bytes(t[:]) }

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
	t := trace{"seeded heavy-tailed five-tuples", make([]filter.Key, n)}
	for i := range t.packets {
		if i == 0 || r.Float64() < newFlow {
			t.packets[i] = randomFlow(r).key()
		} else {
			t.packets[i] = t.packets[r.IntN(i)]
		}
	}
	return t
}

// randomFlow is TCP two times in three, else UDP.
func randomFlow(r *rand.Rand) (t tuple) {
	binary.LittleEndian.PutUint64(t[:8], r.Uint64())
	binary.LittleEndian.PutUint32(t[8:12], r.Uint32())
	t[12] = 6
	if r.IntN(3) == 0 {
		t[12] = 17
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

// flowsOf returns n flows of a seeded trace, without the packets that repeat them.
func flowsOf(r *rand.Rand, n int) []filter.Key {
	keys := make([]filter.Key, n)
	for i := range keys {
		keys[i] = randomFlow(r).key()
	}
	return keys
}

// packetsFor returns the trace of an experiment: captures from the folder with
// data, which may be shorter, or n seeded packets.
func packetsFor(e *lab.Env, n int) (trace, error) {
	if e.Data == "" {
		return makeTrace(e.Rand(0), n), nil
	}
	t, err := readCaptures(e.Data)
	t.packets = t.packets[:min(n, len(t.packets))]
	return t, err
}

// describe is the note on where the keys are from.
func (t trace) describe() string {
	return fmt.Sprintf("The trace is not CAIDA's, which is not ours to ship, but %s: %d packets of %d flows.", t.name, len(t.packets), len(t.flows()))
}
