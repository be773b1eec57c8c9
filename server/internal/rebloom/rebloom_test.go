package rebloom_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/server/internal/rebloom"
	"github.com/everbloom-go/everbloom/server/internal/rebloom/rebloomtest"
)

// TestMurmur computes the number by which SMHasher tells hashes apart.
func TestMurmur(t *testing.T) {
	var key, all []byte
	for i := range 256 {
		all = binary.LittleEndian.AppendUint64(all, rebloom.Murmur64A(key, uint64(256-i)))
		key = append(key, byte(i))
	}
	if got := uint32(rebloom.Murmur64A(all, 0)); got != 0x1F0D3804 {
		t.Errorf("%#x", got)
	}
}

func item(i int) []byte { return fmt.Append(nil, "item-", i) }

// TestBloomFigures has what RedisBloom says about filters.
func TestBloomFigures(t *testing.T) {
	for _, c := range []struct {
		fpr       float64
		capacity  uint64
		fixed     bool
		data      int // BF.INFO SIZE without its structs
		bits, cap uint64
		hashes    uint32
	}{
		{0.01, 100, false, 240 - 32 - 64, 1152, 100, 8},
		{0.01, 100, true, 216 - 32 - 64, 960, 100, 7},
		{0.001, 2000, false, 4056 - 32 - 64, 31680, 2000, 11},
		{0.01, 3, false, 8, 64, 3, 8},
	} {
		d := rebloomtest.NewBloom(c.fpr, c.capacity, 2, c.fixed).Dump()
		size, err := rebloom.BloomSize(d.Header)
		if err != nil || size != int64(c.data) || binary.LittleEndian.Uint64(d.Header[28:]) != c.bits || binary.LittleEndian.Uint32(d.Header[60:]) != c.hashes {
			t.Errorf("%v: %d bytes, %v", c, size, err)
		}
		b, err := rebloom.ReadBloom(d.Header, d.Data())
		if err != nil || b.Capacity != c.cap || b.FPR != c.fpr || b.Fixed != c.fixed || b.MayContain(item(1)) {
			t.Errorf("%v: %+v, %v", c, b, err)
		}
	}
}

func TestBloomHasItsItems(t *testing.T) {
	w := rebloomtest.NewBloom(0.01, 100, 2, false)
	const n = 1000
	for i := range n {
		w.Add(item(i))
	}
	d := w.Dump()
	b, err := rebloom.ReadBloom(d.Header, d.Data())
	if err != nil || b.Items != w.Items() || b.Links() != 4 {
		t.Fatal(b, err)
	}
	for i := range n {
		if !b.MayContain(item(i)) {
			t.Fatal(i, "is absent")
		}
	}
	found := 0
	const absent = 50_000
	for i := range absent {
		if b.MayContain(item(n + i)) {
			found++
		}
	}
	if rate := float64(found) / absent; rate > 0.01 || rate < 0.7*b.Rate() || rate > 1.4*b.Rate() {
		t.Errorf("rate %g, estimated %g", rate, b.Rate())
	}
	var stored bytes.Buffer
	if _, err := b.WriteTo(&stored); err != nil {
		t.Fatal(err)
	}
	if header, data, rest, ok := rebloom.Cut(stored.Bytes()); !ok || !bytes.Equal(header, d.Header) || !bytes.Equal(data, d.Data()) || len(rest) > 0 {
		t.Error("the stored form is not the dump")
	}
}

