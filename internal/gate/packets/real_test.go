package packets

import (
	"errors"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
)

// TestRealCapturesAreReadWithoutError reads captures in the folder that EVERBLOOM_DATA
// names, and compares the number of their sources.
func TestRealCapturesAreReadWithoutError(t *testing.T) {
	data := os.Getenv("EVERBLOOM_DATA")
	if data == "" {
		t.Skip("EVERBLOOM_DATA is not set")
	}
	files, err := filepath.Glob(filepath.Join(data, "pcap", "*.gz"))
	if err != nil || len(files) == 0 {
		t.Skipf("no captures in %s", data)
	}
	sources := map[string]int{
		"zeek-echo-connections.pcap.gz": 1, "zeek-dhcp_flood.pcap.gz": 500, "zeek-igmp-many-sources.pcap.gz": 150,
		"pcpp-example.pcap.gz": 26, "pcpp-example2.pcap.gz": 63, "suricata-defrag-spray-4096src.pcap.gz": 4096,
		"suricata-dhcp-request-flood.pcap.gz": 1, "tcpdump-pim-packet-assortment.pcap.gz": 5,
	}
	for _, path := range files {
		plain := 0
		for _, reassemble := range []bool{false, true} {
			n, v4 := count(t, path, reassemble)
			if !reassemble {
				plain = n
			} else if n != plain {
				t.Errorf("%s: %d packets, %d if reassembled", path, plain, n)
			}
			name := filepath.Base(path)
			if w, ok := sources[name]; ok && len(v4) != w {
				t.Errorf("%s: %d IPv4 sources, want %d", name, len(v4), w)
			}
		}
	}
}

func count(t *testing.T, path string, reassemble bool) (packets int, v4 map[netip.Addr]bool) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := mustOpen(t, file, Options{Segments: !reassemble})
	v4 = map[netip.Addr]bool{}
	for {
		var p Packet
		err := r.Read(&p)
		if errors.Is(err, io.EOF) {
			return packets, v4
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		packets++
		if p.Src.Is4() {
			v4[p.Src] = true
		}
	}
}
