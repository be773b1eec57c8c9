package frame

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/everbloom-go/everbloom/filter"
)

func TestOpenRefusesOneOfSeveralParts(t *testing.T) {
	data := golden(t, "v1-parts.golden")
	if _, err := Open(bytes.NewReader(data)); !errors.Is(err, filter.ErrPart) || errors.Is(err, filter.ErrCorrupt) {
		t.Errorf("Open: %v", err)
	}
}

// TestPartsAreReadInARow reads as sets do: each part goes through Open again
// and is closed by its reader.
func TestPartsAreReadInARow(t *testing.T) {
	for _, src := range []io.Reader{
		bytes.NewReader(golden(t, "v1-parts.golden")),
		iotest.OneByteReader(bytes.NewReader(golden(t, "v1-parts.golden"))),
	} {
		var words []uint64
		for part, err := range Parts(src) {
			if err != nil {
				t.Fatal(err)
			}
			r, err := Open(part)
			if err != nil {
				t.Fatal(err)
			}
			more, err := r.ReadWords(r.Left()/8, (&heap{}).words)
			if err := errors.Join(err, r.Close()); err != nil {
				t.Fatal(err)
			}
			words = append(words, more...)
		}
		if !slices.Equal(words, sampleWords) {
			t.Errorf("read %x, want %x", words, sampleWords)
		}
	}
}

func TestUnreadPartEndsTheLoop(t *testing.T) {
	var errs []error
	for _, err := range Parts(bytes.NewReader(golden(t, "v1-parts.golden"))) {
		errs = append(errs, err)
	}
	if len(errs) != 2 || errs[0] != nil || !errors.Is(errs[1], filter.ErrCorrupt) {
		t.Errorf("errors of the loop: %v", errs)
	}
}

func TestLoopOverPartsMayBeLeft(t *testing.T) {
	src := bytes.NewReader(golden(t, "v1-parts.golden"))
	for part, err := range Parts(src) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(part); err != nil {
			t.Fatal(err)
		}
		break
	}
	if r, err := openPart(&source{r: src}); err != nil || r.Header().Part != 1 {
		t.Errorf("after part 0 the source goes on with %v, %v", r, err)
	}
}

func TestPartsMustBelongTogether(t *testing.T) {
	for want, change := range map[string]func(images []*Image) []*Image{
		"header: part: 2 of 3, want 1 of 3, at offset 166":            func(m []*Image) []*Image { return append(m[:1], m[2]) },
		"header: part: 1 of 3, want 0 of 3, at offset 16":             func(m []*Image) []*Image { return m[1:] },
		"header: part: 0 of 3, want 1 of 3, at offset 166":            func(m []*Image) []*Image { return []*Image{m[0], m[0]} },
		"header: truncated, at offset 280":                            func(m []*Image) []*Image { return m[:2] },
		"end: more bytes after the last chunk, at offset 454":         func(m []*Image) []*Image { return append(m, m[2]) },
		"header: part: 1 of 4, want 1 of 3, at offset 166":            func(m []*Image) []*Image { m[1].Header.Parts = 4; return m },
		"header: kind: 8, want 7, at offset 160":                      func(m []*Image) []*Image { m[1].Header.Kind = 8; return m },
		"header: kind format version: 4, want 3, at offset 162":       func(m []*Image) []*Image { m[1].Header.Version = 4; return m },
		"header: hash: (9 bytes), want that of part 0, at offset 174": func(m []*Image) []*Image { m[1].Header.Hash = Opaque("123456789"); return m },
	} {
		data := encode(t, change(goldenParts())...)
		_, err := decode(bytes.NewReader(data))
		if !errors.Is(err, filter.ErrCorrupt) || !strings.Contains(err.Error(), want+":") {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
}
