package pattern

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// maxNodes is how many nodes an automaton can have, so that three bytes hold the number
// of one.
const maxNodes = 1 << 24

// edge leads from a node to another with a word. The root is the child of no node, so
// child 0 marks a free place.
type edge struct {
	parent, word, child uint32
}

// node is a state of a stream.
type node struct {
	fail    uint32
	pattern int32 // that ends here, or -1
}

// Automaton finds the patterns of a list. The zero value is not ready: see
// [Compile].
type Automaton struct {
	patterns []Pattern
	nodes    []node
	edges    []edge // a power of two of them
	shift    uint   // 64 less the logarithm of their number
	stream   func() (*Stream, error)
}

// Compile returns the automaton of the patterns. An empty list is allowed.
func Compile(patterns []Pattern) (*Automaton, error) {
	if err := checkAll(patterns); err != nil {
		return nil, err
	}
	words := 1
	for _, p := range patterns {
		words += len(p.Words)
	}
	if words > maxNodes {
		return nil, fault.In("pattern", "%d words in all patterns, at most %d", words-1, maxNodes-1)
	}
	logarithm := bits.Len(uint(2*words - 1))
	a := &Automaton{
		patterns: slices.Clone(patterns),
		edges:    make([]edge, 1<<logarithm),
		shift:    uint(64 - logarithm),
		nodes:    make([]node, 1, words),
	}
	a.nodes[0].pattern = -1
	order := a.plant()
	a.link(order)
	a.nodes = slices.Clip(a.nodes)
	a.stream = sync.OnceValues(func() (*Stream, error) { return newStream(a.patterns) })
	return a, nil
}

// Stream returns the automaton that finds the patterns in payloads. It is made when it is
// first asked for, or an error says that the patterns are too many.
func (a *Automaton) Stream() (*Stream, error) { return a.stream() }

// plant makes a node for every beginning of a pattern and returns its edges,
// shorter beginnings first. Of equal patterns the first one counts.
func (a *Automaton) plant() []edge {
	var order []edge
	at := make([]uint32, len(a.patterns))
	for depth := range MaxWords {
		for i, p := range a.patterns {
			if depth >= len(p.Words) {
				continue
			}
			child, isNew := a.extend(at[i], p.Words[depth])
			if isNew {
				order = append(order, edge{at[i], p.Words[depth], child})
			}
			at[i] = child
			if end := depth == len(p.Words)-1; end && a.nodes[child].pattern < 0 {
				a.nodes[child].pattern = int32(i)
			}
		}
	}
	return order
}

// extend returns the child of a node, which it makes if there is none.
func (a *Automaton) extend(parent, word uint32) (child uint32, isNew bool) {
	e := a.find(parent, word)
	if e.child != 0 {
		return e.child, false
	}
	*e = edge{parent, word, uint32(len(a.nodes))}
	a.nodes = append(a.nodes, node{pattern: -1})
	return e.child, true
}

// link sets the fail of every node: the node that its word leads to from the fail of its
// parent. Parents come before their children.
func (a *Automaton) link(order []edge) {
	for _, e := range order {
		if e.parent == 0 {
			continue // a single word ends with nothing shorter
		}
		n := &a.nodes[e.child]
		n.fail = a.Next(a.nodes[e.parent].fail, e.word)
		if n.pattern < 0 {
			n.pattern = a.nodes[n.fail].pattern
		}
	}
}

// find returns the edge, or the free place where it belongs.
func (a *Automaton) find(parent, word uint32) *edge {
	const golden = 0x9E3779B97F4A7C15
	h := (uint64(parent)<<32 | uint64(word)) * golden
	h ^= h >> 32
	for i := h * golden >> a.shift; ; i++ {
		e := &a.edges[i&uint64(len(a.edges)-1)]
		if e.child == 0 || e.parent == parent && e.word == word {
			return e
		}
	}
}

// Next returns the node that a word leads to. It panics if the automaton does not have
// the node from.
func (a *Automaton) Next(from, word uint32) uint32 {
	for {
		if e := a.find(from, word); e.child != 0 {
			return e.child
		}
		if from == 0 {
			return 0
		}
		from = a.nodes[from].fail
	}
}

// Match returns the number of the longest pattern that is complete at a node, or
// -1.
func (a *Automaton) Match(at uint32) int { return int(a.nodes[at].pattern) }

// Patterns returns the patterns in the order of their numbers. The caller must not change
// them.
func (a *Automaton) Patterns() []Pattern { return a.patterns }

// Words returns every word of every pattern once, in ascending order: the words
// that begin or continue a pattern.
func (a *Automaton) Words() []uint32 {
	var all []uint32
	for _, p := range a.patterns {
		all = append(all, p.Words...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Nodes returns how many nodes there are.
func (a *Automaton) Nodes() int { return len(a.nodes) }

// Bytes returns the memory of the tables.
func (a *Automaton) Bytes() uint64 { return uint64(len(a.edges))*12 + uint64(len(a.nodes))*8 }

// Shadowed returns the numbers of the patterns of words that are never completed if the
// stream restarts after each match: another one is complete before, or they are listed
// twice.
func (a *Automaton) Shadowed() (list []int) {
	for i, p := range a.patterns {
		if len(p.Words) > 0 && a.first(p.Words) != i {
			list = append(list, i)
		}
	}
	return list
}

// first returns the pattern that is complete first when the words are sent.
func (a *Automaton) first(words []uint32) int {
	at := uint32(0)
	for _, w := range words {
		at = a.Next(at, w)
		if m := a.Match(at); m >= 0 {
			return m
		}
	}
	return -1
}
