package frame

import (
	"bytes"
	"fmt"
	"io"
	"iter"
)

// Parts opens the frames of a set one after the other: one for a plain file,
// several for a set in parts. Each must be read to its end before the loop
// goes on; it is closed then. Parts must come in order, be complete and agree
// on kind, version and hash. The loop ends with the first error.
//
//	for part, err := range frame.Parts(file) {
//		if err != nil {
//			return err
//		}
//		… read part …
//	}
func Parts(r io.Reader) iter.Seq2[*Reader, error] { return parts(&source{r: r}) }

// Prefix is Parts for a reader in which more may follow: it takes the bytes of the
// frames and not one beyond.
func Prefix(r io.Reader) iter.Seq2[*Reader, error] { return parts(&source{r: r, open: true}) }

func parts(src *source) iter.Seq2[*Reader, error] {
	return func(yield func(*Reader, error) bool) {
		var first Header
		for part := uint16(0); ; part++ {
			f, err := nextPart(src, &first, part)
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(f, nil) {
				return
			}
			if err := f.Close(); err != nil {
				yield(nil, err)
				return
			}
			if part+1 == first.Parts {
				return
			}
		}
	}
}

// nextPart opens the given part and compares it with the first, which it
// stores when it meets it.
func nextPart(src *source, first *Header, part uint16) (*Reader, error) {
	start := src.off
	f, err := openPart(src)
	if err != nil {
		return nil, err
	}
	h := f.header
	if part == 0 {
		*first = h
	}
	switch {
	case h.Part != part || h.Parts != first.Parts:
		return nil, corrupt(start+offPart, "header: part", partOf(h.Part, h.Parts), partOf(part, first.Parts))
	case h.Kind != first.Kind:
		return nil, corrupt(start+offKind, "header: kind", h.Kind, first.Kind)
	case h.Version != first.Version:
		return nil, corrupt(start+offFormat, "header: kind format version", h.Version, first.Version)
	case !bytes.Equal(h.Hash, first.Hash):
		return nil, corrupt(start+prefixSize, "header: hash", h.Hash, "that of part 0")
	}
	return f, nil
}

func partOf(part, parts uint16) string { return fmt.Sprintf("%d of %d", part, parts) }
