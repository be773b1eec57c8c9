package packets

import (
	"errors"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestFramesAreReadLikeTshark compares the source of each frame of the captures here, and of
// those in the folder that EVERBLOOM_DATA names, where tshark is installed.
func TestFramesAreReadLikeTshark(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.pcap*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v: no captures", err)
	}
	if data := os.Getenv("EVERBLOOM_DATA"); data != "" {
		more, err := filepath.Glob(filepath.Join(data, "pcap", "*"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	tool, err := exec.LookPath("tshark")
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	for _, path := range files {
		// Without reassembly every frame has its own source, the outermost first.
		out, err := exec.Command(tool, "-n", "-r", path, "-o", "ip.defragment:FALSE", "-o", "ipv6.defragment:FALSE", "-o", "tcp.desegment_tcp_streams:FALSE",
			"-T", "fields", "-E", "occurrence=f", "-E", "separator=,", "-e", "frame.number", "-e", "ip.src", "-e", "ipv6.src").Output()
		if err != nil {
			t.Errorf("%s: tshark: %v", path, err)
			continue
		}
		for _, problem := range unlike(string(out), sourcesByNumber(t, path)) {
			t.Errorf("%s: %s", path, problem)
		}
	}
}

// unlike compares lines of number, IPv4 source and IPv6 source with the sources of frames. Of
// a frame with both, either may be the outer one.
func unlike(lines string, got map[uint64]netip.Addr) (problems []string) {
	for line := range strings.Lines(lines) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		number, err := strconv.ParseUint(fields[0], 10, 64)
		if err != nil || len(fields) != 3 {
			problems = append(problems, "a line of tshark: "+line)
			continue
		}
		src, ok := got[number]
		delete(got, number)
		if text := src.String(); ok && text != fields[1] && text != fields[2] || !ok && fields[1]+fields[2] != "" {
			problems = append(problems, "frame "+fields[0]+" is from "+text+", want "+fields[1]+" "+fields[2])
		}
	}
	for number, src := range got {
		problems = append(problems, "frame "+strconv.FormatUint(number, 10)+" from "+src.String()+" is not there")
	}
	return problems
}

func TestDifferencesFromTsharkAreFound(t *testing.T) {
	a, b := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("2001:db8::1")
	for lines, want := range map[string]int{
		"1,10.0.0.1,\n2,,2001:db8::1\n3,,\n": 0, "1,10.0.0.1,2001:db8::9\n2,10.9.9.9,2001:db8::1\n": 0,
		"1,10.0.0.2,\n2,,2001:db8::1\n": 1, "1,10.0.0.1,\n": 1, "1,10.0.0.1,\n2,,2001:db8::1\n3,1.1.1.1,\n": 1, "x\n1,10.0.0.1,\n2,,2001:db8::1\n": 1,
	} {
		if got := unlike(lines, map[uint64]netip.Addr{1: a, 2: b}); len(got) != want {
			t.Errorf("%q: %v, want %d", lines, got, want)
		}
	}
}

// sourcesByNumber returns the sources of frames by their numbers.
func sourcesByNumber(t *testing.T, path string) map[uint64]netip.Addr {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := mustOpen(t, file, Options{Segments: true, Format: Capture})
	all := map[uint64]netip.Addr{}
	for p := (Packet{}); ; {
		switch err := r.Read(&p); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Logf("%s: %v", path, err) // as far as it can be read
			return all
		}
		all[p.Number] = p.Src
	}
}
