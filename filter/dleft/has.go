package dleft

// has reports whether a cell holds fp. It looks at all of fp's buckets without a
// branch that depends on what is there, so that the cache misses overlap and
// nothing is guessed wrong.
func (f *Filter) has(fp uint64) bool {
	if f.short {
		return f.hasShort(fp)
	}
	return f.hasAny(fp)
}

// hasAny is has for every geometry: match, without its calls.
func (f *Filter) hasAny(fp uint64) bool {
	words, last := f.words, uint64(len(f.words))-1
	low, span := f.low, f.lanes*f.width
	var hit uint64
	for i := range f.subtables {
		bucket, remainder := f.at(i, fp)
		y, at := f.spread(remainder), bucket*f.perBucket*f.width
		for range f.windows - 1 {
			x := words[at/64]>>(at%64) | words[min(at/64+1, last)]<<1<<(^at%64)
			hit |= ^((x^y)&low + low) & f.flags
			at += span
		}
		x := words[at/64]>>(at%64) | words[min(at/64+1, last)]<<1<<(^at%64)
		hit |= ^((x^y)&low + low) & f.tail
	}
	return hit != 0
}

// hasShort is has for three or four subtables of twin buckets, the geometry that
// Config prefers. A flag that is clear in any comparison is clear in their
// conjunction.
func (f *Filter) hasShort(fp uint64) bool {
	apart := f.apart(0, fp) & // the first path is the identity
		f.apart(1, f.paths[1].forth.times(fp, f.space)) &
		f.apart(2, f.paths[2].forth.times(fp, f.space))
	if f.subtables == 4 {
		apart &= f.apart(3, f.paths[3].forth.times(fp, f.space))
	}
	return ^apart&f.flags != 0
}

// apart compares the twin bucket of x, a fingerprint after path i, with what x
// would be there. The flag of a lane is clear if a cell in it is the same.
func (f *Filter) apart(i, x uint64) uint64 {
	y := f.spread(x & f.mask)
	b := &f.twins[i*f.buckets+x>>(f.remainder&63)]
	return ((b[0]^y)&f.low + f.low) & ((b[1]^y)&f.low + f.low)
}
