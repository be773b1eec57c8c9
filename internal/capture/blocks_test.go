package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/layers"
)

// ng writes pcapng blocks by hand, in either byte order.
type ng struct {
	order binary.AppendByteOrder
	bytes.Buffer
}

// block writes a block with a body, padded to whole words.
func (n *ng) block(kind uint32, body ...[]byte) {
	data := bytes.Join(body, nil)
	for len(data)%4 != 0 {
		data = append(data, 0)
	}
	length := uint32(len(data) + 12)
	n.Write(n.order.AppendUint32(n.order.AppendUint32(nil, kind), length))
	n.Write(data)
	n.Write(n.order.AppendUint32(nil, length))
}

func (n *ng) u32(values ...uint32) (out []byte) {
	for _, v := range values {
		out = n.order.AppendUint32(out, v)
	}
	return out
}

func (n *ng) u16(values ...uint16) (out []byte) {
	for _, v := range values {
		out = n.order.AppendUint16(out, v)
	}
	return out
}

// begin writes a section and an interface of raw IP, whose times are in
// milliseconds.
func (n *ng) begin() {
	n.block(blockSection, n.u32(byteOrderMagic), n.u16(1, 0), bytes.Repeat([]byte{0xff}, 8), n.u16(2, 3), []byte("pc\x00\x00"), n.u32(0))
	n.block(blockInterface, n.u16(uint16(layers.LinkTypeRaw), 0), n.u32(1<<31), n.u16(9, 1), []byte{3, 0, 0, 0}, n.u32(0))
}

// packet writes one of an interface.
func (n *ng) packet(link uint32, milliseconds uint64, data string, options ...[]byte) {
	length := uint32(len(data))
	padded := data + strings.Repeat("\x00", (4-len(data)%4)%4)
	n.block(blockPacket, n.u32(link, uint32(milliseconds>>32), uint32(milliseconds), length, length), []byte(padded), bytes.Join(options, nil))
}

var binaryOrders = []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian}

// allSorts has blocks of every kind, some of which a reader may well not know, and
// two sections.
func allSorts(order binary.AppendByteOrder) *ng {
	n := &ng{order: order}
	n.begin()
	n.packet(0, 1_700_000_000_123, "first", n.u16(1, 5), []byte("hello\x00\x00\x00"), n.u16(2, 1), []byte{1, 0, 0, 0}) // flags too short
	n.block(4, n.u16(1, 300), []byte("a name record that is cut off"))
	n.block(0x0bad, []byte("unknown"))
	n.block(blockSimple, n.u32(6), []byte("simple"))
	n.block(blockSimple, n.u32(9000), []byte("cut off when it was captured")) // whole words: nothing says where
	n.block(blockOldPacket, n.u16(0, 0), n.u32(0, 5000, 3, 3), []byte("old"))
	n.block(5, n.u32(0, 0, 0), n.u16(4, 1), []byte{9, 0, 0, 0}) // statistics
	n.begin()
	n.block(blockInterface, n.u16(147, 0), n.u32(0))
	n.packet(1, 0, "of another link")
	n.packet(0, 1_700_000_000_456, "last")
	return n
}

func TestAllSortsOfBlocksAreRead(t *testing.T) {
	for _, order := range binaryOrders {
		r := mustOpen(t, allSorts(order).Bytes())
		var f Frame
		for i, want := range []struct {
			data string
			at   int64 // milliseconds; 0 is no time
			link layers.LinkType
		}{
			{"first", 1_700_000_000_123, layers.LinkTypeRaw},
			{"simple", 0, layers.LinkTypeRaw},
			{"cut off when it was captured", 0, layers.LinkTypeRaw},
			{"old", 5000, layers.LinkTypeRaw},
			{"of another link", -1, 147}, // its clock counts microseconds from 1970
			{"last", 1_700_000_000_456, layers.LinkTypeRaw},
		} {
			if err := r.Read(&f); err != nil {
				t.Fatal(err)
			}
			if string(f.Data) != want.data || f.Link != want.link || f.At.IsZero() != (want.at == 0) || want.at > 0 && f.At.UnixMilli() != want.at {
				t.Errorf("%v, frame %d: %q, link %d at %v, want %+v", order, i+1, f.Data, f.Link, f.At, want)
			}
		}
		if err := r.Read(&f); !errors.Is(err, io.EOF) {
			t.Errorf("%v: %v", order, err)
		}
	}
}

func TestBlocksThatLieAreErrors(t *testing.T) {
	for name, write := range map[string]func(n *ng){
		"options longer than the block": func(n *ng) {
			n.block(blockInterface, n.u16(1, 0), n.u32(0), n.u16(2, 60_000), []byte("x..."))
		},
		"interface without fields":     func(n *ng) { n.block(blockInterface, n.u16(1, 0)) },
		"packet without fields":        func(n *ng) { n.block(blockPacket, n.u32(0, 0)) },
		"simple packet without length": func(n *ng) { n.block(blockSimple) },
		"section without version":      func(n *ng) { n.block(blockSection, n.u32(byteOrderMagic)) },
		"section of another version":   func(n *ng) { n.block(blockSection, n.u32(byteOrderMagic), n.u16(7, 7), make([]byte, 8)) },
		"clock that divides by zero": func(n *ng) {
			n.block(blockSection, n.u32(byteOrderMagic), n.u16(1, 0), make([]byte, 8))
			n.block(blockInterface, n.u16(101, 0), n.u32(0), n.u16(9, 1), []byte{0xff, 0, 0, 0})
			n.packet(0, 1, "frame")
		},
	} {
		for _, order := range binaryOrders {
			n := &ng{order: order}
			n.begin()
			n.packet(0, 1, "frame")
			write(n)
			got, err := readAll(t, mustOpen(t, n.Bytes()))
			if len(got) != 1 || errors.Is(err, io.EOF) || !strings.HasPrefix(err.Error(), "capture: packet 2: ") {
				t.Errorf("%s: %d packets, then %v", name, len(got), err)
			}
		}
	}
	if _, err := open([]byte("\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x00\x00\x00\x00")); err == nil {
		t.Error("a section without byte order is opened")
	}
}

// TestNoMoreIsAllocatedThanABlockMayHave announces an interface of 2 GB packets: the
// reader of packets would trust it.
func TestNoMoreIsAllocatedThanABlockMayHave(t *testing.T) {
	n := &ng{order: binary.LittleEndian}
	n.begin()
	b := &blocks{r: bytes.NewReader(n.Bytes())}
	passed, err := io.ReadAll(b)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(passed, n.u32(blockInterface, 28)) // with its length
	if got := binary.LittleEndian.Uint32(passed[at+12:]); got != maxPacket {
		t.Errorf("packets of %d bytes are announced, want %d", got, maxPacket)
	}
}
