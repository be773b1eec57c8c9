package rebloom

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
)

// Kind is the number of a Cuckoo among the kinds of a server. No file has it.
const Kind frame.Kind = 0xF001

// A Cuckoo is a cuckoo filter of RedisBloom. The key of an item is its hash: see [Cuckoo.Key].
type Cuckoo struct {
	Buckets    uint64 // of the first table
	Deletes    uint64 // before it was read
	BucketSize uint16
	Iterations uint16
	Expansion  uint16 // of a table beside the one before; 0 means that it does not grow

	tables [][]byte // the oldest first; those that it is not read with are made when needed
	keys   uint64   // fingerprints in all tables
}

var _ filter.Deleter = (*Cuckoo)(nil)

const (
	cuckooHead = 38
	mixer      = 0x5bd1e995

	// maxTables is how many tables there are at most before the filter is full.
	maxTables = 32

	// A new table has at most freeTable bytes, or maxGrowth times those that are there.
	freeTable = 16 << 20
	maxGrowth = 4

	maxKicks = 1 << 10 // however many iterations are asked for
)

// CuckooSize checks a header, and returns how many bytes of tables follow it.
func CuckooSize(header []byte) (int64, error) {
	_, sizes, err := readCuckoo(header)
	if err != nil {
		return 0, err
	}
	return sum(sizes), nil
}

func sum(sizes []uint64) (n int64) {
	for _, s := range sizes {
		n += int64(s)
	}
	return n
}

// readCuckoo reads a header, and returns the sizes of the tables.
func readCuckoo(h []byte) (*Cuckoo, []uint64, error) {
	if len(h) != cuckooHead {
		return nil, nil, bad("bytes of the header", len(h))
	}
	n := binary.LittleEndian.Uint64(h[24:])
	f := &Cuckoo{
		Buckets: binary.LittleEndian.Uint64(h[8:]), Deletes: binary.LittleEndian.Uint64(h[16:]),
		BucketSize: binary.LittleEndian.Uint16(h[32:]), Iterations: binary.LittleEndian.Uint16(h[34:]), Expansion: binary.LittleEndian.Uint16(h[36:]),
	}
	switch {
	case f.Buckets == 0 || f.Buckets&(f.Buckets-1) != 0 || f.Buckets > maxData:
		return nil, nil, bad("buckets", f.Buckets)
	case f.BucketSize == 0 || f.BucketSize > 255:
		return nil, nil, bad("bucket size", f.BucketSize)
	case f.Expansion&(f.Expansion-1) != 0 || f.Expansion > 1<<15:
		return nil, nil, bad("expansion", f.Expansion)
	case n == 0 || n > maxLinks || n > 1 && f.Expansion == 0:
		return nil, nil, bad("tables", n)
	case f.Deletes > math.MaxInt64/2:
		return nil, nil, bad("deletes", f.Deletes)
	}
	sizes := make([]uint64, n)
	for i := range sizes {
		if sizes[i] = f.tableSize(i); sizes[i] > maxData {
			return nil, nil, bad("tables", n)
		}
	}
	return f, sizes, nil
}

// tableSize returns how many slots a table has, maxData+1 if too many.
func (f *Cuckoo) tableSize(i int) uint64 {
	n := f.Buckets * uint64(f.BucketSize)
	for range i {
		if n *= uint64(f.Expansion); n > maxData {
			return maxData + 1
		}
		if f.Expansion == 1 {
			break
		}
	}
	return n
}

// ReadCuckoo returns the filter of a dump.
func ReadCuckoo(header, data []byte) (*Cuckoo, error) {
	f, sizes, err := readCuckoo(header)
	if err != nil {
		return nil, err
	}
	if int64(len(data)) != sum(sizes) {
		return nil, bad("bytes of tables", len(data))
	}
	data = bytes.Clone(data)
	for _, n := range sizes {
		f.tables = append(f.tables, data[:n:n])
		f.keys += n - uint64(bytes.Count(data[:n], []byte{0}))
		data = data[n:]
	}
	return f, nil
}

// Bytes returns the stored form.
func (f *Cuckoo) Bytes() []byte {
	h := make([]byte, cuckooHead)
	for i, v := range []uint64{f.keys, f.Buckets, f.Deletes, uint64(len(f.tables))} {
		binary.LittleEndian.PutUint64(h[8*i:], v)
	}
	for i, v := range []uint16{f.BucketSize, f.Iterations, f.Expansion} {
		binary.LittleEndian.PutUint16(h[32+2*i:], v)
	}
	return Join(h, bytes.Join(f.tables, nil))
}

// Key returns the key of an item.
func (f *Cuckoo) Key(item []byte) (filter.Key, bool) { return filter.Key(Murmur64A(item, 0)), true }

