package capture

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gopacket/gopacket/layers"

	"github.com/everbloom-go/everbloom/internal/capture/capturetest"
)

// open reads the header of a file.
func open(data []byte) (*Reader, error) {
	plain, err := Unpack(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return NewReader(plain)
}

func mustOpen(t *testing.T, data []byte) *Reader {
	t.Helper()
	r, err := open(data)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// readAll returns what the frames hold, and what ended them. Numbers and data must
// agree at each.
func readAll(t *testing.T, r *Reader) (list []string, err error) {
	t.Helper()
	var f Frame
	for {
		before := f
		if err := r.Read(&f); err != nil {
			if f.Number != before.Number || len(f.Data) != len(before.Data) {
				t.Errorf("an error changed the frame: %+v", f)
			}
			if again := r.Read(&f); again != err { //nolint:errorlint // the very same
				t.Errorf("%v, and then %v", err, again)
			}
			return list, err
		}
		list = append(list, string(f.Data))
		if f.Number != uint64(len(list)) {
			t.Fatalf("frame %d has number %d", len(list), f.Number)
		}
	}
}

var someFrames = [][]byte{[]byte("one"), []byte("a second frame"), []byte("the third, which is longer"), []byte("4444")}

// texts are the frames as readAll returns them.
func texts() (out []string) {
	for _, f := range someFrames {
		out = append(out, string(f))
	}
	return out
}

// files has the frames in both formats.
func files(tb testing.TB) map[string][]byte {
	tb.Helper()
	return map[string][]byte{
		"pcap":   capturetest.Pcap(tb, layers.LinkTypeEthernet, someFrames...),
		"pcapng": capturetest.Pcapng(tb, layers.LinkTypeEthernet, someFrames...),
	}
}

func TestFramesAreRead(t *testing.T) {
	for name, data := range files(t) {
		for form, data := range map[string][]byte{"plain": data, "compressed": capturetest.Gzip(t, data)} {
			r := mustOpen(t, data)
			if link, all := r.Link(); all != (name == "pcap") || all && link != layers.LinkTypeEthernet {
				t.Errorf("%s: link %v for all: %t", name, link, all)
			}
			var f Frame
			for i, frame := range someFrames {
				at := capturetest.Start.Add(time.Duration(i) * time.Second)
				if err := r.Read(&f); err != nil || !bytes.Equal(f.Data, frame) || !f.At.Equal(at) || f.Link != layers.LinkTypeEthernet {
					t.Errorf("%s, %s: %q at %v, link %v, %v", name, form, f.Data, f.At, f.Link, err)
				}
			}
			if err := r.Read(&f); !errors.Is(err, io.EOF) {
				t.Errorf("%s, %s: %v", name, form, err)
			}
		}
	}
}

// TestPcapIsReadInAllItsForms writes headers by hand: times in microseconds or
// nanoseconds, in either byte order.
func TestPcapIsReadInAllItsForms(t *testing.T) {
	const little, big = "\x05\x00\x00\x00", "\x00\x00\x00\x05"
	for _, c := range []struct {
		magic, version, five, zero string
		want                       time.Time
	}{
		{"\xd4\xc3\xb2\xa1", "\x02\x00\x04\x00", little, "", time.Unix(5, 5000)},
		{"\xa1\xb2\xc3\xd4", "\x00\x02\x00\x04", big, "", time.Unix(5, 5000)},
		{"\x4d\x3c\xb2\xa1", "\x02\x00\x04\x00", little, "", time.Unix(5, 5)},
		{"\xa1\xb2\x3c\x4d", "\x00\x02\x00\x04", big, "", time.Unix(5, 5)},
	} {
		header := c.magic + c.version + strings.Repeat("\x00", 8) + c.five + c.five // longest packet and link
		r := mustOpen(t, []byte(header+strings.Repeat(c.five, 4)+"frame"))
		var f Frame
		if err := r.Read(&f); err != nil || string(f.Data) != "frame" || !f.At.Equal(c.want) || f.Link != 5 {
			t.Errorf("%x: %q, %v, link %d, %v", c.magic, f.Data, f.At, f.Link, err)
		}
	}
}

// TestPacketsMayBeLongerThanAnnounced has a file that announces packets of 5 bytes.
func TestPacketsMayBeLongerThanAnnounced(t *testing.T) {
	data := files(t)["pcap"]
	copy(data[16:], "\x05\x00\x00\x00")
	got, err := readAll(t, mustOpen(t, data))
	if !slices.Equal(got, texts()) || !errors.Is(err, io.EOF) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestCutCapturesKeepWhatWasRead cuts captures at every place: what is there as a
// whole is read, and then there is an error that names the packet, unless the cut is
// between two.
func TestCutCapturesKeepWhatWasRead(t *testing.T) {
	for name, data := range files(t) {
		clean := 0
		for n := range data {
			r, err := open(data[:n])
			if err != nil {
				if errors.Is(err, io.EOF) || !strings.HasPrefix(err.Error(), "capture: ") {
					t.Fatalf("%s cut at %d: %v", name, n, err)
				}
				continue
			}
			got, err := readAll(t, r)
			if len(got) > len(someFrames) || !slices.Equal(got, texts()[:len(got)]) {
				t.Fatalf("%s cut at %d: %q", name, n, got)
			}
			if errors.Is(err, io.EOF) {
				clean++
				continue
			}
			number := fmt.Sprintf("capture: packet %d: ", len(got)+1)
			if !strings.HasPrefix(err.Error(), number) || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s cut at %d, after %d packets: %v", name, n, len(got), err)
			}
		}
		// The end of the header, or of the two blocks at the beginning, and of every
		// packet but the last.
		if most := len(someFrames) + 1; clean < len(someFrames) || clean > most {
			t.Errorf("%s: %d cuts were taken for the end, want %d or %d", name, clean, most-1, most)
		}
	}
}

func TestDamagedCapturesAreErrors(t *testing.T) {
	good, goodNG := files(t)["pcap"], files(t)["pcapng"]
	change := func(data []byte, at int, bytes ...byte) []byte {
		data = slices.Clone(data)
		copy(data[at:], bytes)
		return data
	}
	second := bytes.Index(goodNG, someFrames[1]) - 28 // its block
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "the first bytes are not those of a pcap or pcapng file"},
		{"noise", bytes.Repeat([]byte{7}, 100), "the first bytes are not those of a pcap or pcapng file"},
		{"packet longer than any", change(good, 24+8, 0, 0, 0, 0xff), "packet 1: "},
		{"packet longer than it was", change(good, 24+8, 60), "packet 1: capture length exceeds original packet length: 60 > 3"},
		{"strange version", change(good, 4, 9), "Unknown major version 9"},
		{"block longer than any", change(goodNG, second+4, 0, 0, 0, 0xff), "packet 2: offset"},
		{"block of odd length", change(goodNG, second+4, 33), "block of 33 bytes, must be a multiple of 4"},
		{"packet longer than its block", change(goodNG, second+20, 0xff), "too short for what is in it"},
		{"ends that disagree", change(goodNG, second+4, 88), "says"},
		{"strange interface", change(goodNG, second+8, 7), "packet 2: Interface id 7 not present"},
		{"strange order", change(goodNG, 8, 1), "offset 0: byte order"},
	} {
		r, err := open(c.data)
		if err == nil {
			_, err = readAll(t, r)
		}
		if err == nil || !strings.HasPrefix(err.Error(), "capture: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestErrorsOfTheSourceAreTold(t *testing.T) {
	broken := errors.New("broken")
	if _, err := NewReader(bufio.NewReader(iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("at the beginning: %v", err)
	}
	for name, data := range files(t) {
		plain, err := Unpack(io.MultiReader(bytes.NewReader(data), iotest.ErrReader(broken)))
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(plain)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(t, r)
		if len(got) != len(someFrames) || !errors.Is(err, broken) || err.Error() != "capture: packet 5: broken" {
			t.Errorf("%s: %d frames, then %v", name, len(got), err)
		}
	}
}

func TestPanicsAreErrors(t *testing.T) {
	r := &Reader{number: 3} // without a source there is one
	if _, err := readAll(t, r); err == nil || !strings.HasPrefix(err.Error(), "capture: packet 4: damaged: ") {
		t.Error(err)
	}
}

func TestReadingAFrameAllocatesNothing(t *testing.T) {
	frames := slices.Repeat([][]byte{[]byte("a frame like others")}, 1100)
	for name, data := range map[string][]byte{
		"pcap":   capturetest.Pcap(t, layers.LinkTypeRaw, frames...),
		"pcapng": capturetest.Pcapng(t, layers.LinkTypeRaw, frames...),
	} {
		r := mustOpen(t, data)
		var f Frame
		if n := testing.AllocsPerRun(1000, func() { _ = r.Read(&f) }); n != 0 {
			t.Errorf("%s: %v allocations per frame", name, n)
		}
	}
}

// FuzzRead holds that no input makes a reader panic, go on for ever or return a frame
// longer than there are bytes.
func FuzzRead(f *testing.F) {
	for _, data := range files(f) {
		f.Add(data)
		f.Add(capturetest.Gzip(f, data))
	}
	f.Add(capturetest.Pcapng(f, layers.LinkTypeRaw, []byte("frame")))
	f.Add(allSorts(binaryOrders[1]).Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := open(data)
		if err != nil {
			return
		}
		packed := data[0] == 0x1f
		var frame Frame
		for n := 0; r.Read(&frame) == nil; n++ {
			if !packed && (n > len(data) || len(frame.Data) > len(data)) {
				t.Fatalf("frame %d of %d bytes in %d bytes", n, len(frame.Data), len(data))
			}
			if len(frame.Data) > maxPacket {
				t.Fatalf("frame of %d bytes", len(frame.Data))
			}
		}
	})
}
