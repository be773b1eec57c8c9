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
)

func TestOpenHandsReadersThrough(t *testing.T) {
	r, err := Open(bytes.NewReader(golden(t, "v1-plain.golden")))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Open(r)
	if err != nil || again != r {
		t.Errorf("Open(reader) = %p, %v, want %p", again, err, r)
	}
	if h, err := ReadHeader(r); err != nil || h.Kind != 7 {
		t.Errorf("ReadHeader(reader) = %v, %v", h, err)
	}
}

func TestHeaderIsReadAlone(t *testing.T) {
	data := golden(t, "v1-plain.golden")
	src := bytes.NewReader(data)
	h, err := ReadHeader(src)
	if err != nil {
		t.Fatal(err)
	}
	if rest := len(data) - h.size(); src.Len() != rest {
		t.Errorf("%d bytes left in the source, want %d", src.Len(), rest)
	}
	if _, err := ReadHeader(bytes.NewReader(data[:h.size()])); err != nil {
		t.Errorf("a header without its payload: %v", err)
	}
}

func TestExpectChecksKindAndVersion(t *testing.T) {
	h := Header{Kind: 7, Version: 3}
	for _, c := range []struct {
		kind   Kind
		newest uint16
		want   error
	}{{7, 3, nil}, {7, 4, nil}, {8, 3, ErrKind}, {7, 2, ErrVersion}} {
		if err := h.Expect(c.kind, c.newest); !errors.Is(err, c.want) {
			t.Errorf("Expect(%d, %d) = %v, want %v", c.kind, c.newest, err, c.want)
		}
	}
	if err := (Header{Kind: 7}).Expect(7, 3); !errors.Is(err, ErrVersion) {
		t.Errorf("version 0: %v", err)
	}
}

func TestEveryTruncationIsFound(t *testing.T) {
	for _, name := range []string{"v1-plain.golden", "v1-chunks.golden", "v1-empty.golden", "v1-parts.golden"} {
		data := golden(t, name)
		for n := range data {
			for _, r := range []io.Reader{bytes.NewReader(data[:n]), iotest.DataErrReader(bytes.NewReader(data[:n]))} {
				_, err := decode(r)
				if !errors.Is(err, ErrCorrupt) || !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("%s cut to %d bytes: %v", name, n, err)
				}
				if want := "truncated at offset " + strconv.Itoa(n) + ":"; !strings.Contains(err.Error(), want) {
					t.Fatalf("%s cut to %d bytes: %v, want %q in it", name, n, err, want)
				}
			}
		}
	}
}

func TestTrailingBytesAreFound(t *testing.T) {
	for _, name := range []string{"v1-plain.golden", "v1-empty.golden", "v1-parts.golden"} {
		data := golden(t, name)
		for _, tail := range []string{"\x00", "\n", magic} {
			_, err := decode(strings.NewReader(string(data) + tail))
			want := "trailing bytes after the last chunk, at offset " + strconv.Itoa(len(data)) + ": corrupt"
			if !errors.Is(err, ErrCorrupt) || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s and %q: %v, want %q", name, tail, err, want)
			}
		}
	}
}

