package filtertest

import (
	"slices"

	"github.com/everbloom-go/everbloom/filter"
)

// batchEqualsSingles grows two filters side by side, one by batches of all
// lengths and one key by key.
func batchEqualsSingles(c checker) {
	const longest = 100
	batched, single := c.make(6000, 0.01), c.make(6000, 0.01)
	stream := c.stream(31)
	next := uint64(0)
	for n := range longest + 1 {
		keys := make([]filter.Key, n)
		for i := range keys {
			keys[i] = stream.Present(next + uint64(i))
			if i%7 == 6 {
				keys[i] = keys[i/2] // a key again, within the batch
			}
		}
		next += uint64(n)
		c.sameAdds(batched, single, keys)
		c.sameAnswers(batched, single, c.mixed(keys, stream, n))
	}
	if a, b := batched.Info().Keys, single.Info().Keys; a != b {
		c.Errorf("the filter filled by batches has %d keys, the one filled by singles %d", a, b)
	}
}

// sameAdds adds the keys to one filter at once and to the other one by one, and
// compares what Add reports.
func (c checker) sameAdds(batched, single filter.Filter, keys []filter.Key) {
	done, added, err := filter.AddBatch(batched, keys)
	want := 0
	for _, k := range keys {
		isNew, err := single.Add(k)
		if err != nil {
			c.Fatalf("adding %#x: %v", k, err)
		}
		if isNew {
			want++
		}
	}
	if done != len(keys) || added != want || err != nil {
		c.Fatalf("a batch of %d: done %d, added %d, error %v; one by one %d looked new", len(keys), done, added, err, want)
	}
}

// mixed returns the keys and as many absent ones, in turns.
func (c checker) mixed(keys []filter.Key, stream Stream, n int) []filter.Key {
	out := make([]filter.Key, 0, 2*len(keys))
	for i, k := range keys {
		out = append(out, k, stream.Absent(uint64(100*n+i)))
	}
	return out
}

// sameAnswers checks that MayContainBatch of one filter answers as MayContain of
// the other. The answers are wrong at first, so that none can be left out.
func (c checker) sameAnswers(batched, single filter.Filter, keys []filter.Key) {
	for n := range len(keys) + 1 {
		if n > 40 && n < len(keys) {
			continue // all lengths for short lists, the whole for long ones
		}
		want, got := make([]bool, n), make([]bool, n)
		for i, k := range keys[:n] {
			want[i] = single.MayContain(k)
			got[i] = !want[i]
		}
		filter.MayContainBatch(batched, keys[:n], got)
		if !slices.Equal(got, want) {
			c.Fatalf("a batch of %d answers\n%v, one by one\n%v", n, got, want)
		}
	}
}

// batchKeepsItsBounds checks that a batch writes as many answers as there are
// keys, and refuses a list that has no room for them.
func batchKeepsItsBounds(c checker) {
	keys := c.keys(37, 100)
	f := c.filled(keys)
	for _, n := range []int{0, 1, 33, 99} {
		out := make([]bool, len(keys))
		filter.MayContainBatch(f, keys[:n], out)
		if slices.Contains(out[n:], true) || slices.Contains(out[:n], false) {
			c.Errorf("a batch of %d present keys and room for %d answers gave %v", n, len(out), out)
		}
	}
	for _, short := range []int{0, 1, 50, 99} {
		for _, capacity := range []int{short, len(keys)} {
			if !panics(func() { filter.MayContainBatch(f, keys, make([]bool, short, capacity)) }) {
				c.Errorf("a batch of %d keys with room for %d answers, capacity %d, did not panic", len(keys), short, capacity)
			}
		}
	}
}

// panics reports whether f does.
func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}
