package ebf21

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/capture/capturetest"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
)

// TestTraceIsHeavyTailed looks at the flow sizes: the share of flows with more than
// x packets falls as x^-1.1, so that few flows have most packets.
func TestTraceIsHeavyTailed(t *testing.T) {
	const n = 200_000
	tr := makeTrace(rand.New(rand.NewPCG(seed, 1)), n)
	sizes := map[filter.Key]int{}
	for _, k := range tr.packets {
		sizes[k]++
	}
	flows := tr.flows()
	if len(flows) != len(sizes) || math.Abs(float64(len(flows))-n*newFlow) > 6*math.Sqrt(n*newFlow) {
		t.Errorf("%d flows, want %v", len(flows), n*newFlow)
	}
	above := func(x int) (share float64) {
		for _, size := range sizes {
			if size > x {
				share += 1 / float64(len(sizes))
			}
		}
		return share
	}
	slope := math.Log(above(100)/above(10)) / math.Log(10)
	if slope > -0.9 || slope < -1.3 {
		t.Errorf("the tail falls as x^%.2f", slope)
	}
	largest := 0
	for _, size := range sizes {
		largest = max(largest, size)
	}
	if largest < n/100 {
		t.Errorf("the largest flow has %d packets", largest)
	}
	if !strings.Contains(tr.describe(), "not CAIDA's") {
		t.Error(tr.describe())
	}
}

// TestRepeatedPacketsChangeNothing is what Fig. 9 rests on.
func TestRepeatedPacketsChangeNothing(t *testing.T) {
	tr := makeTrace(rand.New(rand.NewPCG(seed, 2)), 20_000)
	all, err := filled(12, 1, tr.packets)
	once, err2 := filled(12, 1, tr.flows())
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	all.FinishResize()
	once.FinishResize()
	if a, b := all.Info(), once.Info(); a.Keys != b.Keys || a.Fill != b.Fill || a.SlowBits != b.SlowBits {
		t.Errorf("%+v and %+v", a, b)
	}
}

// packet is a UDP packet between two ports.
func packet(t *testing.T, from, to uint16) []byte {
	t.Helper()
	ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: []byte{10, 0, 0, 1}, DstIP: []byte{10, 0, 0, 2}}
	udp := &layers.UDP{SrcPort: layers.UDPPort(from), DstPort: layers.UDPPort(to)}
	if err := udp.SetNetworkLayerForChecksum(ip); err != nil {
		t.Fatal(err)
	}
	buffer := gopacket.NewSerializeBuffer()
	ethernet := &layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: layers.EthernetTypeIPv4}
	if err := gopacket.SerializeLayers(buffer, gopacket.SerializeOptions{FixLengths: true}, ethernet, ip, udp); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

// frames are packets of the given source ports, and one of no protocol that has
// addresses.
func frames(t *testing.T, ports ...uint16) (list [][]byte) {
	t.Helper()
	for _, port := range ports {
		list = append(list, packet(t, port, 53))
	}
	return append(list, make([]byte, 60))
}

// pcap is a file with them.
func pcap(t *testing.T, ports ...uint16) []byte {
	t.Helper()
	return capturetest.Pcap(t, layers.LinkTypeEthernet, frames(t, ports...)...)
}

