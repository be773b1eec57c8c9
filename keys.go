package everbloom

import "github.com/everbloom-go/everbloom/filter"

// Add puts key into the set and reports whether it looked new. The error is
// filter.ErrFull or filter.ErrStorage, and then nothing was changed.
func (s *Set) Add(key []byte) (added bool, err error) { return s.AddKey(s.hash.Bytes(key)) }

// AddString is Add for strings. Equal bytes are one key.
func (s *Set) AddString(key string) (added bool, err error) { return s.AddKey(s.hash.String(key)) }

// AddUint64 is Add for numbers. A number is the key of its 8 little-endian bytes.
func (s *Set) AddUint64(key uint64) (added bool, err error) { return s.AddKey(s.hash.Uint64(key)) }

// AddKey is Add for keys that were hashed with the set's Hash before.
func (s *Set) AddKey(k filter.Key) (added bool, err error) {
	h := s.shardOf(k)
	h.lock()
	added, err = h.filter.Add(k)
	h.unlock()
	return added, err
}

// MayContain reports whether key may be in the set. False is certain.
func (s *Set) MayContain(key []byte) bool { return s.MayContainKey(s.hash.Bytes(key)) }

// MayContainString is MayContain for strings.
func (s *Set) MayContainString(key string) bool { return s.MayContainKey(s.hash.String(key)) }

// MayContainUint64 is MayContain for numbers.
func (s *Set) MayContainUint64(key uint64) bool { return s.MayContainKey(s.hash.Uint64(key)) }

// MayContainKey is MayContain for keys that were hashed with the set's Hash before.
func (s *Set) MayContainKey(k filter.Key) bool {
	h := s.shardOf(k)
	h.rlock()
	yes := h.filter.MayContain(k)
	h.runlock()
	return yes
}

// Delete takes key out of the set. The error is filter.ErrNotFound,
// filter.ErrPinned, or errors.ErrUnsupported where the kind cannot delete; then
// nothing was changed.
func (s *Set) Delete(key []byte) error { return s.DeleteKey(s.hash.Bytes(key)) }

// DeleteString is Delete for strings.
func (s *Set) DeleteString(key string) error { return s.DeleteKey(s.hash.String(key)) }

// DeleteUint64 is Delete for numbers.
func (s *Set) DeleteUint64(key uint64) error { return s.DeleteKey(s.hash.Uint64(key)) }

// DeleteKey is Delete for keys that were hashed with the set's Hash before.
func (s *Set) DeleteKey(k filter.Key) error {
	h := s.shardOf(k)
	h.lock()
	defer h.unlock()
	return filter.Delete(h.filter, k)
}
