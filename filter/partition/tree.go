package partition

import "math/bits"

// A ref is what stands at a node of the tree: the number of a pair of children, or
// a leaf with the number of its unit, or a leaf without ids, which needs no unit.
type ref uint32

const (
	leafBit ref = 1 << 31
	none    ref = 1<<32 - 1 // an empty leaf
)

func (r ref) inner() bool { return r < leafBit }
func (r ref) unit() int   { return int(r &^ leafBit) }
func leafOf(unit int) ref { return leafBit | ref(unit) }

// tree is the compressed tree, in two flat arrays. An inner node is a number p and
// has its children in pairs[2p] and pairs[2p+1]. The walk does not begin at the
// root but in top, which has what the first bits of an id lead to: a leaf that is
// reached before, or the node that is reached with them.
//
//	top    [ leaf 0 | leaf 0 | pair 3 | leaf 5 ]       first two bits 00 01 10 11
//	pairs  … | leaf 2, pair 4 | …                      pair 3: third bit 0, 1
type tree struct {
	pairs    []ref
	top      []ref
	topShift uint // bits of an id that top leaves
	root     ref
	topBits  int // bits of an id that top takes
	idBits   int // of an id
}

func newTree(idBits int) tree {
	t := tree{root: none, idBits: idBits}
	t.fitTop()
	return t
}

// find returns the leaf that id belongs to.
func (t *tree) find(id uint64) ref {
	left := t.topShift
	r := t.top[id>>(left&63)]
	for r.inner() {
		left--
		r = t.pairs[2*uint64(r)+id>>(left&63)&1]
	}
	return r
}

// depthOf returns the depth of the leaf that id belongs to.
func (t *tree) depthOf(id uint64) (depth int) {
	for r := t.root; r.inner(); r = t.pairs[2*uint64(r)+t.bit(id, depth-1)] {
		depth++
	}
	return depth
}

// bit returns the bit of id that chooses between the children of a node at depth.
func (t *tree) bit(id uint64, depth int) uint64 { return id >> (t.idBits - 1 - depth) & 1 }

// slot returns where the ref of id's node at depth stands.
func (t *tree) slot(id uint64, depth int) *ref {
	r := &t.root
	for i := range depth {
		r = &t.pairs[2*uint64(*r)+t.bit(id, i)]
	}
	return r
}

// put makes r the node of id at depth.
func (t *tree) put(id uint64, depth int, r ref) {
	*t.slot(id, depth) = r
	t.refresh(r, depth, t.prefix(id, depth))
}

// prefix returns the number of id's node among those at depth.
func (t *tree) prefix(id uint64, depth int) uint64 { return id >> (t.idBits - depth) }

// addPair returns the number of a new inner node, both of whose children are empty.
func (t *tree) addPair() ref {
	n := len(t.pairs)
	t.pairs = extend(t.pairs, n+2)
	t.pairs[n], t.pairs[n+1] = none, none
	return ref(n / 2)
}

// inners returns the number of inner nodes; there is one leaf more.
func (t *tree) inners() int { return len(t.pairs) / 2 }

// topBitsFor returns how many bits top takes: so many that it has an entry for
// each of the leaves, and less than two. One at least, so that a shift by those
// that it leaves is one by less than 64.
func topBitsFor(inners, idBits int) int { return min(max(1, bits.Len(uint(inners))), idBits) }

// fitTop makes top as large as the tree deserves.
func (t *tree) fitTop() {
	if want := topBitsFor(t.inners(), t.idBits); want != t.topBits || t.top == nil {
		t.topBits, t.topShift = want, uint(t.idBits-want)
		t.top = make([]ref, 1<<want)
		t.refresh(t.root, 0, 0)
	}
}

// refresh enters the node r, the given one at its depth, into top with all below it.
func (t *tree) refresh(r ref, depth int, prefix uint64) {
	switch {
	case depth > t.topBits:
	case depth == t.topBits:
		t.top[prefix] = r
	case r.inner():
		t.refresh(t.pairs[2*uint64(r)], depth+1, 2*prefix)
		t.refresh(t.pairs[2*uint64(r)+1], depth+1, 2*prefix+1)
	default:
		left := t.topBits - depth
		part := t.top[prefix<<left : (prefix+1)<<left]
		for i := range part {
			part[i] = r
		}
	}
}
