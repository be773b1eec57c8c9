package ebf21

import (
	"fmt"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
)

// newFlow is the share of packets that begin a flow: ten packets to a flow, about
// as in traffic of a backbone.
const newFlow = 0.1

// makeTrace draws packets by their flows, which repeat. It stands in for the CAIDA
// trace: a packet that begins no flow is of the flow of an earlier packet, all being as
// likely (the Yule-Simon process), so that few flows have most packets.
func makeTrace(r *rand.Rand, n int) (packets []filter.Key, flows int) {
	packets = make([]filter.Key, n)
	for i := range packets {
		if i == 0 || r.Float64() < newFlow {
			packets[i] = filter.Key(r.Uint64())
			flows++
		} else {
			packets[i] = packets[r.IntN(i)]
		}
	}
	return packets, flows
}

// describeTrace is the note on where the keys are from.
func describeTrace(packets, flows int) string {
	return fmt.Sprintf("The trace is not CAIDA's, which is not ours to ship, but seeded heavy-tailed flows: %d packets of %d flows.", packets, flows)
}
