package frame

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// canonical reports whether all chunks of a valid set are cut as Image does.
func canonical(data []byte, frames []content) bool {
	for _, c := range frames {
		data = data[c.Header.size():]
		for left := len(c.Payload); left > 0; {
			n := int(binary.LittleEndian.Uint32(data[4:]))
			if n != min(left, chunkSize) {
				return false
			}
			left -= n
			data = data[headSize+n:]
		}
	}
	return true
}

// FuzzOpen reads arbitrary bytes as they are and with their checksums renewed.
// Nothing may panic, and what is accepted is written again to the same bytes,
// or to the same content if the chunks were cut in another way.
func FuzzOpen(f *testing.F) {
	for _, m := range append(goldenParts(), &Image{}, sample(wordBytes(sampleWords))) {
		f.Add(encode(f, m))
	}
	f.Add(encode(f, goldenParts()...))
	f.Add(hugeClaim([]byte{0, 0, 0, 0, 1}))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, data := range [][]byte{data, reseal(data)} {
			frames, err := decode(bytes.NewReader(data))
			if err != nil {
				if !known(err) {
					t.Fatalf("strange error: %v", err)
				}
				continue
			}
			if err := writable(frames); err != nil {
				t.Fatal(err)
			}
			var images []*Image
			for _, c := range frames {
				images = append(images, c.image())
			}
			if again := encode(t, images...); canonical(data, frames) != bytes.Equal(again, data) {
				t.Fatalf("read %x, wrote %x", data, again)
			}
		}
	})
}
