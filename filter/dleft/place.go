package dleft

// place stores fp, which no cell holds, in the least loaded of its buckets, the
// leftmost of several. If all are full it tries to make room in the first. It
// counts the cell; counting copies is left to the caller.
func (f *Filter) place(fp, counter uint64) bool {
	bucket, remainder, load := f.least(fp, 0)
	if load == f.perBucket {
		bucket, remainder = f.at(0, fp)
		if f.rigid || !f.makeRoom(bucket) {
			return false
		}
	}
	cell, _ := f.find(bucket, 0)
	f.set(cell, remainder, counter)
	f.used++
	f.double += f.weight(fp)
	return true
}

// least returns the least loaded bucket of fp, the leftmost of several, among
// the subtables from the given one on, and its load: full if there are none.
// Load and subtable are compared as one number, so that nothing is guessed.
func (f *Filter) least(fp, from uint64) (bucket, remainder, load uint64) {
	best := f.perBucket * maxSubtables
	for i := from; i < f.subtables; i++ {
		b, _ := f.at(i, fp)
		best = min(best, f.load(b)*maxSubtables+i)
	}
	bucket, remainder = f.at(best%maxSubtables, fp)
	return bucket, remainder, best / maxSubtables
}

// makeRoom empties a cell of a full bucket of the first subtable: the first
// whose fingerprint has room in another of its buckets goes there, counter and
// all ([dlCBF06] Sec. 5.2).
func (f *Filter) makeRoom(bucket uint64) bool {
	for cell := bucket * f.perBucket; cell < (bucket+1)*f.perBucket; cell++ {
		remainder, counter := f.get(cell)
		to, remainder, load := f.least(f.recover(0, bucket, remainder), 1)
		if load == f.perBucket {
			continue
		}
		free, _ := f.find(to, 0)
		f.set(free, remainder, counter)
		f.set(cell, 0, 0)
		f.moved++
		return true
	}
	return false
}