// places are where a fingerprint may be.
type places struct {
	fingerprint byte
	bucket      [2]uint64 // modulo the buckets of a table
}

func place(k filter.Key) places {
	h := uint64(k)
	fp := byte(h%255 + 1)
	return places{fp, [2]uint64{h, h ^ uint64(fp)*mixer}}
}

// bucketOf returns the slots of a bucket of a table.
func (f *Cuckoo) bucketOf(table []byte, bucket uint64) []byte {
	size := uint64(f.BucketSize)
	at := bucket & (uint64(len(table))/size - 1) * size
	return table[at : at+size]
}

// find calls do with every bucket of a key, newest table first, until it reports true.
func (f *Cuckoo) find(p places, do func(slots []byte) bool) bool {
	for _, table := range slices.Backward(f.tables) {
		first := f.bucketOf(table, p.bucket[0])
		second := f.bucketOf(table, p.bucket[1])
		if do(first) || &first[0] != &second[0] && do(second) {
			return true
		}
	}
	return false
}

// swapIn replaces one byte by another in slots. It reports whether it was there.
func swapIn(slots []byte, old, fresh byte) bool {
	i := bytes.IndexByte(slots, old)
	if i >= 0 {
		slots[i] = fresh
	}
	return i >= 0
}

// MayContain reports whether a key may be there.
func (f *Cuckoo) MayContain(k filter.Key) bool {
	p := place(k)
	return f.find(p, func(slots []byte) bool { return bytes.IndexByte(slots, p.fingerprint) >= 0 })
}

// Count returns how often a key may be there.
func (f *Cuckoo) Count(k filter.Key) (n uint64) {
	p := place(k)
	f.find(p, func(slots []byte) bool {
		n += uint64(bytes.Count(slots, []byte{p.fingerprint}))
		return false
	})
	return n
}

// Add adds a key once more. It reports whether it looked new.
func (f *Cuckoo) Add(k filter.Key) (bool, error) {
	p := place(k)
	fresh := !f.MayContain(k)
	free := func(slots []byte) bool { return swapIn(slots, 0, p.fingerprint) }
	if !f.find(p, free) && !f.kick(p) {
		if err := f.grow(); err != nil {
			return false, err
		}
		f.find(p, free)
	}
	f.keys++
	return fresh, nil
}

// kick makes room in the newest table by moving other fingerprints to their second bucket.
// It reports false, and nothing is changed, if that takes too many steps.
func (f *Cuckoo) kick(p places) bool {
	table := f.tables[len(f.tables)-1]
	bucket, fp := p.bucket[0], p.fingerprint
	var moved []*byte
	for i := range min(int(f.Iterations), maxKicks) {
		victim := &f.bucketOf(table, bucket)[i%int(f.BucketSize)]
		*victim, fp = fp, *victim
		moved = append(moved, victim)
		bucket ^= uint64(fp) * mixer
		if swapIn(f.bucketOf(table, bucket), 0, fp) {
			return true
		}
	}
	for _, slot := range slices.Backward(moved) {
		*slot, fp = fp, *slot
	}
	return false
}

// grow adds a table.
func (f *Cuckoo) grow() error {
	slots := uint64(0)
	for _, t := range f.tables {
		slots += uint64(len(t))
	}
	n := f.tableSize(len(f.tables))
	if f.Expansion == 0 || len(f.tables) >= maxTables || n > max(freeTable, maxGrowth*slots) {
		return fmt.Errorf("rebloom: %d tables of %d slots: %w", len(f.tables), slots, filter.ErrFull)
	}
	f.tables = append(f.tables, make([]byte, n))
	return nil
}

// Delete deletes a key once.
func (f *Cuckoo) Delete(k filter.Key) error {
	p := place(k)
	if !f.find(p, func(slots []byte) bool { return swapIn(slots, p.fingerprint, 0) }) {
		return filter.ErrNotFound
	}
	f.keys--
	return nil
}

// Units returns how many tables there are.
func (f *Cuckoo) Units() int { return len(f.tables) }

// Info describes the filter.
func (f *Cuckoo) Info() filter.Info {
	slots := 0
	for _, t := range f.tables {
		slots += len(t)
	}
	fill := float64(f.keys) / float64(slots)
	looked := 2 * float64(f.BucketSize) * float64(len(f.tables)) * fill
	return filter.Info{
		Kind: "rebloom", Keys: f.keys, Exact: true, Capacity: uint64(slots), FastBits: 8 * uint64(slots), Fill: fill,
		FPR: 1 - math.Pow(1-1.0/255, looked), Unbounded: f.Expansion > 0, Duplicates: filter.DuplicatesCounted,
	}
}
