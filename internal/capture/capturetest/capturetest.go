// Package capturetest writes capture files for tests.
package capturetest

import (
	"bytes"
	"compress/gzip"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// Start is the time of the first frame. Each one that follows is a second later.
var Start = time.Unix(1_700_000_000, 123_000)

// writer is what both writers of pcapgo have in common.
type writer interface {
	WritePacket(gopacket.CaptureInfo, []byte) error
}

// Pcap returns a pcap file with frames.
func Pcap(tb testing.TB, link layers.LinkType, frames ...[]byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := pcapgo.NewWriter(&b)
	must(tb, w.WriteFileHeader(65535, link))
	write(tb, w, frames)
	return b.Bytes()
}

// Pcapng returns a pcapng file with frames.
func Pcapng(tb testing.TB, link layers.LinkType, frames ...[]byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := pcapgo.NewNgWriter(&b, link)
	must(tb, err)
	write(tb, w, frames)
	must(tb, w.Flush())
	return b.Bytes()
}

func write(tb testing.TB, w writer, frames [][]byte) {
	tb.Helper()
	for i, f := range frames {
		at := Start.Add(time.Duration(i) * time.Second)
		must(tb, w.WritePacket(gopacket.CaptureInfo{Timestamp: at, CaptureLength: len(f), Length: len(f)}, f))
	}
}

// Gzip compresses a file.
func Gzip(tb testing.TB, data []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(data)
	must(tb, err)
	must(tb, z.Close())
	return b.Bytes()
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
