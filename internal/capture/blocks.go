package capture

import (
	"encoding/binary"
	"fmt"
	"io"
)

// blocks copies a pcapng file, block by block, and checks each: that it is complete, that
// its two lengths agree, and that lengths inside stay within it. It leaves out blocks
// without packets and most options. So a reader that trusts all lengths never leaves a
// block.
//
//	| type 4 | length 4 | body … | length 4 |        whole words, in the section's order
type blocks struct {
	r      io.Reader
	order  binary.ByteOrder
	block  []byte // the rest of the present one
	buffer []byte
	head   [headBytes]byte // here, so that it is not allocated for each
	offset int64           // in the file, of the next block
	err    error
}

// Numbers of blocks.
const (
	blockSection   = 0x0a0d0d0a
	blockInterface = 1
	blockOldPacket = 2
	blockSimple    = 3
	blockPacket    = 6
)

const (
	byteOrderMagic = 0x1a2b3c4d
	headBytes      = 12 // up to the byte order of a section
	minBlock       = 12
	maxBlock       = maxPacket + 1<<16 // the longest packet, with comments
)

func (b *blocks) Read(p []byte) (int, error) {
	for len(b.block) == 0 {
		if b.err == nil {
			b.err = b.next()
		}
		if b.err != nil {
			return 0, b.err
		}
	}
	n := copy(p, b.block)
	b.block = b.block[n:]
	return n, nil
}

// next reads the next block. Nothing is left of one that is left out.
func (b *blocks) next() error {
	head := b.head[:]
	if _, err := io.ReadFull(b.r, head); err != nil {
		return err // io.EOF is the end, between two blocks
	}
	kind := binary.LittleEndian.Uint32(head) // a section's is the same in both orders
	if kind == blockSection {
		if err := b.setOrder(head[8:]); err != nil {
			return err
		}
	}
	if b.order == nil {
		return fmt.Errorf("offset %d: the file does not begin with a section", b.offset)
	}
	kind = b.order.Uint32(head)
	length := b.order.Uint32(head[4:])
	if length < minBlock || length > maxBlock || length%4 != 0 {
		return fmt.Errorf("offset %d: block of %d bytes, must be a multiple of 4, %d to %d", b.offset, length, minBlock, maxBlock)
	}
	if err := b.body(int(length)); err != nil {
		return err
	}
	if err := b.check(kind); err != nil {
		return fmt.Errorf("offset %d: %w", b.offset, err)
	}
	b.offset += int64(length)
	return nil
}

func (b *blocks) setOrder(magic []byte) error {
	switch uint32(byteOrderMagic) {
	case binary.LittleEndian.Uint32(magic):
		b.order = binary.LittleEndian
	case binary.BigEndian.Uint32(magic):
		b.order = binary.BigEndian
	default:
		return fmt.Errorf("offset %d: byte order %x is neither of the two", b.offset, magic)
	}
	return nil
}

// body reads the rest of a block whose head is there.
func (b *blocks) body(length int) error {
	if cap(b.buffer) < length {
		b.buffer = make([]byte, length)
	}
	b.block = b.buffer[:length]
	n := copy(b.block, b.head[:])
	if _, err := io.ReadFull(b.r, b.block[n:]); err != nil {
		b.block = nil
		return unexpected(err)
	}
	return nil
}

// check checks a block and trims it to what a reader needs.
func (b *blocks) check(kind uint32) error {
	block, order := b.block, b.order
	b.block = nil
	length := uint64(len(block))
	if last := uint64(order.Uint32(block[length-4:])); last != length {
		return fmt.Errorf("block of %d bytes says %d at its end", length, last)
	}
	var need uint64 // where the last field that matters ends
	switch kind {
	case blockSection:
		need = 24
	case blockInterface:
		need = 16
		if length >= need+4 { // the reader would allocate what the field announces
			order.PutUint32(block[12:], min(order.Uint32(block[12:]), maxPacket))
			need += optionsBytes(order, block[need:length-4])
		}
	case blockPacket, blockOldPacket:
		need = 28
		if length >= need+4 {
			need += uint64(order.Uint32(block[20:]))
		}
	case blockSimple:
		need = 12
		if length >= need+4 { // the packet may be cut off, and no field tells where
			kept := min(order.Uint32(block[8:]), uint32(length-need-4))
			order.PutUint32(block[8:], kept)
			need += uint64(kept)
		}
	default:
		return nil
	}
	if need+4 > length {
		return fmt.Errorf("block of %d bytes is too short for what is in it, %d", length, need+4)
	}
	b.block = trim(order, block, need)
	return nil
}

// trim cuts a block off at an offset, and puts the length behind.
func trim(order binary.ByteOrder, block []byte, end uint64) []byte {
	end = (end + 3) &^ 3
	block = block[:end+4]
	order.PutUint32(block[4:], uint32(end+4))
	order.PutUint32(block[end:], uint32(end+4))
	return block
}

// optionsBytes returns the length of a list of options by its fields, without the option
// that ends it.
//
//	| code 2 | length 2 | value, padded to whole words |     code 0 is the end
func optionsBytes(order binary.ByteOrder, b []byte) (n uint64) {
	for {
		rest := b[min(n, uint64(len(b))):]
		if len(rest) < 4 || order.Uint16(rest) == 0 {
			return n
		}
		n += 4 + (uint64(order.Uint16(rest[2:]))+3)&^3
	}
}

// unexpected makes an end inside something an error.
func unexpected(err error) error {
	if err == io.EOF { //nolint:errorlint // io.ReadFull returns it bare
		return io.ErrUnexpectedEOF
	}
	return err
}
