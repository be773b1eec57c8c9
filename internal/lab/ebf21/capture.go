package ebf21

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/capture"
)

// captureFolder is where captures are in a folder with data.
const captureFolder = "pcap"

// captureFiles are those that are read.
var captureFiles = []string{captureFolder + "/*.pcap", captureFolder + "/*.pcapng", captureFolder + "/*.pcap.gz", captureFolder + "/*.pcapng.gz"}

// readCaptures returns the packets of all captures, one file after the other in
// the order of their names, each by the key of its flow.
func readCaptures(data string) (trace, error) {
	t := trace{name: "captures"}
	var names []string
	for _, pattern := range captureFiles {
		found, err := filepath.Glob(filepath.Join(data, pattern))
		if err != nil {
			return t, fmt.Errorf("ebf21: captures: %w", err)
		}
		names = append(names, found...)
	}
	if len(names) == 0 {
		return t, fmt.Errorf("ebf21: the folder with data has no captures in %s: %w", captureFolder, os.ErrNotExist)
	}
	slices.Sort(names)
	for _, name := range names {
		keys, err := readFile(name)
		if err != nil {
			return t, fmt.Errorf("ebf21: capture %s: %w", filepath.Base(name), err)
		}
		t.packets = append(t.packets, keys...)
	}
	t.name = fmt.Sprintf("%d real captures", len(names))
	return t, nil
}

// readFile returns the keys of the packets that have addresses. A capture that was cut
// off in a packet ends before it.
func readFile(name string) (keys []filter.Key, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	plain, err := capture.Unpack(file)
	if err != nil {
		return nil, err
	}
	frames, err := capture.NewReader(plain)
	var f capture.Frame
	for err == nil {
		if err = frames.Read(&f); err == nil {
			if k, ok := flowKey(f.Data, f.Link); ok {
				keys = append(keys, k)
			}
		}
	}
	if frames != nil && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		return keys, nil
	}
	return nil, err
}

// flowKey hashes the addresses and ports of a packet. One without ports has addresses
// only.
func flowKey(data []byte, link layers.LinkType) (filter.Key, bool) {
	p := gopacket.NewPacket(data, link, gopacket.DecodeOptions{Lazy: true, NoCopy: true})
	net := p.NetworkLayer()
	if net == nil {
		return 0, false
	}
	from, to := net.NetworkFlow().Endpoints()
	tuple := slices.Concat(from.Raw(), to.Raw())
	if t := p.TransportLayer(); t != nil {
		from, to := t.TransportFlow().Endpoints()
		tuple = append(slices.Concat(tuple, from.Raw(), to.Raw()), byte(t.LayerType()))
	}
	return filter.Murmur3(0).Bytes(tuple), true
}
