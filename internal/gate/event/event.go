// Package event describes what a gate has done in a form that others read: one JSON object
// to a line.
package event

import (
	"net/netip"
	"strconv"
	"time"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// Kind is what happened.
type Kind string

// The kinds.
const (
	Strike Kind = "strike"
	Ban    Kind = "ban"
	Unban  Kind = "unban"
)

// An Event is a strike, a ban or its end. Fields that are not known are left out.
type Event struct {
	Kind    Kind        `json:"event"`
	Time    *time.Time  `json:"time,omitempty"`
	Input   string      `json:"input,omitempty"`  // that the packet came from
	Number  uint64      `json:"number,omitempty"` // of the packet in its input
	Src     netip.Addr  `json:"src"`
	SrcPort uint16      `json:"src_port,omitempty"`
	Dst     *netip.Addr `json:"dst,omitempty"`
	DstPort uint16      `json:"dst_port,omitempty"`
	Proto   string      `json:"proto,omitempty"`
	Pattern string      `json:"pattern,omitempty"`
	Strikes uint8       `json:"strikes,omitempty"` // of the source, with this one
	User    string      `json:"user,omitempty"`    // the network that is banned with src, if it is one
	Until   *time.Time  `json:"until,omitempty"`   // end of the ban; none if it is for ever
	Reason  string      `json:"reason,omitempty"`
}

// Of returns the event of a packet that completed a pattern.
func Of(p *packets.Packet, v gate.Verdict, pattern, input string) Event {
	e := Event{Kind: Strike, Input: input, Number: p.Number, Src: p.Src, Pattern: pattern, Strikes: v.Strikes, Time: At(p.At)}
	if v.Action == gate.Ban {
		e.Kind = Ban
	}
	if p.To.IsValid() {
		to := p.To
		e.Dst, e.SrcPort, e.DstPort, e.Proto = &to, p.Ports[0], p.Ports[1], protocol(p.Protocol)
	}
	return e
}

// At returns a time, or nil if it is not known.
func At(nanoseconds int64) *time.Time {
	if nanoseconds == 0 {
		return nil
	}
	t := time.Unix(0, nanoseconds).UTC()
	return &t
}

// protocol returns the name of a protocol above IP, or its number.
func protocol(number uint8) string {
	switch number {
	case 1:
		return "icmp"
	case 6:
		return "tcp"
	case 17:
		return "udp"
	case 58:
		return "icmp6"
	case 132:
		return "sctp"
	}
	return strconv.Itoa(int(number))
}
