package packets

import (
	"net/netip"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/tcpassembly"
)

// Limits of what waits for segments that are missing. A page is about 2 KB.
const (
	maxPages       = 1 << 15
	maxStreamPages = 1 << 8
)

// streams puts the segments of TCP together. A segment that continues its stream
// has its words at once, and those of segments that waited for it; one that came too
// early has none for now.
type streams struct {
	assembler *tcpassembly.Assembler
	tcp       layers.TCP
	words     []uint32 // of the segment at hand
	flushing  bool
	queue     []Packet // what was left in streams at the end
	number    uint64
}

func newStreams() *streams {
	s := &streams{}
	s.assembler = tcpassembly.NewAssembler(tcpassembly.NewStreamPool(s))
	s.assembler.MaxBufferedPagesTotal = maxPages
	s.assembler.MaxBufferedPagesPerConnection = maxStreamPages
	return s
}

// New makes a stream, for the assembler.
func (s *streams) New(network, _ gopacket.Flow) tcpassembly.Stream {
	src, _ := netip.AddrFromSlice(network.Src().Raw())
	return &stream{all: s, src: src.Unmap()}
}

// assemble takes in a segment and appends the words that are due.
func (s *streams) assemble(d *datagram, at time.Time, words []uint32) []uint32 {
	if s.tcp.DecodeFromBytes(d.body, gopacket.NilDecodeFeedback) != nil {
		return words
	}
	s.words = words
	src, dst := d.src.AsSlice(), d.dst.AsSlice()
	endpoint := layers.EndpointIPv4
	if d.src.Is6() {
		endpoint = layers.EndpointIPv6
	}
	s.assembler.AssembleWithTimestamp(gopacket.NewFlow(endpoint, src, dst), &s.tcp, at)
	return s.words
}

// flush has all streams give what they hold, beyond what is missing.
func (s *streams) flush(number uint64) {
	s.flushing, s.number = true, number
	s.assembler.FlushAll()
}

// next gives what flush has found.
func (s *streams) next(p *Packet) bool {
	if len(s.queue) == 0 {
		return false
	}
	*p, s.queue = s.queue[0], s.queue[1:]
	return true
}

// stream is one direction of a connection.
type stream struct {
	all  *streams
	src  netip.Addr
	rest []byte // of a word that is not complete
}

// Reassembled takes in what continues the stream, for the assembler.
func (s *stream) Reassembled(parts []tcpassembly.Reassembly) {
	words := s.all.words
	if s.all.flushing {
		words = nil
	}
	var at time.Time
	for _, p := range parts {
		if p.Skip != 0 {
			s.rest = s.rest[:0] // nobody knows where words begin now; here is as good as anywhere
		}
		at = p.Seen
		words = s.cut(words, p.Bytes)
	}
	if !s.all.flushing {
		s.all.words = words
		return
	}
	if len(words) > 0 {
		s.all.queue = append(s.all.queue, Packet{Src: s.src, Words: words, At: at.UnixNano(), Number: s.all.number})
	}
}

// cut appends the words of the stream as far as they are complete.
func (s *stream) cut(words []uint32, b []byte) []uint32 {
	if n := len(s.rest); n > 0 {
		take := min(4-n, len(b))
		s.rest = append(s.rest, b[:take]...)
		b = b[take:]
		if len(s.rest) < 4 {
			return words
		}
		words = appendWords(words, s.rest)
	}
	words = appendWords(words, b)
	s.rest = append(s.rest[:0], b[len(b)&^3:]...)
	return words
}

// ReassemblyComplete ends the stream, for the assembler.
func (s *stream) ReassemblyComplete() {}
