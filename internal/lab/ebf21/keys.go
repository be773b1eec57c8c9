package ebf21

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
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

// realEntries reads what there is of the tables in the folder with data.
func realEntries(e *lab.Env) (listed []uint32, makers, prefixes []uint64, err error) {
	for _, file := range (lab.Experiment{Data: useFiles}).Files(e.Data) {
		switch file.Name {
		case blackFile:
			listed, err = lab.IPv4(e.Data, blackFile)
		case makerFile:
			err = lab.Lines(e.Data, makerFile, func(text string) error {
				if fields := strings.SplitN(text, ",", 3); len(fields) == 3 { // not the rest of an entry in several lines
					if v, err := strconv.ParseUint(fields[1], 16, 24); err == nil { // not the heading
						makers = append(makers, v)
					}
				}
				return nil
			})
		case routeFile:
			err = lab.Lines(e.Data, routeFile, func(text string) error {
				p, err := netip.ParsePrefix(text)
				if err == nil && p.Addr().Is4() {
					four := p.Masked().Addr().As4()
					prefixes = append(prefixes, uint64(binary.BigEndian.Uint32(four[:]))<<8|uint64(p.Bits()))
				}
				return err
			})
		}
		if err != nil {
			return nil, nil, nil, err
		}
	}
	e.Rand(0).Shuffle(len(prefixes), func(i, j int) { prefixes[i], prefixes[j] = prefixes[j], prefixes[i] })
	return listed, makers, prefixes, nil
}
