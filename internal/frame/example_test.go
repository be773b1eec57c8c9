package frame_test

import (
	"bytes"
	"fmt"
	"io"

	"github.com/everbloom-go/everbloom/internal/frame"
)

// A kind writes its geometry and its words, and reads them back.
func Example() {
	type shape struct {
		Bits   uint64
		Hashes int
	}
	words := []uint64{1, 2, 3, 4}
	image := &frame.Image{
		Header: frame.Header{
			Kind:    1,
			Version: 1,
			Shape:   frame.ShapeOf(shape{Bits: 240, Hashes: 5}),
			Summary: frame.Summary{Keys: 22, FastBits: 240},
			Payload: 8 * uint64(len(words)),
		},
		Payload: func(w io.Writer) error { return frame.WriteWords(w, words) },
	}
	var file bytes.Buffer
	if _, err := image.WriteTo(&file); err != nil {
		fmt.Println(err)
		return
	}

	check := func(s shape) error { return nil }
	r, s, err := frame.OpenAs(&file, 1, 1, check)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Header())
	alloc := func(n uint64) ([]uint64, error) { return make([]uint64, n), nil }
	read, err := r.ReadRest((s.Bits+63)/64, alloc)
	fmt.Println(read, err, r.Close())
	// Output:
	// kind 1 version 1 part 0 of 1 hash (0 bytes) shape {bits=240 hashes=5} keys 22 payload 32 bytes
	// [1 2 3 4] <nil> <nil>
}
