package live

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gopacket/gopacket/layers"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/capture"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// queue gives frames to a reader of packets.
type queue struct{ frames [][]byte }

func (q *queue) Read(f *capture.Frame) error {
	if len(q.frames) == 0 {
		return io.EOF
	}
	f.Data, f.Link, f.At, f.Number = q.frames[0], layers.LinkTypeEthernet, time.Time{}, 1
	q.frames = q.frames[1:]
	return nil
}

// struck returns the strikes of each source that frames give.
func struck(t *testing.T, frames [][]byte) map[string]int {
	t.Helper()
	list, err := pattern.Compile(spared)
	if err != nil {
		t.Fatal(err)
	}
	e, err := gate.New(gate.Config{Users: 1 << 16, Patterns: list, Strikes: 100, Hash: filter.XXH3(1)})
	if err != nil {
		t.Fatal(err)
	}
	r := packets.NewFrames(&queue{frames}, packets.Options{})
	all := map[string]int{}
	var p packets.Packet
	for r.Read(&p) == nil {
		if v := p.Judge(e); v.Reason == gate.Struck {
			all[p.Src.String()]++
		}
	}
	return all
}

// senders send patterns in pieces, each in one conversation.
type senders struct {
	*rand.Rand
	rest map[string]string // of the pattern that a source is sending
}

// source returns the name of a source: of IPv4, of IPv6, or of IPv4 as IPv6.
func (r *senders) source() string {
	n := r.IntN(300)
	switch {
	case n%4 == 0:
		return fmt.Sprintf("2001:db8:0:%x::%x", n, r.IntN(3))
	case n%9 == 0:
		return fmt.Sprintf("::ffff:10.1.%d.%d", n>>8, n&255+1)
	}
	return fmt.Sprintf("10.1.%d.%d", n>>8, n&255)
}

// frame returns a piece of a pattern, or something else, in a frame of some sort.
func (r *senders) frame(wraps bool) []byte {
	src, piece := r.source(), "clean"[:r.IntN(6)]
	if r.rest[src] == "" && r.IntN(3) == 0 {
		r.rest[src] = string(spared[r.IntN(len(spared))].Bytes)
	}
	if left := r.rest[src]; left != "" && r.IntN(8) > 0 {
		n := 1 + r.IntN(min(3, len(left)))
		piece, r.rest[src] = left[:n], left[n:]
	}
	f, at := frame(src, r.IntN(3), piece), 14
	for binary.BigEndian.Uint16(f[at-2:]) == 0x8100 {
		at += 4
	}
	switch r.IntN(10) {
	case 0, 1, 2, 3, 4:
		return r.change(f, at)
	case 5: // a tunnel
		f = frame(src, 0, "\x08\x00\x00\x00\x00\x00\x00\x00"+string(frame(r.source(), 0, piece)))
		udp := 14 + map[byte]int{4: 20, 6: 40}[f[14]>>4]
		binary.BigEndian.PutUint16(f[udp+2:], 4789)
	case 6:
		if heads := []string{
			"\x88\x47\x00\x00\x11\x40", "\x88\x64\x11\x00\x00\x01\x00\x22\x00\x21", "\x92\x00\x00\x07\x08\x00",
			"\x00\x40\xaa\xaa\x03\x00\x00\x00\x08\x00", "\x86\xdd", "\x08\x00",
		}; wraps {
			return slices.Concat(f[:12], []byte(heads[r.IntN(len(heads))]), f[at:])
		}
	}
	return f
}

// change changes a frame whose IP is at an offset.
func (r *senders) change(f []byte, at int) []byte {
	four := f[at]>>4 == 4
	header, length, protocol := 40, 5, 6
	if four {
		header, length, protocol = 20, 3, 9
	}
	rest := slices.Clone(f[at+header:])
	switch r.IntN(7) {
	case 0: // padding
		return append(f, "/bin/sh/bin/sh"...)
	case 1: // the length of UDP
		f[at+header+5] += byte(r.IntN(3)) - 1
	case 2: // the length of IP
		f[at+length] += byte(r.IntN(3)) - 1
	case 3:
		f[at+protocol] = []byte{6, 1, 58, 17, 136, 132, 50, 0, 60}[r.IntN(9)]
	case 4:
		return f[:len(f)-r.IntN(3)]
	case 5: // a fragment
		if four {
			f[at+6], f[at+7] = []byte{0, 0x20, 0x40, 0x80}[r.IntN(4)], byte(r.IntN(2))
		}
	case 6: // options
		if four {
			f[at] = 0x46
			f[at+length] += 4
			return append(append(f[:at+header], 1, 1, 1, 1), rest...)
		}
		f[at+protocol] = 60
		f[at+length] += 8
		return append(append(f[:at+header], 17, 0, 1, 4, 0, 0, 0, 0), rest...)
	}
	return f
}

// TestTheKernelHidesNoStrike sends random frames, and has those that reach the gate judged: they
// must give the strikes that all of them give.
func TestTheKernelHidesNoStrike(t *testing.T) {
	w := newWire(t)
	clean, strikes := uint64(0), 0
	for seed := range uint64(5) {
		r := &senders{rand.New(rand.NewPCG(seed, 9)), map[string]string{}}
		x := openSparing(t)
		var sent, got [][]byte
		for range 2000 {
			f := r.frame(seed%4 == 0)
			sent = append(sent, f)
			w.send(f)
		}
		end := frame("10.9.9.9", 0, "the end")
		w.send(end)
		x.ring.SetDeadline(time.Now().Add(time.Minute))
		for {
			var f capture.Frame
			if err := x.Read(&f); err != nil {
				t.Fatal(err, x.Counters())
			}
			if slices.Equal(f.Data, end) {
				break
			}
			got = append(got, slices.Clone(f.Data))
		}
		want, have := struck(t, sent), struck(t, got)
		for _, n := range want {
			strikes += n
		}
		if !reflect.DeepEqual(want, have) {
			t.Errorf("seed %d: strikes %v, want %v", seed, have, want)
		}
		clean += x.Counters()[Clean]
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if clean == 0 || strikes == 0 {
		t.Errorf("%d frames are spared, %d strikes", clean, strikes)
	}
}
