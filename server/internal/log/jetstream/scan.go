package jetstream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrDamaged is matched by errors about files that the engine must not see.
var ErrDamaged = errors.New("damaged log")

// The front of each record of a block, as the engine writes it:
//
//	length 4 | sequence 8 | time 8 | length of the subject 2
const (
	blockHeader = 22
	headersBit  = 1 << 31 // of the length: the message has headers
	erasedBit   = 1 << 63 // of the sequence
	tombBit     = 1 << 62
	maxJump     = 1 << 20
)

// Scan looks at the sequences in all blocks of all streams before the engine does. A flipped
// bit that makes one of them huge would have the engine note every sequence in between as
// missing, until there is no memory left.
func Scan(dir string) error {
	streams, err := filepath.Glob(filepath.Join(dir, "jetstream", "*", "streams", "*", "msgs"))
	if err != nil {
		return err
	}
	for _, stream := range streams {
		if err := scanStream(stream); err != nil {
			return err
		}
	}
	return nil
}

// scanStream looks at the blocks in the folder of a stream.
func scanStream(dir string) error {
	blocks, err := filepath.Glob(filepath.Join(dir, "*.blk"))
	if err != nil {
		return err
	}
	slices.SortFunc(blocks, func(a, b string) int { return blockNumber(a) - blockNumber(b) })
	last := uint64(0)
	for i, path := range blocks {
		if last, err = scanBlock(path, last, i == len(blocks)-1); err != nil {
			return err
		}
	}
	return nil
}

// badLength returns what is wrong with a record whose length cannot be: nothing if it is
// zeros at the end of the newest block.
func badLength(f *os.File, at, length int64, newest bool) error {
	if length == 0 && newest {
		if end, err := zeros(f, at); end || err != nil {
			return err
		}
	}
	return fmt.Errorf("jetstream: %s: record of %d bytes at %d: %w: restore a copy of the folder", f.Name(), length, at, ErrDamaged)
}

// zeros reports whether a file has nothing but zeros from an offset on: a power cut leaves
// them behind when the length of the file is on disk and its bytes are not.
func zeros(f *os.File, at int64) (bool, error) {
	buf := make([]byte, 64<<10)
	for {
		n, err := f.ReadAt(buf, at)
		for _, b := range buf[:n] {
			if b != 0 {
				return false, nil
			}
		}
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		at += int64(n)
	}
}

// blockNumber returns the number that a block is named by.
func blockNumber(path string) int {
	n, _ := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), ".blk")) // others come first
	return n
}

// scanBlock returns the last sequence of a block; that before it was last. What is cut short
// at the end was never acknowledged, nor are zeros at the end of the newest block.
func scanBlock(path string, last uint64, newest bool) (uint64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // it was only read
	var head [blockHeader]byte
	for at := int64(0); ; {
		if _, err := f.ReadAt(head[:], at); err != nil {
			if errors.Is(err, io.EOF) {
				return last, nil
			}
			return 0, err
		}
		length := int64(binary.LittleEndian.Uint32(head[:]) &^ headersBit)
		sequence := binary.LittleEndian.Uint64(head[4:])
		if length < blockHeader || length > 2*maxPayload {
			return last, badLength(f, at, length, newest)
		}
		if sequence&tombBit == 0 {
			n := sequence &^ erasedBit
			if last != 0 && (n > last+maxJump || n+maxJump < last) {
				return 0, fmt.Errorf("jetstream: %s: entry %d at %d follows %d: %w: restore a copy of the folder", path, n, at, last, ErrDamaged)
			}
			last = n
		}
		at += length
	}
}