func TestErrorsOfTheSourceArePassedOn(t *testing.T) {
	broken := errors.New("broken")
	data := golden(t, "v1-plain.golden")
	for n := range len(data) + 1 {
		_, err := decode(io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) || errors.Is(err, ErrCorrupt) {
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
		if !errors.Is(first, ErrCorrupt) || !errors.Is(second, first) {
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
	if len(got) != 28 || !errors.Is(first, ErrCorrupt) {
		t.Fatalf("read %d bytes, %v, want the 28 of the whole chunks", len(got), first)
	}
	_, again := r.Read(make([]byte, 1))
	_, words := r.ReadWords(1, (&heap{}).words)
	for name, err := range map[string]error{"Read": again, "ReadWords": words, "Close": r.Close()} {
		if !errors.Is(err, first) {
			t.Errorf("%s: %v, want %v again", name, err, first)
		}
	}
}

func TestShortPayloadIsCorrupt(t *testing.T) {
	r, err := Open(bytes.NewReader(golden(t, "v1-plain.golden")))
	if err != nil {
		t.Fatal(err)
	}
	const want = "frame: payload: 41 bytes wanted, limit 40, at offset 130: corrupt"
	if err := r.ReadFull(make([]byte, 41)); !errors.Is(err, ErrCorrupt) || err.Error() != want {
		t.Errorf("%v, want %v", err, want)
	}
}

// TestErrorsSayWhatIsWrong changes one thing each in a valid file, renews the
// checksums and reads the complaint.
func TestErrorsSayWhatIsWrong(t *testing.T) {
	put16, put32, put64 := binary.LittleEndian.PutUint16, binary.LittleEndian.PutUint32, binary.LittleEndian.PutUint64
	for want, change := range map[string]func(b []byte){
		"frame: header: reserved: 5, limit 0, at offset 14: corrupt":                               func(b []byte) { b[14] = 5 },
		"frame: header: part: 1, parts: 1, at offset 16: corrupt":                                  func(b []byte) { b[16] = 1 },
		"frame: header: part: 0, parts: 0, at offset 16: corrupt":                                  func(b []byte) { b[18] = 0 },
		"frame: header: length: 4097, limits 78 and 4096, at offset 20: corrupt":                   func(b []byte) { put32(b[20:], 4097) },
		"frame: header: length: 77, limits 78 and 4096, at offset 20: corrupt":                     func(b []byte) { put32(b[20:], 77) },
		"frame: header: hash length: 65, limit 64, at offset 24: corrupt":                          func(b []byte) { b[24] = 65 },
		"frame: header: fields of the shape: 33, limit 32, at offset 34: corrupt":                  func(b []byte) { b[34] = 33 },
		"frame: header: name length: 33, limit 32, at offset 35: corrupt":                          func(b []byte) { b[35] = 33 },
		`frame: header: field 0: name: "Bits", want 1 to 32 of a-z and 0-9, at offset 35: corrupt`: func(b []byte) { b[36] = 'B' },
		`frame: header: field 0: "bits": type: 'x', want 'u' or 'f', at offset 40: corrupt`:        func(b []byte) { b[40] = 'x' },
		"frame: header: field 2: fpr: NaN, want a finite number, at offset 65: corrupt":            func(b []byte) { put64(b[70:], 0x7ff8<<48) },
		"frame: header: payload length: 1125899906842625, limit 1125899906842624, at offset 118: corrupt": func(b []byte) {
			put64(b[118:], maxPayload+1)
		},
		"frame: chunk 0: number: 3, want 0, at offset 130: corrupt":                   func(b []byte) { put32(b[130:], 3) },
		"frame: chunk 0: length: 0, limits 1 and 40, at offset 134: corrupt":          func(b []byte) { put32(b[134:], 0) },
		"frame: chunk 0: length: 4294967295, limits 1 and 40, at offset 134: corrupt": func(b []byte) { put32(b[134:], 1<<32-1) },
		"frame: header: envelope version: 2, limit 1, at offset 8: unknown version":   func(b []byte) { put16(b[8:], 2) },
		"frame: header: envelope version: 0, limit 1, at offset 8: unknown version":   func(b []byte) { put16(b[8:], 0) },
		"frame: payload: 24 bytes not used of 40, at offset 158: corrupt":             nil,
		"frame: magic: 47 49 46 38 39 61 01 00, want 89 45 56 42 4c 0d 0a 1a, at offset 0: not an everbloom file": func(b []byte) {
			copy(b, "GIF89a\x01\x00")
		},
	} {
		data := golden(t, "v1-plain.golden")
		var err error
		if change == nil {
			err = readTwoWords(data)
		} else {
			change(data)
			_, err = decode(bytes.NewReader(reseal(data)))
		}
		if err == nil || err.Error() != want {
			t.Errorf("error\n%v, want\n%v", err, want)
		}
	}
}

// readTwoWords reads less than there is.
func readTwoWords(data []byte) error {
	r, err := Open(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if err := r.ReadWordsInto(make([]uint64, 2)); err != nil {
		return err
	}
	return r.Close()
}

func TestDamagedChecksumsAreNamed(t *testing.T) {
	for at, want := range map[int]string{
		60:  "frame: header: crc32c: ",
		126: "frame: header: crc32c: ",
		138: "frame: chunk 0: crc32c: ",
		150: "frame: chunk 0: crc32c: ",
	} {
		data := golden(t, "v1-plain.golden")
		data[at] ^= 0x10
		_, err := decode(bytes.NewReader(data))
		if !errors.Is(err, ErrCorrupt) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("byte %d changed: %v, want %q", at, err, want)
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
		if !errors.Is(err, ErrMagic) || !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, foreign := range []string{"hi\n", "PK\x03\x04", strings.Repeat("x", 5000)} {
		_, err := decode(strings.NewReader(foreign))
		if !errors.Is(err, ErrMagic) || errors.Is(err, ErrCorrupt) {
			t.Errorf("%.8q: %v", foreign, err)
		}
	}
}

// TestHeaderIsExactlyAsLongAsItSays has room in the header for what nobody
// wrote, and a header that ends inside its fields.
func TestHeaderIsExactlyAsLongAsItSays(t *testing.T) {
	data := golden(t, "v1-empty.golden")
	longer := slices.Insert(bytes.Clone(data), len(data)-sumSize, 0, 0, 0)
	binary.LittleEndian.PutUint32(longer[offLength:], uint32(len(longer)))
	shorter := bytes.Clone(data)
	shorter[24] = 10
	for want, data := range map[string][]byte{
		"frame: header: length: 3 bytes too many, at offset 74: corrupt":    longer,
		"frame: header: slow bits: 8 bytes, limit 6, at offset 68: corrupt": shorter,
	} {
		if _, err := Open(bytes.NewReader(reseal(data))); err == nil || err.Error() != want {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

func TestFieldNamesAreReadOnce(t *testing.T) {
	h := Header{Shape: Shape{{"k", Uint(1)}, {"k", Uint(2)}}}
	_, err := ReadHeader(bytes.NewReader(h.appendTo(nil)))
	const want = `frame: header: field 1: name: "k" stands twice, at offset 37: corrupt`
	if !errors.Is(err, ErrCorrupt) || err.Error() != want {
		t.Errorf("%v, want %v", err, want)
	}
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
		var b bytes.Buffer
		image := Image{Header: Header{Kind: kind, Version: version, Shape: ShapeOf(of)}}
		if _, err := image.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		return &b
	}
	if r, s, err := OpenAs(file(7, 1, shape{8}), 7, 1, even); err != nil || r == nil || s.Bits != 8 {
		t.Errorf("a good frame: %v, %+v, %v", r, s, err)
	}
	for name, c := range map[string]struct {
		src  io.Reader
		want error
	}{
		"no frame":      {strings.NewReader("plain text"), ErrMagic},
		"other kind":    {file(8, 1, shape{8}), ErrKind},
		"newer version": {file(7, 2, shape{8}), ErrVersion},
		"other shape":   {file(7, 1, struct{ Blocks uint64 }{8}), ErrCorrupt},
		"bad shape":     {file(7, 1, shape{9}), ErrCorrupt},
	} {
		if r, _, err := OpenAs(c.src, 7, 1, even); !errors.Is(err, c.want) || r != nil {
			t.Errorf("%s: %v, %v, want %v", name, r, err, c.want)
		}
	}
}
