package gate

import (
	"unsafe"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// states holds the node of the automaton and the strikes of each user that is inside a
// chain or has strikes, and the node of each flow inside one.
//
// A bucket is one cache line with room for five. An entry whose bucket is full goes to
// one of the next, and the buckets passed on the way count it, so that a search ends at
// the first bucket that no entry had to pass:
//
//	bucket  | key key key key key | cell cell cell cell cell | passed |   64 bytes
//	cell    | strikes 8 | node 24 |                                       0 is free
//	tag     | flow 1 | age 4 | origin 11 |
//
// Tags lie beside the buckets, and so do the times of strikes where these expire.
//
// The table doubles when it is full, unless a limit forbids that. Then a new entry
// replaces an old one: see victim.
type states struct {
	buckets []bucket
	tags    []tag
	homes   []uint8 // entries whose path begins at the bucket: most have none, and are not read
	count   int
	fixed   bool // it does not grow

	evicted uint64 // chains that were given up for others
	struck  uint64 // users with strikes that were given up for others

	origins  [origins]uint32 // entries by origin
	age      tag             // of entries that come now
	inserted int             // entries since it began

	window int64 // nanoseconds after which a strike expires; 0 means never
	times  []int64
	kept   int // times per user: one less than the strikes that ban
}

const (
	bucketUsers = 5
	bucketBytes = uint64(unsafe.Sizeof(bucket{})) + 1 + 2*bucketUsers // with its count of homes and its tags
	homesSlack  = 14                                                  // these take whole words

	// maxPassed bounds a search, and with it what a count of homes must hold. At the
	// fill that the table is made for, paths are a few buckets long.
	maxPassed = 32

	// originShare is the part of the table that entries of one origin may have when it is
	// full: an eighth.
	originShare = 8
)

type bucket struct {
	keys   [bucketUsers]filter.Key
	cells  [bucketUsers]cell
	passed uint32
}

// A cell is a node of the automaton and a number of strikes. Users with neither
// need no cell.
type cell uint32

const nodeBits = 24

func newCell(node uint32, strikes int) cell { return cell(node | uint32(strikes)<<nodeBits) }

func (c cell) node() uint32 { return uint32(c) & (1<<nodeBits - 1) }
func (c cell) strikes() int { return int(c >> nodeBits) }

// A tag says where an entry comes from, when it was last changed, and whether it is a flow.
type tag uint16

const (
	originBits = 11
	origins    = 1 << originBits
	ages       = 16
	flowTag    = tag(1 << 15)
)

func (t tag) origin() int { return int(t % origins) }
func (t tag) age() tag    { return t >> originBits % ages }

// A place is where the cell of an entry is.
type place struct {
	bucket int
	i      int
}

// nowhere is the place of users without a cell.
var nowhere = place{-1, 0}

// stateBytes returns the memory per user of a table that is four fifths full,
// where so many times are kept.
func stateBytes(times int) float64 {
	return (float64(bucketBytes)/bucketUsers + 8*float64(times)) * 5 / 4
}

// bucketSpace returns the memory of a bucket with its times.
func bucketSpace(times int) uint64 { return bucketBytes + 8*bucketUsers*uint64(times) }

// leastStates returns the memory of the smallest table.
func leastStates(times int) uint64 { return bucketSpace(times) + homesSlack }

// newStates returns a table that fits into so many bytes, of one bucket at least.
func newStates(bytes uint64, strikes int, window int64) (*states, error) {
	s := &states{window: window}
	if window > 0 {
		s.kept = strikes - 1
	}
	return s, s.allocate(max(1, (max(bytes, homesSlack)-homesSlack)/bucketSpace(s.kept)))
}

func (s *states) allocate(buckets uint64) (err error) {
	if s.buckets, err = table[bucket](buckets); err != nil {
		return err
	}
	if s.homes, err = table[uint8](buckets); err != nil {
		return err
	}
	if s.tags, err = table[tag](buckets * bucketUsers); err != nil {
		return err
	}
	s.times, err = table[int64](buckets * uint64(s.kept) * bucketUsers)
	return err
}

func (s *states) bytes() uint64 {
	return uint64(len(s.buckets))*bucketBytes + homesSlack + uint64(len(s.times))*8
}

func (s *states) room() int { return len(s.buckets) * bucketUsers }

func (s *states) home(k filter.Key) int {
	return int(probe.Reduce(uint64(k), uint64(len(s.buckets))))
}

func (s *states) after(b int) int {
	if b++; b == len(s.buckets) {
		return 0
	}
	return b
}

// pathLength returns how many buckets a search may look at, each once.
func (s *states) pathLength() int { return min(maxPassed, len(s.buckets)) }

// find returns the place of an entry, or nowhere.
func (s *states) find(k filter.Key) place {
	b := s.home(k)
	if s.homes[b] == 0 {
		return nowhere
	}
	for range s.pathLength() {
		at := &s.buckets[b]
		for i := range at.keys {
			if at.keys[i] == k && at.cells[i] != 0 {
				return place{b, i}
			}
		}
		if at.passed == 0 {
			break
		}
		b = s.after(b)
	}
	return nowhere
}

func (s *states) cell(p place) cell { return s.buckets[p.bucket].cells[p.i] }
func (s *states) tag(p place) *tag  { return &s.tags[p.bucket*bucketUsers+p.i] }

// set changes an entry. One with neither a node nor strikes is removed.
func (s *states) set(p place, node uint32, strikes int) {
	c := newCell(node, strikes)
	if c == 0 {
		s.remove(p)
		return
	}
	s.buckets[p.bucket].cells[p.i] = c
	t := s.tag(p)
	*t = *t&^((ages-1)<<originBits) | s.age<<originBits
}

// insert gives a cell to a key without one. It returns nowhere if there is no room.
func (s *states) insert(k filter.Key, c cell, t tag) place {
	p := s.vacancy(k)
	for p == nowhere && s.grow() {
		p = s.vacancy(k)
	}
	if s.inserted++; s.inserted > s.room()/ageShare {
		s.age, s.inserted = (s.age+1)%ages, 0
	}
	if p == nowhere {
		if p = s.victim(k, c, t); p == nowhere {
			return nowhere
		}
		s.replace(p)
	}
	s.put(p, k, c, t|s.age<<originBits)
	s.origins[t.origin()]++
	return p
}

// put fills in a free cell.
func (s *states) put(p place, k filter.Key, c cell, t tag) {
	at := &s.buckets[p.bucket]
	at.keys[p.i], at.cells[p.i] = k, c
	*s.tag(p) = t
	s.homes[s.home(k)]++
	s.pass(k, p.bucket, 1)
	s.count++
}

// vacancy returns a cell in the first bucket on the path of a key that has one: a free one,
// else that of an idle flow.
func (s *states) vacancy(k filter.Key) place {
	b := s.home(k)
	for range s.pathLength() {
		old := nowhere
		for i, c := range s.buckets[b].cells {
			if c == 0 {
				return place{b, i}
			}
			if t := *s.tag(place{b, i}); t&flowTag != 0 && s.since(t) >= idle {
				old = place{b, i}
			}
		}
		if old != nowhere {
			s.remove(old)
			return old
		}
		b = s.after(b)
	}
	return nowhere
}

// remove frees the cell of an entry.
func (s *states) remove(p place) {
	at := &s.buckets[p.bucket]
	at.cells[p.i] = 0
	s.origins[s.tag(p).origin()]--
	s.homes[s.home(at.keys[p.i])]--
	s.pass(at.keys[p.i], p.bucket, ^uint32(0))
	s.count--
}

// pass adds to the counts of the buckets that a key in bucket b had to pass.
func (s *states) pass(k filter.Key, b int, by uint32) {
	for i := s.home(k); i != b; i = s.after(i) {
		s.buckets[i].passed += by
	}
}

// live returns how many strikes of a user are within the window of now, and moves their
// times to the front.
func (s *states) live(p place, now int64) int {
	n := s.cell(p).strikes()
	if s.window == 0 {
		return n
	}
	times, live := s.timesOf(p), 0
	for _, at := range times[:n] {
		if counts(at, now, s.window) {
			times[live] = at
			live++
		}
	}
	return live
}

// counts reports whether a strike counts for a packet at another time. A time of 0 is not
// known. A packet from the future changes nothing for others: there is no common clock.
func counts(at, now, window int64) bool {
	return at == 0 || now == 0 || now-at <= window && at-now <= window
}

// strike adds a strike to the live ones of a user, and returns the place: nowhere if
// there is no room. The strike is not the one that bans.
func (s *states) strike(k filter.Key, p place, live int, node uint32, t tag, now int64) place {
	if p == nowhere {
		if p = s.insert(k, newCell(node, 1), t); p == nowhere {
			return nowhere
		}
	} else {
		s.set(p, node, live+1)
	}
	if s.window > 0 {
		s.timesOf(p)[live] = now
	}
	return p
}

func (s *states) timesOf(p place) []int64 {
	first := (p.bucket*bucketUsers + p.i) * s.kept
	return s.times[first : first+s.kept]
}
