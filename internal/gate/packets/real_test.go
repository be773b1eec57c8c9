package packets

import (
	"errors"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/everbloom-go/everbloom/internal/capture"
)

// TestRealCapturesAreReadWithoutError goes through the captures of the collection of
// real data, and counts what its description counts.
func TestRealCapturesAreReadWithoutError(t *testing.T) {
	data := os.Getenv("EVERBLOOM_DATA")
	if data == "" {
		t.Skip("EVERBLOOM_DATA does not say where the real data is")
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
			n, words, v4 := count(t, path, reassemble)
			if !reassemble {
				plain = n
			} else if n != plain {
				t.Errorf("%s: %d packets, %d if put together", path, plain, n)
			}
			name := filepath.Base(path)
			if w, ok := sources[name]; ok && len(v4) != w {
				t.Errorf("%s: %d IPv4 sources, want %d", name, len(v4), w)
			}
			t.Logf("%s, reassemble %t: %d packets, %d words, %d IPv4 sources", name, reassemble, n, words, len(v4))
		}
	}
}

func count(t *testing.T, path string, reassemble bool) (packets, words int, v4 map[netip.Addr]bool) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := mustOpen(t, file, Options{Reassemble: reassemble})
	v4 = map[netip.Addr]bool{}
	for {
		var p Packet
		err := r.Read(&p)
		if errors.Is(err, io.EOF) {
			return packets, words, v4
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		packets++
		words += len(p.Words)
		if p.Src.Is4() {
			v4[p.Src] = true
		}
	}
}

// TestRealListsAreRead reads block lists of the collection of real data.
func TestRealListsAreRead(t *testing.T) {
	data := os.Getenv("EVERBLOOM_DATA")
	if data == "" {
		t.Skip("EVERBLOOM_DATA does not say where the real data is")
	}
	file, err := os.Open(filepath.Join(data, "ip", "ipsum.txt.gz"))
	if err != nil {
		t.Skip(err)
	}
	defer file.Close()
	plain, err := capture.Unpack(file)
	if err != nil {
		t.Fatal(err)
	}
	list, err := ReadPrefixes(plain)
	if err != nil || len(list) < 100_000 {
		t.Errorf("%d entries, %v", len(list), err)
	}
}
