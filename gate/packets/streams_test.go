package packets

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/gopacket/gopacket/layers"

	"github.com/everbloom-go/everbloom/internal/capture/capturetest"
)

// TestStreamsEndAndBeginAgain has a connection that is closed, one that nobody saw
// begin, and one whose segment is damaged.
func TestStreamsEndAndBeginAgain(t *testing.T) {
	frames := [][]byte{
		ip4("10.0.0.1", ipTCP, 0, tcp(1, 2, "")),
		ip4("10.0.0.1", ipTCP, 0, tcp(2, 1, "ABCDEF")), // and the end: EF is lost
		ip4("10.0.0.1", ipTCP, 0, tcp(900, 2, "")),
		ip4("10.0.0.1", ipTCP, 0, tcp(901, 0, "GHIJ")),
		ip4("10.0.0.2", ipTCP, 0, tcp(500, 0, "never began")),
		ip4("10.0.0.3", ipTCP, 0, tcp(1, 0, "cut")[:10]),
		ip6("2001:db8::9", ipTCP, tcp(7, 2, "")),
		ip6("2001:db8::9", ipTCP, tcp(8, 0, "K")),
		ip6("2001:db8::9", ipTCP, tcp(9, 0, "LMN")),
	}
	got, err := readAll(mustOpen(t, bytes.NewReader(capturetest.Pcap(t, layers.LinkTypeRaw, frames...)), Options{Reassemble: true}))
	want(t, "streams", got, []string{
		"1 10.0.0.1", "2 10.0.0.1 41424344", "3 10.0.0.1", "4 10.0.0.1 4748494a", "5 10.0.0.2", "6 10.0.0.3",
		"7 2001:db8::9", "8 2001:db8::9", "9 2001:db8::9 4b4c4d4e", "9 10.0.0.2 6e657665 72206265",
	})
	if !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
