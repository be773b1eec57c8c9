package filtertest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
)

// The stored form of an Exact, all little endian:
//
//	magic 8 | items u64 | room u64 | bounded u8 | duplicates u8 | keys u64 |
//	keys in ascending order, each: key u64, count u64 | CRC32C u32 of all before
//
// It lasts as long as a test: there is no promise that later releases read it.
const (
	exactMagic  = "exactset"
	exactHeader = 8 + 8 + 8 + 1 + 1 + 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Snapshot captures the filter as it is now.
func (f *Exact) Snapshot() io.WriterTo {
	b := []byte(exactMagic)
	b = binary.LittleEndian.AppendUint64(b, f.config.Items)
	b = binary.LittleEndian.AppendUint64(b, f.room)
	b = append(b, 0, byte(f.config.Duplicates))
	if f.config.Bounded {
		b[len(b)-2] = 1
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(f.set.Len()))
	entries := slices.SortedFunc(slices.Values(f.set.entries), func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	for _, e := range entries {
		b = binary.LittleEndian.AppendUint64(b, uint64(e.key))
		b = binary.LittleEndian.AppendUint64(b, e.count)
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return bytes.NewReader(b)
}

// ReadExact reads what Snapshot of an [Exact] wrote.
func ReadExact(r io.Reader) (*Exact, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("filtertest: exact: %w", err)
	}
	body := b[:max(0, len(b)-4)]
	if len(body) < exactHeader || string(body[:8]) != exactMagic {
		return nil, corruptExact("%d bytes are no exact filter", len(b))
	}
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(b[len(body):]) {
		return nil, corruptExact("checksum does not match")
	}
	if body[24] > 1 || body[25] > byte(filter.DuplicatesPin) {
		return nil, corruptExact("bounded %d, duplicates %d", body[24], body[25])
	}
	f := NewExact(ExactConfig{
		Items:      binary.LittleEndian.Uint64(body[8:]),
		Bounded:    body[24] == 1,
		Duplicates: filter.Duplicates(body[25]),
	})
	f.room = binary.LittleEndian.Uint64(body[16:])
	if err := f.readEntries(binary.LittleEndian.Uint64(body[26:]), body[exactHeader:]); err != nil {
		return nil, err
	}
	return f, nil
}

// readEntries takes in n keys with their counts, which must ascend.
func (f *Exact) readEntries(n uint64, b []byte) error {
	if len(b)%16 != 0 || uint64(len(b))/16 != n || f.room == 0 {
		return corruptExact("%d keys in %d bytes with room for %d", n, len(b), f.room)
	}
	for ; len(b) > 0; b = b[16:] {
		k, count := filter.Key(binary.LittleEndian.Uint64(b)), binary.LittleEndian.Uint64(b[8:])
		if last := f.set.Len() - 1; count == 0 || last >= 0 && f.set.At(last) >= k {
			return corruptExact("key %#x with count %d is out of order or empty", k, count)
		}
		f.set.AddCount(k, count)
	}
	return nil
}

func corruptExact(format string, args ...any) error {
	return fmt.Errorf("filtertest: exact: %s: %w", fmt.Sprintf(format, args...), filter.ErrCorrupt)
}