// folder writes files into a folder with data.
func folder(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, captureFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, captureFolder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCapturesAreReadInOrder(t *testing.T) {
	dir := folder(t, map[string][]byte{
		"b.pcap": pcap(t, 1, 2), "a.pcap.gz": capturetest.Gzip(t, pcap(t, 1, 1, 3)),
		"c.pcapng": capturetest.Pcapng(t, layers.LinkTypeEthernet, frames(t, 4)...),
	})
	tr, err := readCaptures(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.packets) != 6 || len(tr.flows()) != 4 || tr.packets[0] != tr.packets[3] || tr.packets[0] != tr.packets[1] || tr.packets[2] == tr.packets[4] {
		t.Errorf("%x", tr.packets)
	}
	if !strings.Contains(tr.describe(), "3 real captures: 6 packets of 4 flows") {
		t.Error(tr.describe())
	}
	short, err := packetsFor(&lab.Env{Data: dir}, 4)
	if err != nil || len(short.packets) != 4 {
		t.Errorf("%d packets, %v", len(short.packets), err)
	}
}

// TestFlowsAreToldApartByTheirTuples changes one thing at a time.
func TestFlowsAreToldApartByTheirTuples(t *testing.T) {
	ip4 := func(protocol layers.IPProtocol, last byte, payload string) []byte {
		p := make([]byte, 20)
		p[0], p[3], p[9], p[19] = 0x45, byte(20+len(payload)), byte(protocol), last
		return append(p, payload...)
	}
	const ports, others = "\x00\x01\x00\x02", "\x00\x02\x00\x01"
	const udp, tcp = "\x00\x08\x00\x00", "\x00\x00\x00\x00\x00\x00\x00\x00\x50\x00\x00\x00\x00\x00\x00\x00"
	seen := map[filter.Key]string{}
	for name, data := range map[string][]byte{
		"UDP":              ip4(layers.IPProtocolUDP, 1, ports+udp),
		"TCP":              ip4(layers.IPProtocolTCP, 1, ports+tcp),
		"ports exchanged":  ip4(layers.IPProtocolUDP, 1, others+udp),
		"another host":     ip4(layers.IPProtocolUDP, 2, ports+udp),
		"without ports":    ip4(layers.IPProtocolICMPv4, 1, "\x08\x00\x00\x00\x00\x00\x00\x00"),
		"ports, no header": ip4(layers.IPProtocolUDPLite, 2, ports),
	} {
		k, ok := flowKey(data, layers.LinkTypeRaw)
		if !ok || seen[k] != "" {
			t.Errorf("%s: %t, the same as %q", name, ok, seen[k])
		}
		seen[k] = name
	}
	if _, ok := flowKey(make([]byte, 40), layers.LinkTypeRaw); ok {
		t.Error("a flow of no packet")
	}
}

func TestDamagedCapturesAreRefused(t *testing.T) {
	if _, err := readCaptures(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	for name, data := range map[string][]byte{
		"empty.pcap": nil, "short.pcap": {1, 2}, "noise.pcap": bytes.Repeat([]byte{7}, 100), "noise.pcap.gz": bytes.Repeat([]byte{7}, 100),
		"half.pcap.gz": {0x1f, 0x8b, 8},
	} {
		if _, err := readCaptures(folder(t, map[string][]byte{name: data})); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	damaged := pcap(t, 1, 2, 3)
	damaged[24+16+len(packet(t, 1, 53))+8] = 0xff // the second packet is longer than it was
	if _, err := readCaptures(folder(t, map[string][]byte{"x.pcap": damaged})); err == nil || !strings.Contains(err.Error(), "x.pcap: capture: packet 2: ") {
		t.Errorf("damaged: %v", err)
	}
	whole := pcap(t, 1, 2, 3)
	tr, err := readCaptures(folder(t, map[string][]byte{"cut.pcap": whole[:len(whole)-100]}))
	if err != nil || len(tr.packets) != 2 {
		t.Errorf("cut off in a packet: %d packets, %v", len(tr.packets), err)
	}
}

// TestCapturesTakeThePlaceOfTheSeededTrace runs an experiment with them; they begin anew
// where they are too short.
func TestCapturesTakeThePlaceOfTheSeededTrace(t *testing.T) {
	dir := folder(t, map[string][]byte{"a.pcap": pcap(t, 1, 2, 3, 3)})
	tr, err := packetsFor(&lab.Env{Data: dir}, 10)
	if err != nil || len(tr.packets) != 10 || len(tr.flows()) != 3 || tr.packets[9] != tr.packets[1] {
		t.Errorf("%v, %v", tr, err)
	}
	result, err := fig6.Do(t.Context(), &lab.Env{Params: labtest.Replace(fig6.Quick, brief), Seed: seed, Data: dir})
	if err != nil || !strings.Contains(strings.Join(result.Notes, " "), "1 real captures") {
		t.Errorf("%+v, %v", result, err)
	}
	if _, err := packetsFor(&lab.Env{Data: folder(t, map[string][]byte{"a.pcap": pcap(t)})}, 10); err == nil {
		t.Error("captures without addresses are a trace")
	}
}
