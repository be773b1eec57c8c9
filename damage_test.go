package everbloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/frame"
)

// openBytes opens a file of the given content, and checks that an error names it.
func openBytes(t *testing.T, dir string, content []byte) (*Set, error) {
	t.Helper()
	path := filepath.Join(dir, "damaged.set")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		wantError(t, err, nil, "everbloom: open "+path+": ")
	}
	if (s == nil) != (err != nil) {
		t.Errorf("set %v beside error %v", s, err)
	}
	return s, err
}

// headerSize returns the length of the header that b begins with.
func headerSize(b []byte) int { return int(binary.LittleEndian.Uint32(b[20:])) }

// frames cuts a sound file into its parts, along the lengths that it states.
func frames(b []byte) (parts [][]byte) {
	for len(b) > 0 {
		end := headerSize(b)
		payload := int(binary.LittleEndian.Uint64(b[end-12:]))
		for payload > 0 {
			size := int(binary.LittleEndian.Uint32(b[end+4:]))
			end, payload = end+12+size, payload-size
		}
		parts = append(parts, b[:end])
		b = b[end:]
	}
	return parts
}

// reseal makes the checksums of a damaged file right again as far as its lengths
// can be followed: what an enemy would do.
func reseal(b []byte) {
	table := crc32.MakeTable(crc32.Castagnoli)
	for len(b) >= 24 {
		end := headerSize(b)
		if end < 28 || end > len(b) {
			return
		}
		binary.LittleEndian.PutUint32(b[end-4:], crc32.Checksum(b[:end-4], table))
		payload := binary.LittleEndian.Uint64(b[end-12:])
		for b = b[end:]; payload > 0; {
			if len(b) < 12 {
				return
			}
			size := uint64(binary.LittleEndian.Uint32(b[4:]))
			if size == 0 || size > payload || size > uint64(len(b)-12) {
				return
			}
			sum := crc32.Update(crc32.Checksum(b[:8], table), table, b[12:12+size])
			binary.LittleEndian.PutUint32(b[8:], sum)
			b, payload = b[12+size:], payload-size
		}
	}
}

// TestStrangeFilesAreRefused says for each what is wrong with it.
func TestStrangeFilesAreRefused(t *testing.T) {
	plainFile, sharded := golden(t, "v1-bloom.golden"), golden(t, "v1-shards.golden")
	parts := frames(sharded)
	change := func(offset int, to byte) []byte {
		b := slices.Clone(plainFile)
		b[offset] = to
		reseal(b)
		return b
	}
	for _, c := range []struct {
		name    string
		content []byte
		target  error
		words   []string
	}{
		{"empty", nil, filter.ErrCorrupt, []string{"truncated"}},
		{"text", []byte("These are the words of a text.\n"), filter.ErrNotFilter, []string{"not a filter file"}},
		{"copied in text mode", bytes.ReplaceAll(plainFile, []byte("\r\n"), []byte("\n")), filter.ErrCorrupt, []string{"text mode"}},
		{"envelope version", change(8, 2), filter.ErrVersion, []string{"envelope version: 2"}},
		{"format version", change(12, 9), filter.ErrVersion, []string{"format version: 9"}},
		{"unknown kind", change(11, 0x7F), filter.ErrKind, []string{"header: kind: 32513, want a kind of this release, at offset 10"}},
		{"hash of an unknown algorithm", change(25, 77), filter.ErrCorrupt, []string{"hash: algorithm: 77, want 0 to 2, at offset 25"}},
		{"hash of another length", change(25, 1), filter.ErrCorrupt, []string{"hash: bytes: 9, want 17 for siphash, at offset 25"}},
		{"trailing byte", append(slices.Clone(plainFile), 0), filter.ErrCorrupt, []string{"more bytes after the last chunk"}},
		{"another file behind", append(slices.Clone(plainFile), plainFile...), filter.ErrCorrupt, []string{"more bytes after the last chunk"}},
		{"last part missing", slices.Concat(parts[0], parts[1]), filter.ErrCorrupt, []string{"truncated"}},
		{"first part missing", slices.Concat(parts[1], parts[2]), filter.ErrCorrupt, []string{"part: 1 of 3, want 0 of 3"}},
		{"parts swapped", slices.Concat(parts[0], parts[2], parts[1]), filter.ErrCorrupt, []string{"part: 2 of 3, want 1 of 3"}},
		{"part twice", slices.Concat(parts[0], parts[1], parts[1], parts[2]), filter.ErrCorrupt, []string{"part: 1 of 3, want 2 of 3"}},
		{"last part twice", slices.Concat(sharded, parts[2]), filter.ErrCorrupt, []string{"more bytes after the last chunk"}},
		{"part of another set", slices.Concat(parts[0], plainFile), filter.ErrCorrupt, []string{"part: 0 of 1, want 1 of 3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := openBytes(t, t.TempDir(), c.content)
			wantError(t, err, c.target, c.words...)
			if bytes.Contains([]byte(err.Error()), secret[:6]) {
				t.Errorf("%q shows the secret", err)
			}
		})
	}
}

