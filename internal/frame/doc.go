// Package frame reads and writes the envelope that every stored filter
// travels in: a checked header that says what the file holds, and a payload
// in checked chunks. It keeps the list of kind numbers (kinds.go) and knows
// nothing else about filters: the meaning of the hash bytes and the content of
// the payload belong to the packages above.
//
// # Writing
//
// A kind describes itself with a Header and a function that writes its
// payload; an Image binds the two. The owner of the hash adds it with Stamp.
//
//	image := &frame.Image{
//		Header: frame.Header{
//			Kind:    kind,
//			Version: 1,
//			Shape:   frame.ShapeOf(shape),
//			Payload: 8 * uint64(len(words)),
//		},
//		Payload: func(w io.Writer) error { return frame.WriteWords(w, words) },
//	}
//	_, err := image.WriteTo(file)
//
// Equal images give equal bytes, however the payload function cuts its writes.
//
// # Reading
//
// OpenAs checks the header and stops there; the payload is then read through the
// Reader, and Close says whether the file held what it promised, no less and
// no more. What is wrong is a [filter.FormatError].
//
//	r, shape, err := frame.OpenAs(file, kind, 1, Shape.check)
//	words, err := r.ReadWords(n, alloc)
//	err = r.Close()
//
// A set of several filters is several frames in a row, its parts: see Parts.
// Open refuses them, for a part taken for the whole would be a false
// negative for the keys of the others.
//
// # What a reader may rely on
//
// Bytes are handed out only after their checksum was verified. Nothing is
// allocated on the strength of a claim alone: memory follows the bytes that
// have arrived or that the source is known to hold. The checksums find
// accidents; they do not authenticate, and a file made with intent passes
// them. So every kind checks what it reads as if it came from an enemy.
//
// # Compatibility
//
// Every release reads envelope version 1 as it stands. Numbers of versions,
// kinds and value types are never reused. The format is described above the
// functions that write it (encode.go, chunk.go) and in docs/formats/envelope.md.
package frame
