package perennial

import "math/bits"

// An extent is how much of a line is taken.
type extent struct {
	held  uint // buckets
	slots uint
}

// extent returns that of the line.
func (l *line) extent() extent {
	held := uint(l.held())
	return extent{held, l.end(int(held)) - headBits - held}
}

// end returns the position behind the map.
func (x extent) end() uint { return headBits + x.held + x.slots }

// with returns the extent of a line with so many more.
func (x extent) with(buckets, slots uint) extent { return extent{x.held + buckets, x.slots + slots} }

// without returns the extent of a line without a part of it.
func (x extent) without(part extent) extent { return extent{x.held - part.held, x.slots - part.slots} }

// fits reports whether a line can have the extent.
func (x extent) fits(w uint) bool { return x.end()+x.slots*w <= lineBits && x.held <= maxHeld }

// lastCount returns how many slots the last bucket of the extent has.
func (l *line) lastCount(x extent) uint {
	p := x.end() - 1 // of the zero that ends it
	var before uint64
	if p >= 64 {
		before = l.window(p - 64)
	} else {
		before = l.word(0) << (64 - p)
	}
	return min(uint(bits.LeadingZeros64(^before)), x.slots) // the head is not of the map
}

// shed returns what a line of extent x keeps so that it has room for more in front, if a part
// of it is enough.
func (l *line) shed(x, more extent, w uint) (rest extent, ok bool) {
	for rest = x; !rest.with(more.held, more.slots).fits(w); rest = rest.without(extent{1, l.lastCount(rest)}) {
		if rest.held == 0 {
			return rest, false
		}
	}
	return rest, true
}

// makeRoom returns what a line of extent x keeps so that bucket idx can have one more slot,
// and whether that bucket goes.
func (l *line) makeRoom(x extent, idx, w uint) (rest extent, goes, ok bool) {
	more := uint(1)
	for rest = x; !rest.with(0, more).fits(w); {
		if rest.held == 0 {
			return rest, goes, false
		}
		rest = rest.without(extent{1, l.lastCount(rest)})
		if rest.held == idx {
			goes, more = true, 0
		}
	}
	return rest, goes, true
}
