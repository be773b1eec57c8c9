package frame

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/everbloom-go/everbloom/filter"
)

// allocated returns how many bytes f takes from the heap, freed ones included.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// hugeClaim is a valid header that promises 1 TiB, and the given body.
func hugeClaim(body []byte) []byte {
	h := sample(nil).Header
	h.Payload = 1 << 40
	return append(h.appendTo(nil), body...)
}

// opaque hides everything about a reader but Read.
func opaque(b []byte) io.Reader { return iotest.HalfReader(bytes.NewReader(b)) }

func TestHugeClaimsWithTinyBodiesAllocateLittle(t *testing.T) {
	chunk := encode(t, sample(pattern(100)))[130:]
	longest := []byte{0, 0, 0, 0, 0, 0, 16, 0, 1, 2, 3, 4, 5} // a chunk of 1 MiB, it says
	for name, body := range map[string][]byte{"nothing": nil, "one chunk": chunk, "a head": longest} {
		data := hugeClaim(body)
		for _, src := range []io.Reader{bytes.NewReader(data), opaque(data)} {
			var err error
			n := allocated(func() {
				var r *Reader
				if r, err = Open(src); err == nil {
					_, err = r.ReadWords(1<<37, (&heap{}).words)
				}
			})
			if !errors.Is(err, filter.ErrCorrupt) {
				t.Errorf("%s, %T: %v", name, src, err)
			}
			if n > 32<<10 {
				t.Errorf("%s, %T: %d bytes allocated", name, src, n)
			}
		}
	}
}

func TestKnownLengthIsAllocatedOnce(t *testing.T) {
	const words = 100_000
	data := encode(t, sample(pattern(8*words)))
	name := filepath.Join(t.TempDir(), "frame")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for src, want := range map[io.Reader][]uint64{
		bytes.NewReader(data): {words},
		bytes.NewBuffer(data): {words},
		file:                  {words},
		opaque(data):          {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, words},
	} {
		r, err := Open(src)
		if err != nil {
			t.Fatal(err)
		}
		var h heap
		got, err := r.ReadRest(words, h.words)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(h.asked, want) {
			t.Errorf("%T: asked for %d words, want %d", src, h.asked, want)
		}
		if !bytes.Equal(wordBytes(got), pattern(8*words)) || cap(got) != words {
			t.Errorf("%T: other words, or a capacity of %d", src, cap(got))
		}
	}
}

var errRefused = errors.New("too large")

// refuse is an Alloc that grants 4 KiB.
func refuse(n uint64) ([]uint64, error) {
	if n > firstWords {
		return nil, errRefused
	}
	return make([]uint64, n), nil
}

func TestRefusalWhileGrowingIsPassedOn(t *testing.T) {
	r, err := Open(opaque(encode(t, sample(pattern(8*firstWords+8)))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.ReadWords(firstWords+1, refuse); !errors.Is(err, errRefused) {
		t.Errorf("ReadWords: %v", err)
	}
}

// unseekable is a file of unknown length: a pipe, or one that
// fails to say.
type unseekable struct {
	io.Reader
	mode fs.FileMode
	at   int64
	err  error
}

func (u unseekable) Seek(int64, int) (int64, error) { return u.at, u.err }
func (u unseekable) Stat() (fs.FileInfo, error) {
	info, err := os.Stat("testdata")
	return mode{info, u.mode}, err
}

type mode struct {
	fs.FileInfo
	mode fs.FileMode
}

func (m mode) Mode() fs.FileMode { return m.mode }
func (m mode) Size() int64       { return 1 << 40 }

func TestUnknownLengthIsNotTrusted(t *testing.T) {
	for name, src := range map[string]io.Reader{
		"pipe":         unseekable{mode: fs.ModeNamedPipe},
		"seek fails":   unseekable{err: errRefused},
		"near its end": unseekable{at: 1<<40 - 99},
		"no length":    opaque(nil),
		"empty":        bytes.NewReader(nil),
		"one too few":  bytes.NewReader(make([]byte, 99)),
	} {
		if (&source{r: src}).holds(100) {
			t.Errorf("%s: is said to hold 100 bytes", name)
		}
	}
	for name, src := range map[string]io.Reader{
		"file":  unseekable{},
		"bytes": bytes.NewReader(make([]byte, 100)),
	} {
		if !(&source{r: src}).holds(100) {
			t.Errorf("%s: is not said to hold 100 bytes", name)
		}
	}
}

// TestLargeWordsAreNotCopied: writing takes little memory, and reading that of the
// result.
func TestLargeWordsAreNotCopied(t *testing.T) {
	if _, ok := view(nil); !ok {
		t.Skip("words cannot be viewed as bytes here")
	}
	words := make([]uint64, 1<<17) // four whole chunks
	m := sample(nil)
	m.Header.Payload = 8 * uint64(len(words))
	m.Payload = func(w io.Writer) error { return WriteWords(w, words) }
	var err error
	if n := allocated(func() { _, err = m.WriteTo(io.Discard) }); n > 8<<10 || err != nil {
		t.Errorf("writing: %d bytes allocated, %v", n, err)
	}
	r, err := Open(bytes.NewReader(encode(t, m)))
	if err != nil {
		t.Fatal(err)
	}
	n := allocated(func() { _, err = r.ReadWords(uint64(len(words)), (&heap{}).words) })
	if n > m.Header.Payload+16<<10 || err != nil {
		t.Errorf("reading: %d bytes allocated for %d, %v", n, m.Header.Payload, err)
	}
}

// TestBytesAtHandCount asks for words of which the source no longer holds all,
// since the chunk was read for what stands before them.
func TestBytesAtHandCount(t *testing.T) {
	r, err := Open(bytes.NewReader(encode(t, sample(pattern(8*1000)))))
	if err != nil {
		t.Fatal(err)
	}
	var h heap
	err = r.ReadWordsInto(make([]uint64, 1))
	_, errWords := r.ReadWords(999, h.words)
	if err := errors.Join(err, errWords, r.Close()); err != nil || !slices.Equal(h.asked, []uint64{999}) {
		t.Errorf("asked for %d words, %v", h.asked, err)
	}
}
