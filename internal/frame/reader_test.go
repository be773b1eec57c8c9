package frame

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/everbloom-go/everbloom/filter"
)

// TestOpenTakesTheHeaderOnly and is content with a Reader.
func TestOpenTakesTheHeaderOnly(t *testing.T) {
	data := golden(t, "v1-plain.golden")
	src := bytes.NewReader(data)
	r, err := Open(src)
	if err != nil {
		t.Fatal(err)
	}
	if rest := len(data) - r.Header().size(); src.Len() != rest {
		t.Errorf("%d bytes left in the source, want %d", src.Len(), rest)
	}
	if again, err := Open(r); err != nil || again != r {
		t.Errorf("Open(reader) = %p, %v, want %p", again, err, r)
	}
	data[r.Header().size()-1] ^= 1
	if _, err := Open(bytes.NewReader(data)); err == nil || !strings.HasSuffix(err.Error(), "at offset 126: corrupt") {
		t.Errorf("a damaged header: %v", err)
	}
}

func TestEveryTruncationIsFound(t *testing.T) {
	for _, name := range goldens {
		data := golden(t, name)
		for n := range data {
			for _, r := range []io.Reader{bytes.NewReader(data[:n]), iotest.DataErrReader(bytes.NewReader(data[:n]))} {
				_, err := decode(r)
				if !errors.Is(err, filter.ErrCorrupt) || !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("%s cut to %d bytes: %v", name, n, err)
				}
				if want := "truncated, at offset " + strconv.Itoa(n) + ":"; !strings.Contains(err.Error(), want) {
					t.Fatalf("%s cut to %d bytes: %v, want %q in it", name, n, err, want)
				}
			}
		}
	}
}

func TestErrorsOfTheSourceArePassedOn(t *testing.T) {
	broken := errors.New("broken")
	data := golden(t, "v1-plain.golden")
	for n := range len(data) + 1 {
		_, err := decode(io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) || errors.Is(err, filter.ErrCorrupt) {
			t.Fatalf("failure after %d bytes: %v", n, err)
		}
		if !strings.Contains(err.Error(), "offset "+strconv.Itoa(n)+":") {
			t.Fatalf("failure after %d bytes: %v names another offset", n, err)
		}
	}
}

