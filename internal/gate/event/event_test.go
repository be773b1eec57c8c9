package event

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// TestEventsSayWhatIsKnown has a packet of a capture, and a record.
func TestEventsSayWhatIsKnown(t *testing.T) {
	p := packets.Packet{Src: netip.MustParseAddr("192.0.2.1"), Number: 7, At: 1_700_000_000_123_000_000}
	record := p
	record.At = 0
	p.Conversation = packets.Conversation{From: p.Src, To: netip.MustParseAddr("198.51.100.2"), Ports: [2]uint16{4000, 80}, Protocol: 6}
	for want, e := range map[string]Event{
		`{"event":"ban","time":"2023-11-14T22:13:20.123Z","input":"a.pcap","number":7,"src":"192.0.2.1","src_port":4000,"dst":"198.51.100.2","dst_port":80,"proto":"tcp","pattern":"x","strikes":3}`: Of(&p, gate.Verdict{Action: gate.Ban, Strikes: 3}, "x", "a.pcap"),
		`{"event":"strike","input":"-","number":7,"src":"192.0.2.1","pattern":"x","strikes":1}`:                                                                                                      Of(&record, gate.Verdict{Strikes: 1}, "x", "-"),
	} {
		if got, err := json.Marshal(e); err != nil || string(got) != want {
			t.Errorf("%s\nwant\n%s (%v)", got, want, err)
		}
	}
}

func TestBansAreExported(t *testing.T) {
	now := time.Unix(1_700_000_000, 0).UTC()
	until := now.Add(90 * time.Second)
	bans := []Event{
		{Kind: Ban, Src: netip.MustParseAddr("192.0.2.1"), Pattern: "x, y", Number: 7, Time: &now},
		{Kind: Ban, Src: netip.MustParseAddr("2001:db8::1"), User: "2001:db8::/64", Until: &until},
	}
	for format, want := range map[string]string{
		"text":  "192.0.2.1\n2001:db8::/64\n",
		"csv":   "time,source,until,pattern,input,packet\n2023-11-14T22:13:20Z,192.0.2.1,,\"x, y\",,7\n,2001:db8::/64,2023-11-14T22:14:50Z,,,0\n",
		"nft":   "table inet everbloom {\n\tset bad4 {\n\t\ttype ipv4_addr\n\t\tflags interval, timeout\n\t\telements = { 192.0.2.1 }\n\t}\n\tset bad6 {\n\t\ttype ipv6_addr\n\t\tflags interval, timeout\n\t\telements = { 2001:db8::/64 timeout 90s }\n\t}\n}\n",
		"ipset": "create everbloom4 hash:net family inet timeout 0 -exist\nadd everbloom4 192.0.2.1 timeout 0 -exist\ncreate everbloom6 hash:net family inet6 timeout 0 -exist\nadd everbloom6 2001:db8::/64 timeout 90 -exist\n",
	} {
		var b strings.Builder
		if err := Export(&b, format, bans, now); err != nil || b.String() != want {
			t.Errorf("%s: %q, want %q (%v)", format, b.String(), want, err)
		}
		if got := FormatOf("bans." + format); got != format {
			t.Errorf("bans.%s is of format %s", format, got)
		}
	}
	var many strings.Builder
	if err := Export(&many, "ipset", slices.Repeat(bans[:1], ipsetRoom+1), now); err != nil || !strings.HasPrefix(many.String(), "create everbloom4 hash:net family inet timeout 0 maxelem 65537 -exist\n") {
		t.Errorf("%.80s (%v)", many.String(), err)
	}
	if Export(&strings.Builder{}, "xml", nil, now) == nil || FormatOf("bans") != "text" {
		t.Error("an unknown format is taken")
	}
}
