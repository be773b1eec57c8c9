package pattern

// A trie has a node for each beginning of a pattern. A letter of a pattern in either case
// is another symbol than the letter itself.
type trie struct {
	children []map[uint16]uint32
	pattern  []int32
}

const eitherCase = 256

func symbol(c byte, nocase bool) uint16 {
	if nocase && isLetter(c) {
		return eitherCase + uint16(c|0x20)
	}
	return uint16(c)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// follow calls do with the children of a node that a byte leads to.
func (t *trie) follow(node uint32, c byte, do func(uint32)) {
	children := t.children[node]
	if child, ok := children[uint16(c)]; ok {
		do(child)
	}
	if isLetter(c) {
		if child, ok := children[symbol(c, true)]; ok {
			do(child)
		}
	}
}

func newTrie(patterns []Pattern) *trie {
	t := &trie{}
	t.add(-1)
	for i, p := range patterns {
		at := uint32(0)
		for _, c := range p.Payload() {
			s := symbol(c, p.NoCase)
			child, ok := t.children[at][s]
			if !ok {
				child = t.add(-1)
				if t.children[at] == nil {
					t.children[at] = map[uint16]uint32{}
				}
				t.children[at][s] = child
			}
			at = child
		}
		if t.pattern[at] < 0 {
			t.pattern[at] = int32(i)
		}
	}
	return t
}

func (t *trie) add(pattern int32) uint32 {
	t.children = append(t.children, nil)
	t.pattern = append(t.pattern, pattern)
	return uint32(len(t.children) - 1)
}
