package everbloom

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/filtertest"
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

// TestDamagedFilesAreRefused: every reader says in the same way what a file is.
func TestDamagedFilesAreRefused(t *testing.T) {
	plainFile, parts := golden(t, "v1-bloom.golden"), threeParts(t)
	alter := func(change func(h *frame.Header)) []byte {
		return filtertest.Alter(t, plainFile, func(h *frame.Header, payload []byte) []byte {
			change(h)
			return payload
		})
	}
	newer := slices.Clone(plainFile)
	newer[8]++
	hash := func(first byte) []byte {
		return alter(func(h *frame.Header) { h.Hash = append(frame.Opaque{first}, h.Hash[1:]...) })
	}
	other, _ := filter.SipHash(secret).MarshalBinary()
	for _, c := range []struct {
		name    string
		content []byte
		target  error
		text    string
	}{
		{"empty", nil, filter.ErrCorrupt, "header: truncated"},
		{"text", []byte("a text"), filter.ErrNotFilter, "header: magic: 61 20 74 65 78 74"},
		{"envelope version", newer, filter.ErrVersion, "header: envelope version: 2"},
		{"format version", alter(func(h *frame.Header) { h.Version = 9 }), filter.ErrVersion, "format version: 9"},
		{"unknown kind", alter(func(h *frame.Header) { h.Kind = 32513 }), filter.ErrKind, "header: kind: 32513, want "},
		{"hash of an unknown algorithm", hash(77), filter.ErrCorrupt, "hash: algorithm: 77, want 0 to 2, at offset 25"},
		{"hash of another length", hash(1), filter.ErrCorrupt, "hash: bytes: 9, want 17 for siphash, at offset 25"},
		{"another file behind", append(slices.Clone(plainFile), plainFile...), filter.ErrCorrupt, "more bytes after the last chunk"},
		{"last part missing", slices.Concat(parts[0], parts[1]), filter.ErrCorrupt, "truncated"},
		{"parts swapped", slices.Concat(parts[0], parts[2], parts[1]), filter.ErrCorrupt, "part: 2 of 3, want 1 of 3"},
		// Merging such a set could fail when half of it has been changed.
		{"unequal shapes", slices.Concat(parts[0], image(t, mustBloom(t, 11), other, 1, 3)), filter.ErrCorrupt, "want bits=144"},
	} {
		_, errOpen := openBytes(t, t.TempDir(), c.content)
		_, errRead := Read(bytes.NewReader(c.content))
		_, errDescribe := Describe(bytes.NewReader(c.content))
		if c.name == "another file behind" { // is left in the reader, and not looked at
			errRead, errDescribe = errOpen, errOpen
		}
		if c.name == "format version" { // is the kind's own
			errDescribe = errOpen
		}
		for _, err := range []error{errOpen, errRead, errDescribe} {
			var format *filter.FormatError
			if !errors.Is(err, c.target) || !errors.As(err, &format) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s: %v, want %v: %s", c.name, err, c.target, c.text)
			} else {
				wantNoSecret(t, err.Error())
			}
		}
	}
	for name, target := range map[string]error{"v1-blocked.golden": filter.ErrKind, "v1-shards.golden": filter.ErrPart} {
		_, err := bloom.Read(bytes.NewReader(golden(t, name)))
		wantError(t, err, target)
	}
	_, err := openBytes(t, t.TempDir(), image(t, mustBloom(t, 10), nil, 0, 1))
	wantError(t, err, nil, "bare filter without a hash", "own package")
}

// threeParts returns the parts of a set of three shards.
func threeParts(tb testing.TB) (parts [][]byte) {
	tb.Helper()
	hash, _ := filter.SipHash(secret).MarshalBinary()
	for i := range uint16(3) {
		parts = append(parts, image(tb, mustBloom(tb, 10), hash, i, 3))
	}
	return parts
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

// FuzzRead checks that no bytes make a reader panic, and that what is accepted
// can be written and read again. Those behind right checksums are tried by the kinds.
func FuzzRead(f *testing.F) {
	for name := range goldenNeeds() {
		f.Add(golden(f, name))
	}
	f.Add(image(f, mustBloom(f, 3), nil, 0, 1))
	f.Fuzz(func(t *testing.T, b []byte) {
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
