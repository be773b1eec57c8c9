package filtertest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/frame"
)

// Forge returns a file of the kind, of format version 1, whose checksums are
// right whatever the shape, the summary and the words of the payload are.
func (c Codec[F]) Forge(tb testing.TB, shape any, sum frame.Summary, words ...uint64) []byte {
	tb.Helper()
	payload := make([]byte, 0, 8*len(words))
	for _, word := range words {
		payload = binary.LittleEndian.AppendUint64(payload, word)
	}
	return seal(tb, frame.Header{Kind: c.Kind, Version: 1, Shape: frame.ShapeOf(shape), Summary: sum}, payload)
}

// Refuses checks that what [Codec.Forge] makes is refused as [Codec.RefusesFile]
// says.
func (c Codec[F]) Refuses(tb testing.TB, what, want string, shape any, sum frame.Summary, words ...uint64) {
	tb.Helper()
	c.RefusesFile(tb, what, want, c.Forge(tb, shape, sum, words...))
}

// RefusesFile checks that a file with the given fault is refused with an error
// that matches ErrCorrupt and has the wanted text.
func (c Codec[F]) RefusesFile(tb testing.TB, what, want string, file []byte) {
	tb.Helper()
	f, err := c.Read(bytes.NewReader(file))
	switch {
	case err == nil:
		tb.Errorf("%s: accepted as %+v, want %q", what, f.Info(), want)
	case !errors.Is(err, filter.ErrCorrupt) || !strings.Contains(err.Error(), want):
		tb.Errorf("%s: got %q, want ErrCorrupt and %q", what, err, want)
	}
}

// Alter returns the file with what change makes of its header and payload, and
// with the checksums and the length of that.
func Alter(tb testing.TB, file []byte, change func(h *frame.Header, payload []byte) []byte) []byte {
	tb.Helper()
	r, err := frame.Open(bytes.NewReader(file))
	if err != nil {
		tb.Fatalf("a file to be altered: %v", err)
	}
	payload, err := io.ReadAll(r)
	if err != nil {
		tb.Fatalf("a file to be altered: %v", err)
	}
	h := r.Header()
	payload = change(&h, payload)
	return seal(tb, h, payload)
}

// seal writes a file of the header, whose length of the payload it sets.
func seal(tb testing.TB, h frame.Header, payload []byte) []byte {
	tb.Helper()
	h.Payload = uint64(len(payload))
	return checker{TB: tb}.written(&frame.Image{
		Header:  h,
		Payload: func(w io.Writer) error { _, err := w.Write(payload); return err },
	})
}

// What a forged file may cost: reading it, or finding out that it is none, and adding
// forgedAdds keys to what it gives. Both are bytes of memory, also those that are given back.
const (
	forgedAdds = 64

	readBytes    = 2 << 20 // however short the file is
	readFactor   = 512     // and for each of its bytes: elastic's empty buckets are short in files
	growthBytes  = 4 << 20
	growthFactor = 4096
)

// forgedFilesCostLittle gives the fields of a file's shape, one by one and in pairs, the
// values at which arithmetic and loops go astray, with checksums that are right. A reader
// must refuse such a file or give a filter, and what that and the first keys added to it
// cost is in proportion to the file.
func forgedFilesCostLittle(c checker) {
	for _, n := range []uint64{4, 300} {
		file := c.state(c.filled(c.keys(151, n)))
		r, err := frame.Open(bytes.NewReader(file))
		if err != nil {
			c.Fatal(err)
		}
		payload, err := io.ReadAll(r)
		if err != nil {
			c.Fatal(err)
		}
		forgedShapes(r.Header().Shape, func(shape frame.Shape) {
			h := r.Header()
			h.Shape = shape
			c.wantCheap(seal(c, h, payload), shape)
		})
	}
}

// wantCheap reads a forged file and uses what it gives.
func (c checker) wantCheap(file []byte, shape frame.Shape) {
	var f filter.Filter
	var err error
	size := uint64(len(file))
	if spent, most := allocated(func() { f, err = c.read(file) }), readBytes+readFactor*size; spent > most {
		c.Fatalf("reading a forged file of %d bytes took %d bytes of memory, at most %d: %v (%v)", size, spent, most, shape, err)
	}
	if err != nil {
		if !isRefusal(err) && !errors.Is(err, filter.ErrStorage) {
			c.Errorf("a forged file, %v: error %q is none of those that tell of damage", shape, err)
		}
		return
	}
	keys := c.keys(157, forgedAdds)
	if spent, most := allocated(func() { c.addForged(f, keys) }), growthBytes+growthFactor*size; spent > most {
		c.Fatalf("adding %d keys to a forged file of %d bytes took %d bytes of memory, at most %d: %v", forgedAdds, size, spent, most, shape)
	}
	c.checkInfo(f.Info())
}

// addForged adds keys for as long as the filter takes them, and asks for each.
func (c checker) addForged(f filter.Filter, keys []filter.Key) {
	for _, k := range keys {
		if _, err := f.Add(k); err == nil && !f.MayContain(k) {
			c.Errorf("key %#x, added to what a forged file gave, was not found", k)
		}
	}
}

// allocated returns how many bytes f takes from the heap. The count lags behind by the
// small objects of a few pages. Unlike runtime.ReadMemStats it does not stop the world.
func allocated(f func()) uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64()
	f()
	metrics.Read(sample)
	return sample[0].Value.Uint64() - before
}

// forgedShapes calls try with s with each of its fields changed to each extreme, and with
// each two of them. The race detector makes pairs too slow, and finds nothing there.
func forgedShapes(s frame.Shape, try func(frame.Shape)) {
	for i := range s {
		for _, v := range extremes(s[i].Value) {
			one := withValue(s, i, v)
			try(one)
			for j := i + 1; j < len(s) && !effort.UnderRace; j++ {
				for _, w := range extremes(s[j].Value) {
					try(withValue(one, j, w))
				}
			}
		}
	}
}

func withValue(s frame.Shape, i int, v frame.Value) frame.Shape {
	s = slices.Clone(s)
	s[i].Value = v
	return s
}

// extremes are the values that a field of a shape is forged to.
func extremes(v frame.Value) (values []frame.Value) {
	if x, ok := v.Float(); ok {
		for _, x := range []float64{x / 2, x * 2, 5e-324, 1e-300, 1e-19, 1e-9, 1e-3, 0.5, 1 - 1e-16, 1} {
			values = append(values, frame.Float(x))
		}
		return values
	}
	n, _ := v.Uint()
	for _, n := range []uint64{0, 1, 2, n - 1, n + 1, n / 2, 2 * n, 1 << 16, 1 << 32, 1 << 44, 1 << 50, 1 << 62, math.MaxUint64} {
		values = append(values, frame.Uint(n))
	}
	return values
}
