package elastic

// A tree is where a bucket tree lies in the slow memory.
type tree struct {
	words []uint64
	at    uint64
}

// An entry is a fingerprint with the branch of the tree that it belongs to.
type entry struct{ branch, fp uint64 }

// head returns the word that the tree begins in.
func (t tree) head() uint64 { return t.words[t.at/64] }

// sign returns the sign bit, which turns over whenever the tree is split.
func (t tree) sign() uint64 { return t.head() >> (t.at % 64) & 1 }

func (t tree) setSign(sign uint64) { put(t.words, t.at, 1, sign) }

// counts returns the numbers of fingerprints of all buckets, the first lowest.
func (l *layout) counts(t tree) uint64 { return get(t.words, t.at, l.head) >> 1 }

// countOf returns what counts say of a bucket; that of level 2 follows the others.
func (l *layout) countOf(counts, branch uint64) uint64 {
	return counts >> (branch * l.counter) & (1<<l.counter - 1)
}

// first returns where the first fingerprint of a branch is, if it has one.
func (l *layout) first(t tree, branch uint64) uint64 { return t.at + l.head + branch*l.width }

// lower returns the level-1 bucket of a branch.
func (l *layout) lower(t tree, branch uint64) bucket {
	return bucket{t.words, t.at + 1 + branch*l.counter, l.counter, l.first(t, branch), l.width, l.step}
}

// shared returns the level-2 bucket. Its numbers are fingerprints in front of
// branches. There must be one.
func (l *layout) shared(t tree) bucket {
	return bucket{t.words, t.at + 1 + l.branches*l.counter, l.counter, t.at + l.upper, l.entry, l.entry}
}

// tagged returns a fingerprint as level 2 keeps it.
func (l *layout) tagged(branch, fp uint64) uint64 { return fp | branch<<l.width }

// count returns the number of fingerprints in the level-1 bucket of a branch. If it is
// full there may be more of them in level 2, and only then: what is deleted from a
// full bucket is replaced from there.
func (l *layout) count(t tree, branch uint64) uint64 {
	return get(t.words, t.at+1+branch*l.counter, l.counter)
}

// spills reports whether a branch with so many fingerprints in level 1 may have some
// in level 2.
func (l *layout) spills(count uint64) bool { return count == l.slots && l.branches > 1 }

// copies returns how often a branch has the fingerprint.
func (l *layout) copies(t tree, branch, fp uint64) (n int) {
	count := l.count(t, branch)
	at := l.first(t, branch)
	for range count {
		if get(t.words, at, l.width) == fp {
			n++
		}
		at += l.step
	}
	if l.spills(count) {
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

// take takes one copy of a fingerprint out of its branch, where it must be, and
// reports whether none is left there.
func (l *layout) take(t tree, branch, fp uint64) (vacant bool) {
	count := l.count(t, branch)
	if l.spills(count) {
		l.takeFull(t, branch, fp)
		return l.vacant(t, branch)
	}
	at := l.first(t, branch)
	last := at + (count-1)*l.step
	for range count {
		if get(t.words, at, l.width) == fp {
			put(t.words, at, l.width, get(t.words, last, l.width))
			put(t.words, t.at+1+branch*l.counter, l.counter, count-1)
			return count == 1
		}
		at += l.step
	}
	return false
}

// takeFull is take for a branch that may have fingerprints in level 2. A slot that
// becomes free is filled from there.
func (l *layout) takeFull(t tree, branch, fp uint64) {
	b := l.lower(t, branch)
	if i, ok := b.find(fp); ok {
		if !l.pullBack(t, branch, b, i) {
			b.drop(i)
		}
		return
	}
	s := l.shared(t)
	if i, ok := s.find(l.tagged(branch, fp)); ok {
		s.drop(i)
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
			to = append(to, entry{j, get(t.words, at+(i*l.branches+j)*l.width, l.width)})
		}
	}
	if l.branches == 1 {
		return to
	}
	for i := range l.countOf(counts, l.branches) {
		v := get(t.words, t.at+l.upper+i*l.entry, l.entry)
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