func TestCloseWantsThePayloadUsed(t *testing.T) {
	for n := range 40 {
		r, err := Open(bytes.NewReader(golden(t, "v1-chunks.golden")))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.ReadFull(make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		if left := r.Left(); left != uint64(40-n) {
			t.Errorf("read %d of 40 bytes: %d left", n, left)
		}
		first, second := r.Close(), r.Close()
		if !errors.Is(first, filter.ErrCorrupt) || !errors.Is(second, first) {
			t.Errorf("read %d of 40 bytes: Close says %v, then %v", n, first, second)
		}
	}
}

func TestErrorsStick(t *testing.T) {
	data := golden(t, "v1-chunks.golden")
	data[len(data)-1] ^= 1
	r, err := Open(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	got, first := io.ReadAll(r)
	if len(got) != 28 || !errors.Is(first, filter.ErrCorrupt) {
		t.Fatalf("read %d bytes, %v, want the 28 of the whole chunks", len(got), first)
	}
	wantText(t, first, "chunk 3: crc32c: fc89bcef, want 0ee23fec, at offset 202: corrupt")
	_, again := r.Read(make([]byte, 1))
	_, words := r.ReadWords(1, (&heap{}).words)
	for name, err := range map[string]error{"Read": again, "ReadWords": words, "Close": r.Close()} {
		if !errors.Is(err, first) {
			t.Errorf("%s: %v, want %v again", name, err, first)
		}
	}
}

func TestTextModeDamageIsRecognised(t *testing.T) {
	data := string(golden(t, "v1-plain.golden"))
	stripped := []byte(data)
	for i := range stripped {
		stripped[i] &= 0x7f
	}
	for name, damaged := range map[string]string{
		"line ends shortened":  strings.ReplaceAll(data, "\r\n", "\n"),
		"line ends lengthened": strings.ReplaceAll(data, "\n", "\r\n"),
		"seven bits":           string(stripped),
		"UTF-8":                strings.ToValidUTF8(data, "\ufffd"),
	} {
		_, err := decode(strings.NewReader(damaged))
		if !errors.Is(err, filter.ErrNotFilter) || !errors.Is(err, filter.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, foreign := range []string{"hi\n", "PK\x03\x04", strings.Repeat("x", 5000)} {
		_, err := decode(strings.NewReader(foreign))
		if !errors.Is(err, filter.ErrNotFilter) || errors.Is(err, filter.ErrCorrupt) {
			t.Errorf("%.8q: %v", foreign, err)
		}
	}
}

// TestErrorsSayWhatIsWrong changes one thing each in a valid file, renews the
// checksums and reads the complaint.
func TestErrorsSayWhatIsWrong(t *testing.T) {
	put8 := func(at int, v byte) func([]byte) []byte { return func(b []byte) []byte { b[at] = v; return b } }
	put32 := func(at int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint32(b[at:], v); return b }
	}
	put64 := func(at int, v uint64) func([]byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint64(b[at:], v); return b }
	}
	for want, change := range map[string]func([]byte) []byte{
		"header: reserved: 5, want 0, at offset 14: corrupt":                                              put8(14, 5),
		"header: part: 1 of 1, want a part below the number of parts, at offset 16: corrupt":              put8(16, 1),
		"header: part: 0 of 0, want a part below the number of parts, at offset 16: corrupt":              put8(18, 0),
		"header: length: 4097, want 78 to 4096, at offset 20: corrupt":                                    put32(20, 4097),
		"header: length: 77, want 78 to 4096, at offset 20: corrupt":                                      put32(20, 77),
		"header: length: 133, want 130, at offset 20: corrupt":                                            longer,
		"header: payload length: bytes: 4, want 8, at offset 118: corrupt":                                shorter,
		"header: hash length: 65, want at most 64, at offset 24: corrupt":                                 put8(24, 65),
		"header: fields of the shape: 33, want at most 32, at offset 34: corrupt":                         put8(34, 33),
		"header: name length: 33, want at most 32, at offset 35: corrupt":                                 put8(35, 33),
		`header: field 0: name: "Bits", want 1 to 32 of a-z and 0-9, at offset 35: corrupt`:               put8(36, 'B'),
		`header: field 0: type: 'x', want 'u' or 'f', at offset 40: corrupt`:                              put8(40, 'x'),
		"header: field 1: name: bits, want another than those before, at offset 49: corrupt":              sameNames,
		"header: field 2: fpr: NaN, want a finite number, at offset 70: corrupt":                          put64(70, 0x7ff8<<48),
		"header: payload length: 1125899906842625, want at most 1125899906842624, at offset 118: corrupt": put64(118, maxPayload+1),
		"chunk 0: number: 3, want 0, at offset 130: corrupt":                                              put32(130, 3),
		"chunk 0: length: 0, want 1 to 40, at offset 134: corrupt":                                        put32(134, 0),
		"chunk 0: length: 4294967295, want 1 to 40, at offset 134: corrupt":                               put32(134, 1<<32-1),
		"end: more bytes after the last chunk, at offset 182: corrupt":                                    func(b []byte) []byte { return append(b, 0) },
		"header: envelope version: 2, want 1, at offset 8: unknown format version":                        put8(8, 2),
		"header: envelope version: 0, want 1, at offset 8: unknown format version":                        put8(8, 0),
		"header: magic: 47 45 56 42 4c 0d 0a 1a, want 89 45 56 42 4c 0d 0a 1a, at offset 0: " +
			"not a filter file, or one copied in text mode: corrupt": put8(0, 'G'),
		"header: magic: 89 45 56 42 47 0d 0a 1a, want 89 45 56 42 4c 0d 0a 1a, at offset 0: not a filter file": put8(4, 'G'),
	} {
		_, err := decode(bytes.NewReader(reseal(change(golden(t, "v1-plain.golden")))))
		wantText(t, err, want)
	}
}

// longer has room in the header for what was not written.
func longer(b []byte) []byte {
	size := binary.LittleEndian.Uint32(b[offLength:])
	b = slices.Insert(b, int(size)-sumSize, 0, 0, 0)
	binary.LittleEndian.PutUint32(b[offLength:], size+3)
	return b
}

// shorter ends the header inside its fields.
func shorter(b []byte) []byte {
	size := binary.LittleEndian.Uint32(b[offLength:])
	b = slices.Delete(b, int(size)-sumSize-4, int(size)-sumSize)
	binary.LittleEndian.PutUint32(b[offLength:], size-4)
	return b
}

// sameNames gives two fields of the shape one name.
func sameNames([]byte) []byte {
	h := sample(nil).Header
	h.Shape[1].Name = h.Shape[0].Name
	return h.appendTo(nil)
}

func wantText(t *testing.T, err error, want string) {
	t.Helper()
	var format *filter.FormatError
	if !errors.As(err, &format) || err.Error() != "filter: "+want {
		t.Errorf("error\n%v, want\n%v", err, want)
	}
}

// TestWrongLengthsAreCorrupt asks for more than the payload has, or less.
func TestWrongLengthsAreCorrupt(t *testing.T) {
	for name, read := range map[string]func(r *Reader) error{
		"payload: bytes: 40, want 41, at offset 130: corrupt": func(r *Reader) error { return r.ReadFull(make([]byte, 41)) },
		"payload: bytes: 40, want 48, at offset 130: corrupt": func(r *Reader) error { return r.ReadWordsInto(make([]uint64, 6)) },
		"payload: bytes: 40, want 32, at offset 130: corrupt": func(r *Reader) error { _, err := r.ReadRest(4, nil); return err },
		"payload: words: 5, want 6, at offset 130: corrupt":   func(r *Reader) error { _, err := r.ReadWords(6, nil); return err },
		"payload: words: 5, want 18446744073709551615, at offset 130: corrupt": func(r *Reader) error {
			_, err := r.ReadWords(1<<64-1, nil)
			return err
		},
		"payload: bytes: 40, want 16, at offset 158: corrupt": func(r *Reader) error {
			return errors.Join(r.ReadWordsInto(make([]uint64, 2)), r.Close())
		},
	} {
		r, err := Open(bytes.NewReader(golden(t, "v1-plain.golden")))
		if err != nil {
			t.Fatal(err)
		}
		wantText(t, read(r), name)
	}
}

// TestSummaryIsCompared with what was read.
func TestSummaryIsCompared(t *testing.T) {
	r, err := Open(bytes.NewReader(golden(t, "v1-empty.golden")))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.CheckSummary(Summary{}); err != nil {
		t.Error(err)
	}
	wantText(t, r.CheckSummary(Summary{SetBits: 1}), "summary: {Keys:0 Capacity:0 SetBits:0 FastBits:0 SlowBits:0}, "+
		"want {Keys:0 Capacity:0 SetBits:1 FastBits:0 SlowBits:0}, at offset 78: corrupt")
}

// TestCloseLooksForTheEndOnce lets the source go on after a successful Close.
func TestCloseLooksForTheEndOnce(t *testing.T) {
	src := bytes.NewBuffer(golden(t, "v1-empty.golden"))
	r, err := Open(src)
	if err != nil {
		t.Fatal(err)
	}
	first := r.Close()
	src.WriteString("more")
	if second := r.Close(); first != nil || second != nil || src.Len() != 4 {
		t.Errorf("Close says %v, then %v, and leaves %d bytes of 4", first, second, src.Len())
	}
}

func TestOpenAsChecksKindVersionAndShape(t *testing.T) {
	type shape struct{ Bits uint64 }
	even := func(s shape) error {
		if s.Bits%2 != 0 {
			return errors.New("odd")
		}
		return nil
	}
	file := func(kind Kind, version uint16, of any) io.Reader {
		return bytes.NewReader(encode(t, &Image{Header: Header{Kind: kind, Version: version, Shape: ShapeOf(of)}}))
	}
	if r, s, err := OpenAs(file(7, 1, shape{8}), 7, 1, even); err != nil || r == nil || s.Bits != 8 {
		t.Errorf("a good frame: %v, %+v, %v", r, s, err)
	}
	for name, c := range map[string]struct {
		src  io.Reader
		want error
		at   string
	}{
		"no frame":      {strings.NewReader("plain text"), filter.ErrNotFilter, "offset 0:"},
		"other kind":    {file(8, 1, shape{8}), filter.ErrKind, "offset 10:"},
		"newer version": {file(7, 2, shape{8}), filter.ErrVersion, "offset 12:"},
		"version 0":     {file(7, 0, shape{8}), filter.ErrVersion, "offset 12:"},
		"other shape":   {file(7, 1, struct{ Blocks uint64 }{8}), filter.ErrCorrupt, "offset 26:"},
		"bad shape":     {file(7, 1, shape{9}), filter.ErrCorrupt, "odd"},
	} {
		if r, _, err := OpenAs(c.src, 7, 1, even); !errors.Is(err, c.want) || r != nil || !strings.Contains(err.Error(), c.at) {
			t.Errorf("%s: %v, %v, want %v", name, r, err, c.want)
		}
	}
}
