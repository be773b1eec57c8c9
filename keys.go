package everbloom

import "github.com/everbloom-go/everbloom/filter"

// Add puts key into the set and reports whether it looked new. The error is
// filter.ErrFull or filter.ErrStorage, and then nothing was changed.
func (s *Set) Add(key []byte) (added bool, err error) {
	if s.quick != nil {
		return s.single[0].quickAdd(s.quick, filter.KeyOf(key)), nil
	}
	return s.AddKey(s.hash.Bytes(key))
}

// AddString is Add for strings. Equal bytes are one key.
func (s *Set) AddString(key string) (added bool, err error) {
	if s.quick != nil {
		return s.single[0].quickAdd(s.quick, filter.KeyOfString(key)), nil
	}
	return s.AddKey(s.hash.String(key))
}

// AddUint64 is Add for numbers. A number is the key of its 8 little-endian bytes.
func (s *Set) AddUint64(key uint64) (added bool, err error) { return s.AddKey(s.hash.Uint64(key)) }

// AddKey is Add for keys that were hashed with the set's Hash before.
func (s *Set) AddKey(k filter.Key) (added bool, err error) {
	if s.quick != nil {
		return s.single[0].quickAdd(s.quick, k), nil
	}
	if sh := s.shards.of(k); sh != nil {
		return sh.add(k)
	}
	return false, errZero
}

// MayContain reports whether key may be in the set. False is certain.
func (s *Set) MayContain(key []byte) bool {
	if f := s.quick; f != nil {
		return f.MayContainFast(filter.KeyOf(key))
	}
	return s.shards.mayContain(s.hash.Bytes(key))
}

// MayContainString is MayContain for strings.
func (s *Set) MayContainString(key string) bool {
	if f := s.quick; f != nil {
		return f.MayContainFast(filter.KeyOfString(key))
	}
	return s.shards.mayContain(s.hash.String(key))
}

// MayContainUint64 is MayContain for numbers.
func (s *Set) MayContainUint64(key uint64) bool {
	return s.MayContainKey(s.hash.Uint64(key))
}

// MayContainKey is MayContain for keys that were hashed with the set's Hash before.
func (s *Set) MayContainKey(k filter.Key) bool {
	if f := s.quick; f != nil {
		return f.MayContainFast(k)
	}
	return s.shards.mayContain(k)
}

// Contains reports whether key is in the set, without false positives. Kinds that do
// not store their keys answer errors.ErrUnsupported; evergreen and elastic can. Keys
// with equal hashes are one key.
func (s *Set) Contains(key []byte) (bool, error) { return s.ContainsKey(s.hash.Bytes(key)) }

// ContainsString is Contains for strings.
func (s *Set) ContainsString(key string) (bool, error) { return s.ContainsKey(s.hash.String(key)) }

// ContainsUint64 is Contains for numbers.
func (s *Set) ContainsUint64(key uint64) (bool, error) { return s.ContainsKey(s.hash.Uint64(key)) }

// ContainsKey is Contains for keys that were hashed with the set's Hash before.
func (s *Set) ContainsKey(k filter.Key) (bool, error) {
	sh := s.shards.of(k)
	if sh == nil {
		return false, errZero
	}
	sh.freeze()
	defer sh.thaw()
	return filter.Contains(sh.filter, k)
}

// Delete takes key out of the set. The error is filter.ErrNotFound,
// filter.ErrPinned, errors.ErrUnsupported where the kind cannot delete, or seldom
// filter.ErrStorage where keys must move and there is no memory; then nothing was
// changed.
func (s *Set) Delete(key []byte) error { return s.DeleteKey(s.hash.Bytes(key)) }

// DeleteString is Delete for strings.
func (s *Set) DeleteString(key string) error { return s.DeleteKey(s.hash.String(key)) }

// DeleteUint64 is Delete for numbers.
func (s *Set) DeleteUint64(key uint64) error { return s.DeleteKey(s.hash.Uint64(key)) }

// DeleteKey is Delete for keys that were hashed with the set's Hash before.
func (s *Set) DeleteKey(k filter.Key) error { return s.shards.delete(k) }
