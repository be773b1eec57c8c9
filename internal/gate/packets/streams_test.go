package packets

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/layers"

	"github.com/everbloom-go/everbloom/internal/capture/capturetest"
)

// TestStreamsEndAndBeginAgain has a connection that is closed, one without its beginning,
// and one whose segment is damaged.
func TestStreamsEndAndBeginAgain(t *testing.T) {
	frames := [][]byte{
		ip4("10.0.0.1", ipTCP, 0, tcp(1, 2, "")),
		ip4("10.0.0.1", ipTCP, 0, tcp(2, 1, "ABCDEF")), // and the end
		ip4("10.0.0.1", ipTCP, 0, tcp(900, 2, "")),
		ip4("10.0.0.1", ipTCP, 0, tcp(901, 0, "GHIJ")),
		ip4("10.0.0.2", ipTCP, 0, tcp(500, 0, "never began")),
		ip4("10.0.0.3", ipTCP, 0, tcp(1, 0, "cut")[:10]),
		ip6("2001:db8::9", ipTCP, tcp(7, 2, "")),
		ip6("2001:db8::9", ipTCP, tcp(8, 0, "K")),
		ip6("2001:db8::9", ipTCP, tcp(9, 0, "LMN")),
	}
	got, err := readAll(mustOpen(t, bytes.NewReader(capturetest.Pcap(t, layers.LinkTypeRaw, frames...)), Options{}))
	want(t, "streams", got, []string{
		"1 10.0.0.1", "2 10.0.0.1 ABCDEF", "3 10.0.0.1", "4 10.0.0.1 GHIJ", "5 10.0.0.2 never began",
		"6 10.0.0.3", "7 2001:db8::9", "8 2001:db8::9 K", "9 2001:db8::9 LMN",
	})
	if !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// together reads segments of one flow, numbered from 1, and returns number and payload
// of each packet.
func together(segments ...[]byte) (got []string) {
	s := newStreams()
	for i, g := range segments {
		d, _ := dissect(ip4("10.0.0.1", ipTCP, 0, g))
		got = append(got, added(s, d, Packet{Number: uint64(i + 1)})...)
	}
	s.flush()
	return append(got, queued(s)...)
}

// added returns what becomes of a packet.
func added(s *streams, d datagram, p Packet) []string {
	if s.add(&d, &p) {
		return []string{fmt.Sprintf("%d %s", p.Number, p.Payload)}
	}
	return queued(s)
}

func queued(s *streams) (got []string) {
	var p Packet
	for s.next(&p) {
		got = append(got, fmt.Sprintf("%d %s", p.Number, p.Payload))
	}
	return got
}

// TestEverySegmentIsOnePacket holds that the same words in several segments count as
// often, whatever the order, and with or without the beginning.
func TestEverySegmentIsOnePacket(t *testing.T) {
	for name, c := range map[string]struct {
		segments [][]byte
		want     string
	}{
		"no beginning":        {[][]byte{tcp(50, 0, "evil"), tcp(54, 0, "evil"), tcp(58, 0, "evil")}, "1 evil,2 evil,3 evil"},
		"one was missing":     {[][]byte{tcp(9, 2, ""), tcp(14, 0, "evil"), tcp(18, 0, "evil"), tcp(10, 0, "evil")}, "1 ,4 evil,2 evil,3 evil"},
		"one is missing":      {[][]byte{tcp(9, 2, ""), tcp(14, 0, "evil"), tcp(18, 0, "evil")}, "1 ,2 evil,3 evil"},
		"disorder at first":   {[][]byte{tcp(54, 0, "two!"), tcp(50, 0, "one!"), tcp(58, 0, "three!!!")}, "1 two!,2 one!,3 three!!!"},
		"across segments":     {[][]byte{tcp(50, 0, "evi"), tcp(53, 0, "levi"), tcp(57, 0, "l")}, "1 evi,2 levi,3 l"},
		"numbers wrap":        {[][]byte{tcp(1<<32-2, 0, "ev"), tcp(0, 0, "il")}, "1 ev,2 il"},
		"sent again":          {[][]byte{tcp(50, 0, "onlyonce"), tcp(50, 0, "onlyonce"), tcp(54, 0, "oncemore")}, "1 onlyonce,2 ,3 more"},
		"waits twice":         {[][]byte{tcp(9, 2, ""), tcp(14, 0, "two!"), tcp(14, 0, "two!"), tcp(10, 0, "one!")}, "1 ,4 one!,2 two!,3 "},
		"SYN sent again":      {[][]byte{tcp(9, 2, ""), tcp(10, 0, "once"), tcp(9, 2, ""), tcp(10, 0, "once")}, "1 ,2 once,3 ,4 "},
		"begins again":        {[][]byte{tcp(9, 2, ""), tcp(10, 0, "one!"), tcp(700, 2, ""), tcp(701, 0, "two!")}, "1 ,2 one!,3 ,4 two!"},
		"same number again":   {[][]byte{tcp(9, 2, ""), tcp(10, 1, "one!"), tcp(9, 2, ""), tcp(10, 0, "two!")}, "1 ,2 one!,3 ,4 two!"},
		"ended by an empty":   {[][]byte{tcp(10, 0, "one!"), tcp(14, 1, ""), tcp(900, 0, "two!")}, "1 one!,2 ,3 two!"},
		"a RST from nowhere":  {[][]byte{tcp(10, 0, "one!"), tcp(99, 4, ""), tcp(18, 0, "thre"), tcp(14, 0, "two!")}, "1 one!,2 ,4 two!,3 thre"},
		"a stray one first":   {[][]byte{tcp(5000, 0, "stray"), tcp(9, 2, ""), tcp(10, 0, "ev"), tcp(12, 0, "il")}, "1 stray,2 ,3 ev,4 il"},
		"stray, no beginning": {[][]byte{tcp(5000, 0, "stray"), tcp(10, 0, "ev"), tcp(12, 0, "il")}, "1 stray,2 ev,3 il"},
		"data in the SYN":     {[][]byte{tcp(9, 2, "ev"), tcp(12, 0, "il")}, "1 ev,2 il"},
	} {
		if got := strings.Join(together(c.segments...), ","); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestTooMuchWaitingIsGivenUp has a segment that never comes.
func TestTooMuchWaitingIsGivenUp(t *testing.T) {
	s := newStreams()
	add := func(number uint64, seq uint32, text string) []string {
		d, _ := dissect(ip4("10.0.0.1", ipTCP, 0, tcp(seq, 0, text)))
		return added(s, d, Packet{Number: number})
	}
	add(1, 0, "lost")
	for i := range uint32(maxWaiting) {
		if got := add(uint64(2+i), 8+4*i, "wait"); len(got) != 0 {
			t.Fatalf("segment %d: %q", i, got)
		}
	}
	if got := add(1000, 8+4*maxWaiting, "last"); len(got) != maxWaiting+1 || got[0] != "2 wait" || got[maxWaiting] != "1000 last" {
		t.Errorf("%d packets: %q", len(got), got)
	}
	if s.bytes != 0 {
		t.Errorf("%d bytes wait", s.bytes)
	}
	s.bytes = maxWaitingBytes // others hold all there is
	if got := add(1001, 1<<20, "none"); !slices.Equal(got, []string{"1001 none"}) || s.bytes != maxWaitingBytes {
		t.Errorf("%q, %d bytes wait", got, s.bytes)
	}
}

// TestStreamsAreForgotten holds that a flood of connections takes no more than its
// share, and that what waits is not lost.
func TestStreamsAreForgotten(t *testing.T) {
	s := newStreams()
	s.room = 100
	d, _ := dissect(ip4("10.0.0.1", ipTCP, 0, tcp(0, 0, "here")))
	got := added(s, d, Packet{Number: 1})
	d, _ = dissect(ip4("10.0.0.1", ipTCP, 0, tcp(8, 0, "wait")))
	got = append(got, added(s, d, Packet{Number: 2})...)
	for i := range uint32(2 * s.room) {
		s.find(&Flow{byte(i), byte(i >> 8), 1})
	}
	if got = append(got, queued(s)...); !slices.Equal(got, []string{"1 here", "2 wait"}) {
		t.Errorf("%q", got)
	}
	if n := len(s.young) + len(s.old); n > 2*s.room {
		t.Errorf("%d streams", n)
	}
}

// TestStreamsAreWholeInAnyOrder cuts a text into segments, has some of them repeated
// and overlap, and mixes them up near the places where they belong.
func TestStreamsAreWholeInAnyOrder(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 0))
	for round := range 200 {
		text := make([]byte, 4*(1+r.IntN(200)))
		for i := range text {
			text[i] = 'a' + byte(r.IntN(26))
		}
		start := r.Uint32()
		type piece struct {
			at   int
			data []byte
		}
		var pieces []piece
		for at := 0; at < len(text); {
			end := min(len(text), at+1+r.IntN(12))
			from := max(0, at-r.IntN(3))
			pieces = append(pieces, piece{at + r.IntN(20), tcp(start+1+uint32(from), 0, string(text[from:end]))})
			at = end
		}
		slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(a.at, b.at) })
		segments := [][]byte{tcp(start, 2, "")}
		for _, p := range pieces {
			segments = append(segments, p.data)
		}
		got := together(segments...)
		var whole strings.Builder
		for _, g := range got {
			_, words, _ := strings.Cut(g, " ")
			whole.WriteString(words)
		}
		if whole.String() != string(text) || len(got) != len(segments) {
			t.Fatalf("seed %d, round %d: %d segments, %d packets\n%q\n%q", seed, round, len(segments), len(got), text, whole.String())
		}
	}
}

// TestWaitingSegmentsAreCountedWhole sends segments of one byte that came too early, of
// many connections: what they take besides their byte is in the limit.
func TestWaitingSegmentsAreCountedWhole(t *testing.T) {
	s := newStreams()
	waiting := 0
	for i := range 2 * maxWaitingBytes / segmentCost {
		c := Conversation{From: addr("10.0.0.1"), Ports: [2]uint16{uint16(i / 200), 2}, Protocol: ipTCP}
		d, _ := dissect(ip4("10.0.0.1", ipTCP, 0, tcp(2*uint32(i%200), 0, "x")))
		waiting += 1 - len(added(s, d, Packet{Number: uint64(i + 1), Conversation: c}))
		if s.bytes > maxWaitingBytes || waiting*segmentCost > maxWaitingBytes {
			t.Fatalf("%d segments, %d bytes", waiting, s.bytes)
		}
	}
	if s.bytes < maxWaitingBytes/2 {
		t.Errorf("%d bytes wait: the test shows nothing", s.bytes)
	}
}