// TestErrorsOfFilesAreValues: every reader says in the same way what a file is.
func TestErrorsOfFilesAreValues(t *testing.T) {
	dir := t.TempDir()
	readers := map[string]func(b []byte) error{
		"Open":     func(b []byte) error { _, err := openBytes(t, dir, b); return err },
		"Read":     func(b []byte) error { _, err := Read(bytes.NewReader(b)); return err },
		"Describe": func(b []byte) error { _, err := Describe(bytes.NewReader(b)); return err },
		"bloom":    func(b []byte) error { _, err := bloom.Read(bytes.NewReader(b)); return err },
	}
	newer, kind := golden(t, "v1-bloom.golden"), golden(t, "v1-bloom.golden")
	newer[8]++
	kind[11] = 0x7F
	reseal(kind)
	for _, c := range []struct {
		content      []byte
		target       error
		field, value string
	}{
		{[]byte("a text"), filter.ErrNotFilter, "header: magic", "61 20 74 65 78 74"},
		{newer, filter.ErrVersion, "header: envelope version", "2"},
		{kind, filter.ErrKind, "header: kind", "32513"},
		{newer[:5], filter.ErrCorrupt, "header", "truncated"},
	} {
		for name, read := range readers {
			err := read(c.content)
			var format *filter.FormatError
			if !errors.Is(err, c.target) || !errors.As(err, &format) || format.Field != c.field || format.Value != c.value {
				t.Errorf("%s: %v: %+v, want %s %s", name, err, format, c.field, c.value)
			}
		}
	}
	for err, target := range map[error]error{
		readers["bloom"](golden(t, "v1-blocked.golden")): filter.ErrKind,
		readers["bloom"](golden(t, "v1-shards.golden")):  filter.ErrPart,
	} {
		wantError(t, err, target)
	}
}

// image is a filter's stored form with a chosen stamp.
func image(tb testing.TB, f *bloom.Filter, hash []byte, part, parts uint16) []byte {
	tb.Helper()
	m := f.Snapshot().(*frame.Image)
	m.Stamp(hash, part, parts)
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func mustBloom(tb testing.TB, items uint64) *bloom.Filter {
	tb.Helper()
	f, err := bloom.New(bloom.Config{Items: items})
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

func TestBareFiltersAreRefused(t *testing.T) {
	_, err := openBytes(t, t.TempDir(), image(t, mustBloom(t, 10), nil, 0, 1))
	wantError(t, err, nil, "bare filter without a hash", "own package")
}

// TestPartsOfUnequalShapeAreRefused: merging such a set could fail when half of
// it has been changed.
func TestPartsOfUnequalShapeAreRefused(t *testing.T) {
	hash, _ := filter.Hash{}.MarshalBinary()
	content := slices.Concat(image(t, mustBloom(t, 10), hash, 0, 2), image(t, mustBloom(t, 11), hash, 1, 2))
	_, err := openBytes(t, t.TempDir(), content)
	wantError(t, err, filter.ErrCorrupt, "shape", "want bits=144", "bits=159")
	_, err = Describe(bytes.NewReader(content))
	wantError(t, err, filter.ErrCorrupt, "shape")
}

func TestReadPassesOnErrorsOfTheSource(t *testing.T) {
	cause := errors.New("the network is down")
	b := golden(t, "v1-shards.golden")
	for n := range b {
		_, err := Read(io.MultiReader(bytes.NewReader(b[:n]), failing{cause}))
		wantError(t, err, cause, "everbloom: read: ")
		if errors.Is(err, filter.ErrCorrupt) {
			t.Fatalf("a failing source is taken for a damaged file: %v", err)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// FuzzRead checks that no bytes make a reader panic, and that what is accepted
// can be written and read again. With the checksums made right the fuzzer gets
// behind them.
func FuzzRead(f *testing.F) {
	for name := range goldenNeeds() {
		b := golden(f, name)
		f.Add(b, false)
		f.Add(b[:len(b)-1], true)
	}
	f.Add(image(f, mustBloom(f, 3), nil, 0, 1), true)
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, b []byte, sealed bool) {
		if sealed {
			b = slices.Clone(b)
			reseal(b)
		}
		d, describeErr := Describe(bytes.NewReader(b))
		s, err := Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		if describeErr != nil || d.Shards != len(s.shards) || d.Kind != s.Info().Kind {
			t.Errorf("described as %+v, %v; read as %+v", d, describeErr, s.Info())
		}
		once := stored(t, s)
		again, err := Read(bytes.NewReader(once))
		if err != nil {
			t.Fatalf("what was accepted and written is refused: %v", err)
		}
		if !bytes.Equal(stored(t, again), once) || fmt.Sprint(again.Info()) != fmt.Sprint(s.Info()) {
			t.Error("what was accepted does not survive a file")
		}
		if _, err := s.AddString("a key"); err != nil || !s.MayContainString("a key") {
			t.Errorf("an added key is absent: %v", err)
		}
	})
}
