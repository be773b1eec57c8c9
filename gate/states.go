package gate

import (
	"unsafe"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// states holds the node of the automaton and the strikes of each user that is inside a
// chain or has strikes. Its size never changes.
//
// A bucket is one cache line with room for five users. A user whose bucket is full
// goes to one of the next, and the buckets passed on the way count it, so that a
// search ends at the first bucket that no user had to pass:
//
//	bucket  | key key key key key | cell cell cell cell cell | passed |   64 bytes
//	cell    | strikes 8 | node 24 |                                       0 is free
//
// Where strikes expire, their times lie beside the buckets, oldest first.
type states struct {
	buckets []bucket
	homes   []uint8 // users whose path begins at the bucket: most have none, and are not read
	count   int
	evicted uint64 // chains that were given up for others

	window int64 // nanoseconds after which a strike expires; 0 means never
	times  []int64
	kept   int // times per user: one less than the strikes that ban
}

const (
	bucketUsers = 5
	bucketBytes = uint64(unsafe.Sizeof(bucket{})) + 1 // and its count of homes
	homesSlack  = 7                                   // counts take whole words

	// maxPassed bounds a search, and with it what a count of homes must hold. At the
	// fill that the table is made for, paths are a few buckets long.
	maxPassed = 32
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

// A place is where a user's cell is.
type place struct {
	bucket int
	i      int
}

// nowhere is the place of users without a cell.
var nowhere = place{-1, 0}

// stateBytes returns the memory per user of a table that is four fifths full,
// where so many times are kept.
func stateBytes(times int) float64 {
	return float64(bucketBytes)/(bucketUsers-1) + 8*float64(times)*bucketUsers/(bucketUsers-1)
}

// bucketSpace returns the memory of a bucket with its times.
func bucketSpace(times int) uint64 { return bucketBytes + 8*bucketUsers*uint64(times) }

// leastStates returns the memory of the smallest table.
func leastStates(times int) uint64 { return bucketSpace(times) + homesSlack }

// newStates returns a table that fits into so many bytes, of one bucket at least.
func newStates(bytes uint64, strikes int, window int64) (s *states, err error) {
	s = &states{window: window}
	if window > 0 {
		s.kept = strikes - 1
	}
	n := max(1, (max(bytes, homesSlack)-homesSlack)/bucketSpace(s.kept))
	if s.buckets, err = table[bucket](n); err != nil {
		return nil, err
	}
	if s.homes, err = table[uint8](n); err != nil {
		return nil, err
	}
	s.times, err = table[int64](n * uint64(s.kept) * bucketUsers)
	return s, err
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

// find returns the place of a user, or nowhere.
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

// set changes the node of a user and keeps the last live strikes. A user with neither
// is removed.
func (s *states) set(p place, node uint32, live int) {
	c := newCell(node, live)
	if c == 0 {
		s.remove(p)
		return
	}
	if expired := s.cell(p).strikes() - live; expired > 0 && s.window > 0 {
		times := s.timesOf(p)
		copy(times, times[expired:])
	}
	s.buckets[p.bucket].cells[p.i] = c
}

// insert gives a cell to a user without one. If there is no room, it replaces a user
// without live strikes; if all on the path have some, it returns nowhere.
func (s *states) insert(k filter.Key, c cell, now int64) place {
	p := s.vacancy(k)
	if p == nowhere {
		if p = s.victim(k, now); p == nowhere {
			return nowhere
		}
		s.remove(p)
		s.evicted++
	}
	at := &s.buckets[p.bucket]
	at.keys[p.i], at.cells[p.i] = k, c
	s.homes[s.home(k)]++
	s.pass(k, p.bucket, 1)
	s.count++
	return p
}

// vacancy returns the first free cell on the path of a key.
func (s *states) vacancy(k filter.Key) place {
	b := s.home(k)
	for range s.pathLength() {
		for i, c := range s.buckets[b].cells {
			if c == 0 {
				return place{b, i}
			}
		}
		b = s.after(b)
	}
	return nowhere
}

// victim returns the first user on the path of a key without live strikes.
func (s *states) victim(k filter.Key, now int64) place {
	b := s.home(k)
	for range s.pathLength() {
		for i := range s.buckets[b].cells {
			if p := (place{b, i}); s.live(p, now) == 0 {
				return p
			}
		}
		b = s.after(b)
	}
	return nowhere
}

// remove frees the cell of a user.
func (s *states) remove(p place) {
	at := &s.buckets[p.bucket]
	at.cells[p.i] = 0
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

// live returns how many strikes of a user have not expired.
func (s *states) live(p place, now int64) int {
	n := s.cell(p).strikes()
	if s.window == 0 {
		return n
	}
	for _, at := range s.timesOf(p)[:n] {
		if now-at > s.window {
			n--
		}
	}
	return n
}

// strike adds a strike to the last live ones of a user, sets the node to the root, and
// returns the place: nowhere if there is no room. The strike is not the one that bans.
func (s *states) strike(k filter.Key, p place, live int, now int64) place {
	if p == nowhere {
		if p = s.insert(k, newCell(0, 1), now); p == nowhere {
			return nowhere
		}
	} else {
		s.set(p, 0, max(live, 1)) // at least one, so that the cell stays
		s.buckets[p.bucket].cells[p.i] = newCell(0, live+1)
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
