package packets

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Limits of what is kept of streams.
const (
	maxWaiting      = 1 << 8  // segments of a stream that came too early
	maxWaitingBytes = 1 << 25 // of all streams, with what a segment takes besides
	segmentCost     = 512     // bytes of a segment besides its own
	maxStreams      = 1 << 16 // in a generation
	maxSeen         = 1 << 30 // bytes that are known to be repeated, of the 2^31 before
)

// streams reassembles TCP. Each segment is one packet: one that continues its stream is
// returned at once, then those that waited for it, each with its own number, time and
// payload. A repetition has no payload. So a pattern in each of several segments gets as
// many strikes as without reassembly, whatever their order.
//
// A stream begins with its first segment, which need not be the beginning of the
// connection. Idle streams are dropped, a generation at a time; a stream that was dropped
// begins again.
type streams struct {
	young, old map[Flow]*stream
	recent     []recent // some of the young ones, by their ports and addresses
	room       int      // streams in a generation
	bytes      int      // of segments that wait, with their cost
	queue      []Packet
	given      int // packets of the queue that were returned
	fresh      []stream
}

// A recent stream is found without a map.
type recent struct {
	flow Flow
	at   *stream
}

// maxRecent is how many recent streams there are at most, a power of two.
const maxRecent = 1 << 12

// A stream is the state of a flow. The zero stream has not begun.
type stream struct {
	begun   bool
	ended   bool   // the next segment is of another connection
	next    uint32 // number of the byte that continues it
	seen    uint32 // bytes before next that are repetitions if they come again
	waiting []segment
}

// A segment is one packet of a flow.
type segment struct {
	Packet
	seq  uint32
	last bool // FIN or RST
}

// Flags of TCP.
const (
	tcpFIN = 1
	tcpSYN = 2
	tcpRST = 4
)

func newStreams() *streams {
	return &streams{young: map[Flow]*stream{}, old: map[Flow]*stream{}, room: maxStreams, recent: make([]recent, maxRecent)}
}

// add takes a packet that is TCP. It reports whether p is to be returned now, with the
// payload filled in; else next returns what is due. The payload of the datagram is valid
// until then.
func (s *streams) add(d *datagram, p *Packet) (now bool) {
	if len(d.body) < tcpHeader {
		return true
	}
	flags := d.body[13]
	seq, payload, last := binary.BigEndian.Uint32(d.body[4:]), d.payload(), flags&(tcpFIN|tcpRST) != 0
	flow := p.Flow()
	at := s.find(&flow)
	syn := flags&tcpSYN != 0
	if !syn && at.begun && !at.ended && seq == at.next && len(at.waiting) == 0 { // most are so
		at.move(uint32(len(payload)))
		at.ended = last
		p.Payload = payload
		return true
	}
	g := segment{Packet: *p, seq: seq, last: last}
	g.Payload = payload
	if syn {
		g.seq++ // the SYN counts as a byte
		if !at.begun || at.ended || g.seq != at.next-at.seen {
			s.begin(at, g.seq) // else it was just sent again
		}
	}
	s.take(at, g)
	return false
}

// move goes on by so many bytes.
func (at *stream) move(n uint32) {
	at.next += n
	at.seen = min(at.seen+n, maxSeen)
}

// find returns the stream of a flow.
func (s *streams) find(f *Flow) *stream {
	const golden = 0x9E3779B97F4A7C15
	low := binary.LittleEndian.Uint64(f[29:]) ^ binary.LittleEndian.Uint64(f[8:]) // ports and addresses
	r := &s.recent[low*golden>>32%maxRecent]
	if r.at != nil && r.flow == *f {
		return r.at
	}
	at := s.look(f)
	*r = recent{*f, at}
	return at
}

// look finds a stream by its map, or makes one.
func (s *streams) look(f *Flow) *stream {
	if at := s.young[*f]; at != nil {
		return at
	}
	if len(s.young) == s.room {
		s.release(s.old)
		s.young, s.old = map[Flow]*stream{}, s.young
		clear(s.recent)
	}
	at := s.old[*f]
	if at == nil {
		if len(s.fresh) == 0 {
			s.fresh = make([]stream, 64)
		}
		at, s.fresh = &s.fresh[0], s.fresh[1:]
	}
	delete(s.old, *f)
	s.young[*f] = at
	return at
}

