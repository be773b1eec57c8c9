package store

import (
	"bytes"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/server/internal/rebloom"
)

// A keyer makes the keys of items in place of a hash, where ok is true.
type keyer interface {
	Key(item []byte) (k filter.Key, ok bool)
}

// Foreign reports whether the entry has bits of RedisBloom, which no file can hold.
func (e *Entry) Foreign() bool { return e.imported != nil }

// HashName returns the name of the hash of items.
func (e *Entry) HashName() string {
	if e.spec.Kind == rebloom.Kind {
		return "murmur64a"
	}
	return e.hash.Name()
}

// SameHash reports whether an item has the same key in both entries.
func (e *Entry) SameHash(other *Entry) bool {
	return *e.hash == *other.hash && (e.spec.Kind == rebloom.Kind) == (other.spec.Kind == rebloom.Kind)
}

// DumpSize checks the header of a dump of RedisBloom, and returns how many bytes follow it.
func DumpSize(t Type, header []byte) (int64, error) {
	if t == Cuckoo {
		return rebloom.CuckooSize(header)
	}
	return rebloom.BloomSize(header)
}

// FromRedis returns what an entry is that is made of a dump of RedisBloom, to be adopted. The
// partition calls it.
func (s *Store) FromRedis(t Type, header, data []byte) (spec Spec, content []byte, err error) {
	if t == Cuckoo {
		return cuckooFromRedis(header, data)
	}
	b, err := rebloom.ReadBloom(header, data)
	if err != nil {
		return spec, nil, err
	}
	spec = Spec{Type: Bloom, Kind: frame.Perennial, Capacity: b.Capacity, FPR: b.FPR, Expansion: b.Expansion, Fixed: b.Fixed, Items: b.Items}
	items, fpr := uint64(0), min(max(b.NextFPR, leastFPR), mostFPR)
	if b.Fixed { // its own rate is low until it is full
		spec.Kind, spec.Limit, fpr = frame.Blocked, b.Capacity, min(max(b.FPR, leastFPR), mostFPR)
		items = min(max(b.Capacity, b.Items+1)-b.Items, b.Holds(fpr))
	}
	if spec.Shape, err = s.Shape(spec.Kind, items, fpr); err != nil {
		return spec, nil, err
	}
	e, err := s.NewEntry(0, "", spec, nil)
	if err != nil {
		return spec, nil, err
	}
	e.imported = b
	if _, err := e.filter.Add(rebloom.Inherited); err != nil {
		return spec, nil, err
	}
	w, err := e.Snapshot()
	if err != nil {
		return spec, nil, err
	}
	buf := bytes.NewBuffer(make([]byte, 0, len(header)+len(data)+1<<16))
	_, err = w.WriteTo(buf)
	return spec, buf.Bytes(), err
}

// The rates of a filter that takes items beside those of RedisBloom.
const (
	leastFPR = 1e-6
	mostFPR  = 0.25
)

func cuckooFromRedis(header, data []byte) (spec Spec, content []byte, err error) {
	c, err := rebloom.ReadCuckoo(header, data)
	if err != nil {
		return spec, nil, err
	}
	i := c.Info()
	spec = Spec{
		Type: Cuckoo, Kind: rebloom.Kind, Capacity: c.Buckets * uint64(c.BucketSize), FPR: i.FPR, Expansion: uint32(c.Expansion),
		BucketSize: c.BucketSize, Iterations: c.Iterations, Fixed: c.Expansion == 0, Items: i.Keys, Deletes: c.Deletes,
	}
	if spec.Fixed {
		spec.Limit = spec.Capacity
	}
	return spec, rebloom.Join(header, data), nil
}

// beside adds what a Bloom filter of RedisBloom is to the description of the filter beside it.
func (e *Entry) beside(i filter.Info) filter.Info {
	b, ok := e.imported.(*rebloom.Bloom)
	if !ok {
		return i
	}
	i.Kind, i.Keys = "rebloom+"+i.Kind, e.items.Load()
	i.FastBits += 8 * uint64(b.Size())
	i.FPR = 1 - (1-b.Rate())*(1-i.FPR)
	return i
}
