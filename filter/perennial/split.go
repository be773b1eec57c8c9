package perennial

import "slices"

// transformGroup makes of the buckets behind the next in, which are those of the group,
// what they will be.
func (s *step) transformGroup(in int) error {
	w := s.ring.borrow()
	w.collect(in + s.size())
	at := 0
	for _, count := range w.old.counts[:in] {
		w.new.append(w.old.slots[at : at+int(count)])
		at += int(count)
	}
	s.transform(w.old.counts[in:], w.old.slots[at:], &w.new)
	return w.insert(&w.new)
}

// transformAll is transform for a rebuild.
func (s *step) transformAll(all [][]uint64) [][]uint64 {
	if !s.splits {
		return all
	}
	var from, to list
	for _, slots := range all {
		from.append(slots)
	}
	s.transform(from.counts, from.slots, &to)
	var out [][]uint64
	at := 0
	for _, count := range to.counts {
		out = append(out, to.slots[at:at+int(count)])
		at += int(count)
	}
	return out
}

// transform appends what the buckets of the group will be.
func (s *step) transform(counts []uint16, slots []uint64, to *list) {
	s.before, s.after, s.bucket, s.extras, s.back = sums{}, sums{}, 0, nil, nil
	if !s.grows {
		s.back = s.ring.extras.Load().within(reverse(s.group, s.to.level), uint(s.to.level))
	}
	next := func() (bucket []uint64) {
		bucket, slots = slots[:counts[0]], slots[counts[0]:]
		counts = counts[1:]
		return bucket
	}
	for len(counts) > 0 {
		if s.grows {
			s.split(next(), to)
		} else {
			low := next()
			s.merge(low, next(), to)
		}
		s.bucket++
	}
}

// split appends the two halves of a bucket.
func (s *step) split(slots []uint64, to *list) {
	flag := s.ring.flag()
	for _, v := range slots {
		if v == 0 || v == flag {
			s.splitEntries(slots, to)
			return
		}
	}
	// Each half stays in order.
	begin := len(to.slots)
	for _, v := range slots {
		if v < flag {
			to.slots = append(to.slots, v<<1)
		}
	}
	half := len(to.slots)
	for _, v := range slots {
		if v > flag {
			to.slots = append(to.slots, (v-flag)<<1)
		}
	}
	to.counts = append(to.counts, uint16(half-begin), uint16(len(to.slots)-half))
	weight := weightOf(slots)
	s.before.add(len(slots), weight)
	s.after.add(len(slots), 2*weight)
}

// splitEntries is split for buckets with voids, or what becomes one, or counts.
func (s *step) splitEntries(slots []uint64, to *list) {
	c := s.ring.coder
	entries := c.decode(slots, nil)
	s.before.addEntries(c, len(slots), entries)
	if n := len(entries) - 1; n >= 0 && entries[n].depth == maxVoid {
		s.shorten(entries[n])
		entries = entries[:n]
	}
	low, high := c.split(entries, nil, nil)
	s.append(low, to)
	s.append(high, to)
}

// shorten makes an extra of a void of the largest depth. It has a copy in each of 2^maxVoid
// buckets, of which the first is counted.
func (s *step) shorten(e entry) {
	if s.bucket%(1<<maxVoid) == 0 {
		t := target{place: place{group: s.group, level: s.ring.layout.level}, idx: s.bucket}
		s.extras = append(s.extras, extra{s.ring.prefix(t, e), e.count})
	}
}

// merge appends the bucket whose halves are given.
func (s *step) merge(low, high []uint64, to *list) {
	begin := len(to.slots)
	if len(s.back) > 0 || !s.mergeSlots(low, high, to) {
		to.slots = to.slots[:begin]
		s.mergeEntries(low, high, to)
		return
	}
	merged := to.slots[begin:]
	to.counts = append(to.counts, uint16(len(merged)))
	s.before.add(len(low)+len(high), weightOf(low)+weightOf(high))
	s.after.add(len(merged), weightOf(merged))
}

// mergeSlots appends the slots of both halves, if there are no voids or counts and none of
// either is to be made.
func (s *step) mergeSlots(low, high []uint64, to *list) bool {
	begin := len(to.slots)
	top := uint64(0)
	for _, half := range [2][]uint64{low, high} {
		for _, v := range half {
			if v == 0 {
				return false
			}
			to.slots = append(to.slots, top|v>>1|v&1)
		}
		top = s.ring.flag()
	}
	merged := to.slots[begin:]
	slices.SortFunc(merged, compareSlots)
	for i := tooMany; i < len(merged); i++ {
		if merged[i] == merged[i-tooMany] {
			return false
		}
	}
	return true
}

// weightOf returns the weight of a bucket without voids and counts.
func weightOf(slots []uint64) (sum uint64) {
	for i, v := range slots {
		if i == 0 || slots[i-1] != v {
			sum += v & -v
		}
	}
	return sum
}

// mergeEntries is merge for buckets with voids or counts.
func (s *step) mergeEntries(low, high []uint64, to *list) {
	c := s.ring.coder
	lows, highs := c.decode(low, nil), c.decode(high, nil)
	s.before.addEntries(c, len(low), lows)
	s.before.addEntries(c, len(high), highs)
	merged := c.merge(lows, highs, nil)
	for _, e := range s.back { // a void again, with a copy in each bucket of its prefix
		if int(e.bits<<s.to.level>>(64-bucketLog))>>maxVoid == s.bucket>>maxVoid {
			merged = append(merged, entry{depth: maxVoid, count: e.count})
		}
	}
	s.append(merged, to)
}

// append appends a bucket with these entries.
func (s *step) append(entries []entry, to *list) {
	slots := s.ring.encode(entries, nil)
	s.after.addEntries(s.ring.coder, len(slots), entries)
	to.append(slots)
}

func (s *sums) add(slots int, weight uint64) {
	s.slots += slots
	s.weight += weight
}

func (s *sums) addEntries(c coder, slots int, entries []entry) {
	s.slots += slots
	for _, e := range entries {
		s.weight += c.weight(e)
	}
}
