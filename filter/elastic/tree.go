package elastic

// A tree is where a bucket tree lies in the slow memory.
type tree struct {
	words []uint64
	at    uint64
}

// An entry is a fingerprint with the branch of the tree that it belongs to.
type entry struct{ branch, fp uint64 }

// sign returns the sign bit: the parity of the number of doublings that the tree
// has gone through.
func (t tree) sign() uint64 { return t.words[t.at/64] >> (t.at % 64) & 1 }

func (t tree) setSign(parity uint64) { put(t.words, t.at, 1, parity) }

// counts returns the numbers of fingerprints of all buckets, the first lowest.
func (l *layout) counts(t tree) uint64 { return get(t.words, t.at, l.head) >> 1 }

// countOf returns what counts say of a bucket; that of level 2 follows the others.
func (l *layout) countOf(counts, branch uint64) uint64 {
	return counts >> (branch * l.counter) & (1<<l.counter - 1)
}

// lower returns the level-1 bucket of a branch.
func (l *layout) lower(t tree, branch uint64) bucket {
	return bucket{t.words, t.at + 1 + branch*l.counter, l.counter, t.at + l.head + branch*l.slots*l.width, l.width}
}

// shared returns the level-2 bucket. Its numbers are fingerprints in front of
// branches. There must be one.
func (l *layout) shared(t tree) bucket {
	return bucket{t.words, t.at + 1 + l.branches*l.counter, l.counter, t.at + l.upper, l.entry}
}

// tagged returns a fingerprint as level 2 keeps it.
func (l *layout) tagged(branch, fp uint64) uint64 { return fp | branch<<l.width }

// spills reports whether a level-1 bucket may have fingerprints in level 2: only
// if it is full itself. What is deleted from a full bucket is replaced from there.
func (l *layout) spills(b bucket) bool { return l.branches > 1 && b.len() == l.slots }

// copies returns how often a branch has the fingerprint.
func (l *layout) copies(t tree, branch, fp uint64) int {
	b := l.lower(t, branch)
	n := b.copies(fp)
	if l.spills(b) {
		n += l.shared(t).copies(l.tagged(branch, fp))
	}
	return n
}

// add puts a fingerprint into its branch, or reports that the tree overflows.
func (l *layout) add(t tree, branch, fp uint64) bool {
	b := l.lower(t, branch)
	if b.len() < l.slots {
		b.push(fp)
		return true
	}
	if l.branches == 1 {
		return false
	}
	s := l.shared(t)
	if s.len() == l.slots {
		return false
	}
	s.push(l.tagged(branch, fp))
	return true
}

// take takes one copy of a fingerprint out of its branch, where it must be. A slot
// that becomes free is filled from level 2.
func (l *layout) take(t tree, branch, fp uint64) {
	b := l.lower(t, branch)
	spills := l.spills(b)
	if i, ok := b.find(fp); ok {
		if !spills || !l.pullBack(t, branch, b, i) {
			b.drop(i)
		}
	} else if spills {
		s := l.shared(t)
		if i, ok := s.find(l.tagged(branch, fp)); ok {
			s.drop(i)
		}
	}
}

// pullBack moves a fingerprint of the branch from level 2 to slot i of its own
// bucket, if there is one.
func (l *layout) pullBack(t tree, branch uint64, b bucket, i uint64) bool {
	s := l.shared(t)
	for j := range s.len() {
		if v := s.get(j); v>>l.width == branch {
			b.put(i, v&(1<<l.width-1))
			s.drop(j)
			return true
		}
	}
	return false
}

// vacant reports whether a branch has no fingerprints.
func (l *layout) vacant(t tree, branch uint64) bool { return l.countOf(l.counts(t), branch) == 0 }

// gather appends all fingerprints of the tree.
func (l *layout) gather(t tree, to []entry) []entry {
	counts := l.counts(t)
	if counts == 0 {
		return to
	}
	at := t.at + l.head
	for j := range l.branches {
		for i := range l.countOf(counts, j) {
			to = append(to, entry{j, get(t.words, at+i*l.width, l.width)})
		}
		at += l.slots * l.width
	}
	if l.branches == 1 {
		return to
	}
	for i := range l.countOf(counts, l.branches) {
		v := get(t.words, at+i*l.entry, l.entry)
		to = append(to, entry{v >> l.width, v & (1<<l.width - 1)})
	}
	return to
}

// wipe takes all fingerprints out.
func (l *layout) wipe(t tree) { put(t.words, t.at+1, l.head-1, 0) }

// fit reports whether one tree can hold the entries.
func (l *layout) fit(entries []entry) bool {
	var load [maxBranches]uint64
	spilled := uint64(0)
	for _, e := range entries {
		if load[e.branch]++; load[e.branch] > l.slots {
			spilled++
		}
	}
	return spilled == 0 || l.branches > 1 && spilled <= l.slots
}
