package filtertest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
)

// A Codec is the stored form of a kind under test. The tests of a kind then are
//
//	var codec = filtertest.Codec[*bloom.Filter]{
//		Kind:  frame.Bloom,
//		Read:  bloom.Read,
//		Files: os.DirFS("testdata"),
//	}
//
//	func FuzzRead(f *testing.F) { codec.FuzzRead(f) }
//
// and one test each around [Codec.ReadsGolden] and [Codec.Refuses].
type Codec[F filter.Snapshotter] struct {
	// Kind is the number that the kind's files have.
	Kind frame.Kind

	// Read reads back what Snapshot wrote.
	Read func(io.Reader) (F, error)

	// Check says what is wrong inside of a filter. It may be nil: [Codec.Whole] does.
	Check func(F) error

	// Files has the golden files, which were stored once and must be read
	// forever. Their names end in ".golden".
	Files fs.FS
}

// ReadsGolden checks that the named golden file is read, that what it gives
// finds all of the keys and cannot be told from made, and that made is still
// stored as these bytes, by its Image, too, if it has one. It returns what was
// read.
func (c Codec[F]) ReadsGolden(tb testing.TB, name string, made F, keys []filter.Key) F {
	tb.Helper()
	want, err := fs.ReadFile(c.Files, name)
	if err != nil {
		tb.Fatal(err)
	}
	f, err := c.Read(bytes.NewReader(want))
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	check := checker{TB: tb}
	c.wantWhole(tb, f, name)
	check.wantAll(f, keys, name)
	check.wantSame(f, made.Info(), want, name+" was read, and that")
	check.wantImage(made)
	if !bytes.Equal(Stored(tb, made), want) {
		tb.Errorf("%s: the same filter is now stored as other bytes", name)
	}
	return f
}

// FuzzRead lets the fuzzer write files, beginning with the golden ones, and
// checks that each is refused as damage is, or gives a filter that is in order:
// it can be stored, read again with the same result, and used. Since hardly a
// change of bytes passes the checksums, a file that is accepted is then changed
// behind them.
func (c Codec[F]) FuzzRead(f *testing.F) {
	f.Helper()
	for _, b := range c.goldens(f) {
		f.Add(b, uint16(0), uint64(1), int8(0), int8(1))
		f.Add(b, uint16(0), uint64(1), int8(0), int8(-1))
		f.Add(b, uint16(1), uint64(0), int8(1), int8(0))
	}
	f.Fuzz(func(t *testing.T, b []byte, word uint16, flip uint64, keys, bits int8) {
		if c.wantFilterOrRefusal(t, b) {
			c.wantFilterOrRefusal(t, behindChecksums(t, b, int(word), flip, keys, bits))
		}
	})
}

// behindChecksums returns the file with bits of one word of the payload flipped
// and the sums of its summary moved, which may make up for it.
func behindChecksums(tb testing.TB, file []byte, word int, flip uint64, keys, bits int8) []byte {
	tb.Helper()
	return Alter(tb, file, func(h *frame.Header, payload []byte) []byte {
		h.Summary.Keys += uint64(keys)
		h.Summary.SetBits += uint64(bits)
		if words := len(payload) / 8; words > 0 {
			at := payload[word%words*8:]
			binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)^flip)
		}
		return payload
	})
}

// goldens returns the contents of the golden files.
func (c Codec[F]) goldens(tb testing.TB) (files [][]byte) {
	tb.Helper()
	names, err := fs.Glob(c.Files, "*.golden")
	if err != nil || len(names) == 0 {
		tb.Fatalf("there are no golden files: %v", err)
	}
	for _, name := range names {
		b, err := fs.ReadFile(c.Files, name)
		if err != nil {
			tb.Fatal(err)
		}
		files = append(files, b)
	}
	return files
}

// wantFilterOrRefusal reads b, which may be anything, and reports whether it was
// accepted.
func (c Codec[F]) wantFilterOrRefusal(tb testing.TB, b []byte) bool {
	tb.Helper()
	f, err := c.Read(bytes.NewReader(b))
	if err != nil {
		if !isRefusal(err) {
			tb.Errorf("read %x: error %q is none of those that tell of damage", b, err)
		}
		return false
	}
	first := Stored(tb, f)
	again, err := c.Read(bytes.NewReader(first))
	if err != nil {
		tb.Fatalf("accepted %x, wrote %x, refused that: %v", b, first, err)
	}
	if second := Stored(tb, again); !bytes.Equal(first, second) {
		tb.Errorf("wrote %x, read that, and wrote %x", first, second)
	}
	c.Works(tb, f)
	return true
}

// Works checks a filter that came from elsewhere: that it is whole, and that a
// key can be added and deleted as far as the kind allows.
func (c Codec[F]) Works(tb testing.TB, f F) {
	tb.Helper()
	c.wantWhole(tb, f, "read")
	checker{TB: tb}.checkInfo(f.Info())
	switch _, err := f.Add(1); {
	case errors.Is(err, filter.ErrFull) || errors.Is(err, filter.ErrStorage):
	case err != nil:
		tb.Errorf("adding to a filter that was read: %v", err)
	case !f.MayContain(1):
		tb.Error("a filter that was read forgets")
	default:
		err := filter.Delete(f, 1)
		if err != nil && !errors.Is(err, filter.ErrPinned) && !errors.Is(err, errors.ErrUnsupported) {
			tb.Errorf("deleting what was added to a filter that was read: %v", err)
		}
	}
	c.wantWhole(tb, f, "read and used")
}

// Whole says what is wrong inside of f: the reader, which checks all that is stored,
// refuses it, or gives a filter with another Info.
func (c Codec[F]) Whole(f F) error {
	var b bytes.Buffer
	if _, err := f.Snapshot().WriteTo(&b); err != nil {
		return err
	}
	g, err := c.Read(&b)
	if err != nil {
		return err
	}
	if is, read := f.Info(), g.Info(); !reflect.DeepEqual(is, read) {
		return fmt.Errorf("the filter is %+v, read from its stored form it is %+v", is, read)
	}
	return nil
}

// wantWhole checks f by the kind's own Check, or else by [Codec.Whole].
func (c Codec[F]) wantWhole(tb testing.TB, f F, when string) {
	tb.Helper()
	check := c.Check
	if check == nil {
		check = c.Whole
	}
	if err := check(f); err != nil {
		tb.Errorf("%s: %v", when, err)
	}
}

// Stored returns the bytes that f is stored as.
func Stored(tb testing.TB, f filter.Filter) []byte {
	tb.Helper()
	w, err := filter.Snapshot(f)
	if err != nil {
		tb.Fatal(err)
	}
	return checker{TB: tb}.written(w)
}

// KeysOf returns the keys of the words of a text, hashed with the zero Hash: a
// golden file of them holds the hash to account, too.
func KeysOf(text string) []filter.Key {
	var hash filter.Hash
	var keys []filter.Key
	for word := range strings.FieldsSeq(text) {
		keys = append(keys, hash.String(word))
	}
	return keys
}