// begin starts a stream, or starts it again after all that waits in it.
func (s *streams) begin(at *stream, seq uint32) {
	s.drain(at, true)
	*at = stream{begun: true, next: seq, waiting: at.waiting}
}

// take continues a stream with a segment, or makes it wait. A segment outside of all
// that was seen, and not ahead, is no repetition: the first segment may have been a stray
// one, and a sender must not be able to hide behind it.
func (s *streams) take(at *stream, g segment) {
	length := uint32(len(g.Payload))
	ahead := int32(g.seq - at.next)
	switch {
	case length == 0:
		at.ended = at.ended || g.last && ahead == 0
		s.give(g.Packet, nil)
		return
	case !at.begun, at.ended && ahead > 0:
		s.begin(at, g.seq)
	case ahead > 0:
		s.wait(at, g)
		return
	case uint32(-ahead) <= at.seen: // it continues the stream, or repeats some
	case g.seq+length == at.next-at.seen: // the first two came in disorder
		at.seen = min(at.seen+length, maxSeen)
		s.give(g.Packet, g.Payload)
		return
	default:
		s.begin(at, g.seq)
	}
	s.advance(at, g)
	s.drain(at, false)
}

// wait keeps a segment for later. If there is no room for more, the missing bytes are
// given up.
func (s *streams) wait(at *stream, g segment) {
	g.Payload = slices.Clone(g.Payload)
	i, _ := slices.BinarySearchFunc(at.waiting, g, func(a, b segment) int {
		return cmp.Or(cmp.Compare(int32(a.seq-at.next), int32(b.seq-at.next)), -1) // equal ones in the order they came
	})
	at.waiting = slices.Insert(at.waiting, i, g)
	s.bytes += len(g.Payload) + segmentCost
	if len(at.waiting) > maxWaiting {
		at.skip()
		s.drain(at, false)
	}
	if s.bytes > maxWaitingBytes {
		s.drain(at, true)
	}
}

// skip gives up the bytes before the first segment that waits.
func (at *stream) skip() { at.next, at.seen = at.waiting[0].seq, 0 }

// drain returns the segments that continue the stream, or all.
func (s *streams) drain(at *stream, all bool) {
	n := 0
	for ; n < len(at.waiting); n++ {
		g := at.waiting[n]
		if int32(g.seq-at.next) > 0 {
			if !all {
				break
			}
			at.waiting = at.waiting[n:]
			n = 0
			at.skip()
		}
		s.bytes -= len(g.Payload) + segmentCost
		s.advance(at, g)
	}
	at.waiting = slices.Delete(at.waiting, 0, n)
}

// advance returns a segment that begins at or before the next byte of its stream.
func (s *streams) advance(at *stream, g segment) {
	if again := at.next - g.seq; again < uint32(len(g.Payload)) {
		g.Payload = g.Payload[again:]
	} else {
		g.Payload = nil
	}
	at.move(uint32(len(g.Payload)))
	at.ended = at.ended || g.last
	s.give(g.Packet, g.Payload)
}

// give queues a packet with its payload.
func (s *streams) give(p Packet, payload []byte) {
	p.Payload = payload
	s.queue = append(s.queue, p)
}

// release returns all segments that wait, ordered by the first of each stream.
func (s *streams) release(all map[Flow]*stream) {
	var list []*stream
	for _, at := range all {
		if len(at.waiting) > 0 {
			list = append(list, at)
		}
	}
	slices.SortFunc(list, func(a, b *stream) int { return cmp.Compare(a.waiting[0].Number, b.waiting[0].Number) })
	for _, at := range list {
		s.drain(at, true)
	}
}

// flush returns all that waits.
func (s *streams) flush() {
	s.release(s.old)
	s.release(s.young)
}

// next takes a packet from the queue. Its payload is valid until next returns false.
func (s *streams) next(p *Packet) bool {
	if s.given == len(s.queue) {
		clear(s.queue) // of payloads
		s.queue, s.given = s.queue[:0], 0
		return false
	}
	*p = s.queue[s.given]
	s.given++
	return true
}