// TestCuckooModel changes a filter that was read, beside an exact count of its items.
func TestCuckooModel(t *testing.T) {
	for _, c := range []struct{ bucketSize, expansion uint16 }{{2, 1}, {1, 2}, {4, 2}, {3, 4}} {
		w := rebloomtest.NewCuckoo(64, c.bucketSize, c.expansion)
		counts := make(map[int]int)
		for i := range 150 {
			w.Add(item(i))
			counts[i]++
		}
		w.Delete(item(3))
		counts[3]--
		d := w.Dump()
		f, err := rebloom.ReadCuckoo(d.Header, d.Data())
		if err != nil || f.Info().Keys != 149 || f.Deletes != 1 {
			t.Fatal(f.Info(), err)
		}
		if header, data, _, ok := rebloom.Cut(f.Bytes()); !ok || !bytes.Equal(header, d.Header) || !bytes.Equal(data, d.Data()) {
			t.Error("the stored form is not the dump")
		}
		rng := rand.New(rand.NewPCG(1, uint64(c.bucketSize)))
		for step := range 1000 {
			i := rng.IntN(250)
			k, _ := f.Key(item(i))
			if counts[i] > 0 && rng.IntN(2) == 0 {
				if err := f.Delete(k); err != nil {
					t.Fatalf("%v: %d is there %d times: %v", c, i, counts[i], err)
				}
				counts[i]--
			} else if _, err := f.Add(k); err == nil {
				counts[i]++
			} else if !errors.Is(err, filter.ErrFull) {
				t.Fatal(err)
			}
			for i, n := range counts {
				if step%25 != 0 {
					break
				}
				if k, _ := f.Key(item(i)); n > 0 && (!f.MayContain(k) || f.Count(k) < uint64(n)) {
					t.Fatalf("%v: %d is there %d times, found %d", c, i, n, f.Count(k))
				}
			}
		}
	}
}

// TestCuckooIsFull fills filters that may not grow, or would have to grow too much.
func TestCuckooIsFull(t *testing.T) {
	for _, c := range []struct {
		capacity, least       uint64
		bucketSize, expansion uint16
	}{{64, 32, 1, 0}, {64, 56, 4, 0}, {1 << 12, 1 << 10, 1, 1 << 15}} {
		w := rebloomtest.NewCuckoo(c.capacity, c.bucketSize, c.expansion)
		w.Add(item(0))
		d := w.Dump()
		f, err := rebloom.ReadCuckoo(d.Header, d.Data())
		if err != nil {
			t.Fatal(err)
		}
		var before []byte
		for i := 1; err == nil; i++ {
			k, _ := f.Key(item(i))
			before = f.Bytes()
			_, err = f.Add(k)
		}
		if n := f.Info().Keys; n < c.least || n > c.capacity || !errors.Is(err, filter.ErrFull) || !bytes.Equal(before, f.Bytes()) {
			t.Errorf("%v: full with %d items: %v", c, n, err)
		}
	}
}

// TestQueriesAreBounded reads sub-filters whose bits are all set but one: queries of RedisBloom
// end after two bits, and those of such a filter would not.
func TestQueriesAreBounded(t *testing.T) {
	d := rebloomtest.NewBloom(1e-300, 5, 2, false).Dump()
	full := bytes.Repeat([]byte{0xff}, len(d.Data()))
	full[0] = 0xfe
	if _, err := rebloom.ReadBloom(d.Header, full); err != nil {
		t.Error(err)
	}
	const links = 100
	header := append(d.Header[:20:20], bytes.Repeat(d.Header[20:], links)...)
	binary.LittleEndian.PutUint32(header[8:], links)
	if _, err := rebloom.ReadBloom(header, bytes.Repeat(full, links)); !errors.Is(err, rebloom.ErrDump) {
		t.Error(err)
	}
	if _, err := rebloom.ReadBloom(header, bytes.Repeat(d.Data(), links)); err != nil {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	b := rebloomtest.NewBloom(0.1, 5, 2, false)
	c := rebloomtest.NewCuckoo(8, 2, 2)
	for i := range 12 {
		b.Add(item(i))
		c.Add(item(i))
	}
	f.Add(b.Dump().Header, b.Dump().Data())
	f.Add(c.Dump().Header, c.Dump().Data())
	f.Fuzz(func(t *testing.T, header, data []byte) {
		if b, err := rebloom.ReadBloom(header, data); err == nil {
			b.MayContain(item(1))
		} else if !errors.Is(err, rebloom.ErrDump) {
			t.Error(err)
		}
		c, err := rebloom.ReadCuckoo(header, data)
		if err != nil {
			if !errors.Is(err, rebloom.ErrDump) {
				t.Error(err)
			}
			return
		}
		for i := range 20 {
			k, _ := c.Key(item(i))
			if _, err := c.Add(k); err == nil && !c.MayContain(k) {
				t.Error(i, "is absent")
			}
		}
	})
}
