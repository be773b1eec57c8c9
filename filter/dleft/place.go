package dleft

// place stores fp, which no cell holds, in the least loaded of its buckets, the
// leftmost of several. If all are full it tries to make room in the first. It
// counts the cell; counting copies is left to the caller.
func (f *Filter) place(fp, counter uint64) bool {
	bucket, remainder, load := f.least(fp, 0)
	if load == f.perBucket {
		bucket, remainder = f.at(0, fp)
		if !f.makeRoom(bucket) {
			return false
		}
	}
	cell, _ := f.find(bucket, 0)
	f.set(cell, remainder, counter)
	f.used++
	f.double += f.weight(fp)
	return true
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
