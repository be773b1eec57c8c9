package pattern

import (
	"maps"
	"slices"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// Stream finds the patterns of a list in streams of bytes, at any offset. Like
// [Automaton] it keeps one number for each stream, and does not change.
//
// It is a table of nodes by classes of bytes. A node is a set of beginnings: a text may
// be that of one pattern in the case that it is written in and of another in either case.
//
//	next   | row of node 0 | row of node 1 | …      place of the next row, top bit: a pattern ends
//	pairs  one bit for each two bytes that may begin a pattern: most of a payload is skipped
//	inner  one bit for each two bytes among the first of a pattern: where none of them is at
//	       every eighth place no pattern of nine bytes begins
type Stream struct {
	class [256]uint16
	width uint32
	next  []uint32
	match []int32 // by node
	pairs *pairs
	inner *pairs
	leap  int // places between two looks at inner: one less than the shortest pattern has bytes
}

// pairs is a set of two bytes.
type pairs [1 << 10]uint64

func (p *pairs) has(b []byte) bool {
	pair := uint16(b[0]) | uint16(b[1])<<8
	return p[pair>>6]>>(pair&63)&1 != 0
}

func (p *pairs) add(first, second byte) {
	pair := uint16(first) | uint16(second)<<8
	p[pair>>6] |= 1 << (pair & 63)
}

// maxLeap is how far the search leaps at most: more pairs are among more first bytes.
const maxLeap = 8

const (
	ends     = 1 << 31
	maxTable = 1 << 26 // entries
)

// Find sends bytes through the automaton, from a node. It returns the node that they lead
// to and the first pattern that they complete, or -1. After each it begins at node 0.
func (s *Stream) Find(node uint32, b []byte) (at uint32, match int32) {
	match = -1
	row := node * s.width
	for i := 0; i < len(b); i++ {
		if row == 0 {
			i = s.skip(b, i)
		}
		row = s.next[row+uint32(s.class[b[i]])]
		if row >= ends {
			if match < 0 {
				match = s.match[(row-ends)/s.width]
			}
			row = 0
		}
	}
	return row / s.width, match
}

// skip returns the first place, from i, at which a pattern may begin. It leaps as long as
// any pattern that begins would have a pair where it lands.
func (s *Stream) skip(b []byte, i int) int {
	for s.leap > 1 {
		at := i + s.leap - 1
		for at < len(b)-1 && !s.inner.has(b[at:at+2]) {
			at += s.leap
		}
		i = at - s.leap + 1
		if at >= len(b)-1 {
			break
		}
		for ; i <= at; i++ {
			if s.pairs.has(b[i : i+2]) {
				return i
			}
		}
	}
	for ; i < len(b)-1; i++ {
		if s.pairs.has(b[i : i+2]) {
			return i
		}
	}
	return i
}

// Nodes returns how many nodes there are.
func (s *Stream) Nodes() int { return len(s.match) }

// Bytes returns the memory of the tables.
func (s *Stream) Bytes() uint64 {
	return uint64(4*(len(s.next)+len(s.match))+8*(len(s.pairs)+len(s.inner))) + uint64(2*len(s.class))
}

// A builder makes a Stream: its nodes are the sets of nodes of the trie that can be active
// together, the root left out.
type builder struct {
	*Stream
	trie     *trie
	patterns []Pattern
	nodes    map[string]uint32
	sets     [][]uint32
	key      []byte
}

func newStream(patterns []Pattern) (*Stream, error) {
	b := &builder{Stream: &Stream{pairs: new(pairs), inner: new(pairs), leap: maxLeap}, trie: newTrie(patterns), patterns: patterns, nodes: map[string]uint32{}}
	b.classify()
	if err := b.room(len(b.trie.children)); err != nil {
		return nil, err // there are at least as many sets
	}
	if _, err := b.node(nil); err != nil {
		return nil, err
	}
	for node := uint32(0); int(node) < len(b.sets); node++ { // fill appends to them
		if err := b.fill(node); err != nil {
			return nil, err
		}
	}
	b.markPairs()
	b.markInner()
	return b.Stream, nil
}

// classify gives every byte that patterns have a class of its own, but letters that they
// have in either case only share one. Class 0 is all the rest.
func (b *builder) classify() {
	var exact, either [256]bool
	for _, p := range b.patterns {
		for _, c := range p.Payload() {
			if p.NoCase && isLetter(c) {
				either[c|0x20] = true
			} else {
				exact[c] = true
			}
		}
	}
	n := uint16(0)
	for i := range exact {
		c := byte(i)
		lower := c | 0x20
		switch {
		case isLetter(c) && c != lower && either[lower] && !exact[c] && !exact[lower]:
			continue // with the lower one
		case exact[c], isLetter(c) && either[lower]:
			n++
			b.class[c] = n
			if isLetter(c) && c == lower && !exact[c] && !exact[c&^0x20] {
				b.class[c&^0x20] = n
			}
		}
	}
	b.width = uint32(n) + 1
}

// node returns the node of a set, which it makes if there is none.
func (b *builder) node(set []uint32) (uint32, error) {
	slices.Sort(set)
	set = slices.Compact(set)
	b.key = b.key[:0]
	for _, n := range set {
		b.key = append(b.key, byte(n), byte(n>>8), byte(n>>16))
	}
	if at, ok := b.nodes[string(b.key)]; ok {
		return at, nil
	}
	at := uint32(len(b.sets))
	if err := b.room(len(b.sets) + 1); err != nil {
		return 0, err
	}
	b.nodes[string(b.key)] = at
	b.sets = append(b.sets, slices.Clone(set))
	b.next = append(b.next, make([]uint32, b.width)...)
	b.match = append(b.match, b.longest(set))
	return at, nil
}

// room reports whether there is room for so many nodes.
func (b *builder) room(nodes int) error {
	if nodes > maxNodes || uint64(nodes)*uint64(b.width) > maxTable {
		return fault.In("pattern", "the patterns need a table of more than %d entries: leave some out", maxTable)
	}
	return nil
}

// longest returns the longest pattern that ends in a set, of equal ones the first.
func (b *builder) longest(set []uint32) int32 {
	best, length := int32(-1), 0
	for _, n := range set {
		p := b.trie.pattern[n]
		if p < 0 {
			continue
		}
		if l := len(b.patterns[p].Payload()); l > length || l == length && p < best {
			best, length = p, l
		}
	}
	return best
}

// fill makes the row of a node. Most bytes lead where they lead from node 0.
func (b *builder) fill(node uint32) error {
	row := node * b.width
	if node > 0 {
		copy(b.next[row:row+b.width], b.next[:b.width])
	}
	done := make([]bool, b.width)
	for _, from := range append([]uint32{0}, b.sets[node]...) {
		for _, s := range slices.Sorted(maps.Keys(b.trie.children[from])) { // states that are kept have numbers of nodes
			for _, c := range bytesOf(s) {
				class := b.class[c]
				if done[class] {
					continue
				}
				done[class] = true
				to, err := b.step(node, c)
				if err != nil {
					return err
				}
				b.next[row+uint32(class)] = to
			}
		}
	}
	return nil
}

// bytesOf returns the bytes that a symbol stands for.
func bytesOf(s uint16) []byte {
	if s < eitherCase {
		return []byte{byte(s)}
	}
	return []byte{byte(s), byte(s) &^ 0x20}
}

// step returns the entry for a byte at a node.
func (b *builder) step(node uint32, c byte) (uint32, error) {
	var set []uint32
	add := func(n uint32) { set = append(set, n) }
	b.trie.follow(0, c, add)
	for _, n := range b.sets[node] {
		b.trie.follow(n, c, add)
	}
	to, err := b.node(set)
	if err != nil {
		return 0, err
	}
	entry := to * b.width
	if b.match[to] >= 0 {
		entry |= ends
	}
	return entry, nil
}

// markPairs marks every two bytes of which the first leads away from node 0, and the
// second does not lead back to where it leads from node 0 alone.
func (b *builder) markPairs() {
	for first := range 256 {
		row := b.next[b.class[first]]
		if row == 0 {
			continue
		}
		for second := range 256 {
			class := uint32(b.class[second])
			if row >= ends || b.next[row+class] != b.next[class] {
				b.pairs.add(byte(first), byte(second))
			}
		}
	}
}

// markInner marks the pairs of the first bytes of each pattern, of which one is where a leap
// lands.
func (b *builder) markInner() {
	for _, p := range b.patterns {
		b.leap = min(b.leap, len(p.Payload())-1)
	}
	for _, p := range b.patterns {
		text := p.Payload()
		for i := range b.leap {
			for _, first := range bytesOf(symbol(text[i], p.NoCase)) {
				for _, second := range bytesOf(symbol(text[i+1], p.NoCase)) {
					b.inner.add(first, second)
				}
			}
		}
	}
}
