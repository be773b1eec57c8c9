package frame

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// The payload follows the header as chunks, and nothing follows the last one
// but the next part's header. An empty payload has no chunks.
//
//	 0  number   4   0, 1, 2 …
//	 4  length   4   bytes: 256 KiB in every chunk but the last; readers take 1 to 1 MiB
//	 8  CRC32C   4   of number, length and bytes
//	12  bytes    …
//
// The number is under the checksum, so chunks that were swapped, dropped or
// repeated are found although each is whole.
const headSize = 12

// chunkSum is the checksum of a chunk with the given head.
func chunkSum(head *[headSize]byte, p []byte) uint32 {
	return crc32.Update(crc32.Checksum(head[:8], castagnoli), castagnoli, p)
}

// chunkWriter cuts a payload of known length into chunks. Where the cuts are
// depends on the length alone, not on the calls of Write. After an error it
// accepts nothing more, so a payload function cannot lose the error.
type chunkWriter struct {
	w    io.Writer
	n    int64  // bytes handed to w
	left uint64 // payload bytes not yet accepted
	next uint32 // number of the chunk being filled
	buf  []byte // its bytes so far
	err  error
	head [headSize]byte
}

func (c *chunkWriter) Write(p []byte) (int, error) {
	if c.err == nil && uint64(len(p)) > c.left {
		c.err = fmt.Errorf("frame: payload: write of %d bytes, %d left of the promised length", len(p), c.left)
	}
	done := 0
	for done < len(p) && c.err == nil {
		done += c.accept(p[done:])
	}
	return done, c.err
}

// accept takes bytes from the front of p, at most up to the chunk's end, and
// returns how many. A chunk that lies whole in p is written from there.
func (c *chunkWriter) accept(p []byte) int {
	size := int(min(chunkSize, c.left+uint64(len(c.buf))))
	n := min(len(p), size-len(c.buf))
	c.left -= uint64(n)
	if n == size {
		c.flush(p[:n])
		return n
	}
	if c.buf == nil {
		c.buf = make([]byte, 0, size)
	}
	c.buf = append(c.buf, p[:n]...)
	if len(c.buf) == size {
		c.flush(c.buf)
		c.buf = c.buf[:0]
	}
	return n
}

// flush writes p as the next chunk.
func (c *chunkWriter) flush(p []byte) {
	binary.LittleEndian.PutUint32(c.head[0:], c.next)
	binary.LittleEndian.PutUint32(c.head[4:], uint32(len(p)))
	binary.LittleEndian.PutUint32(c.head[8:], chunkSum(&c.head, p))
	c.raw(c.head[:])
	c.raw(p)
	c.next++
}

// raw hands p to the underlying writer as it is.
func (c *chunkWriter) raw(p []byte) {
	if c.err != nil {
		return
	}
	n, err := c.w.Write(p)
	c.n += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		c.err = fmt.Errorf("frame: write at offset %d: %w", c.n, err)
	}
}
