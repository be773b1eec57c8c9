package packets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gopacket/gopacket/layers"

	"github.com/everbloom-go/everbloom/internal/capture/capturetest"
	"github.com/everbloom-go/everbloom/internal/effort"
)

// record is what a test remembers of a packet.
func record(p Packet) string {
	text := fmt.Appendf(nil, "%d %v", p.Number, p.Src)
	if p.Query {
		text = append(text, " ?"...)
	}
	for _, w := range p.Words {
		text = fmt.Appendf(text, " %08x", w)
	}
	if p.At != 0 && len(p.Words) > 0 {
		text = fmt.Appendf(text, " @%d", p.At)
	}
	if len(p.Payload) > 0 {
		text = fmt.Appendf(text, " %s", p.Payload)
	}
	return string(text)
}

// readAll returns all packets and what ended them.
func readAll(r Reader) (list []string, err error) {
	for {
		var p Packet
		if err := r.Read(&p); err != nil {
			return list, err
		}
		list = append(list, record(p))
	}
}

func mustOpen(t *testing.T, r io.Reader, o Options) Reader {
	t.Helper()
	reader, err := Open(r, o)
	if err != nil {
		t.Fatal(err)
	}
	return reader
}

func want(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func addr(text string) netip.Addr { return netip.MustParseAddr(text) }

func TestBinaryRecordsAreRead(t *testing.T) {
	data := AppendBinary(AppendBinary(nil, addr("1.2.3.4"), 0xdeadbeef), addr("255.0.0.1"), 7)
	records := []string{"1 1.2.3.4 deadbeef", "2 255.0.0.1 00000007"}
	for name, r := range map[string]io.Reader{
		"plain":       bytes.NewReader(data),
		"byte wise":   iotest.OneByteReader(bytes.NewReader(data)),
		"end at once": iotest.DataErrReader(bytes.NewReader(data)),
	} {
		got, err := readAll(mustOpen(t, r, Options{Format: Binary}))
		want(t, name, got, records)
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestManyBinaryRecordsAreRead(t *testing.T) {
	const seed, n = 1, 50_000
	r := rand.New(rand.NewPCG(seed, 0))
	var data []byte
	var words []uint32
	for range n {
		words = append(words, r.Uint32())
		data = AppendBinary(data, netip.AddrFrom4([4]byte{1, 2, 3, 4}), words[len(words)-1])
	}
	b := newBinary(iotest.HalfReader(bytes.NewReader(data)))
	var p Packet
	for i, w := range words {
		if err := b.Read(&p); err != nil || p.Words[0] != w || p.Number != uint64(i+1) {
			t.Fatalf("packet %d: %v, %v", i+1, record(p), err)
		}
	}
	if err := b.Read(&p); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
	if n := testing.AllocsPerRun(1000, func() { b.number, b.i, b.n = 0, 0, 8; _ = b.Read(&p) }); n != 0 {
		t.Errorf("%v allocations per packet", n)
	}
}

func TestTrailingFragmentIsAnErrorWithItsOffset(t *testing.T) {
	for n := 1; n < 8; n++ {
		data := append(AppendBinary(nil, addr("1.2.3.4"), 1), make([]byte, n)...)
		got, err := readAll(mustOpen(t, bytes.NewReader(data), Options{Format: Binary}))
		text := fmt.Sprintf("packets: packet 2 at offset 8: %d bytes, a record has 8: unexpected EOF", n)
		if len(got) != 1 || err == nil || err.Error() != text || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d packets, then %v; want 1, then %s", len(got), err, text)
		}
	}
}

func TestErrorsOfTheSourceAreTold(t *testing.T) {
	broken := errors.New("broken")
	for _, f := range []Format{Binary, Text} {
		start := map[Format]string{Binary: "\x01\x02\x03\x04\x00\x00\x00\x01", Text: "1.2.3.4 00000001\n"}[f]
		r := io.MultiReader(strings.NewReader(start), iotest.ErrReader(broken))
		var err error
		var got []string
		if f == Binary {
			got, err = readAll(newBinary(r))
		} else {
			got, err = readAll(newText(r))
		}
		if len(got) != 1 || !errors.Is(err, broken) || !strings.Contains(err.Error(), "packet 2") {
			t.Errorf("%v: %v, %v", f, got, err)
		}
	}
	if _, err := Open(iotest.ErrReader(broken), Options{}); !errors.Is(err, broken) {
		t.Errorf("at the beginning: %v", err)
	}
}

func TestTextIsRead(t *testing.T) {
	const text = `# a comment
1.2.3.4 deadbeef

? 9.9.9.9   # a query
1.2.3.4	00000000000000000000000000000111
1.2.3.4	 0000002B
2001:db8::1   0000002A
?::ffff:1.2.3.4
1970-01-01T00:00:01.000000002Z 1.2.3.4 00000001 00000002
`
	got, err := readAll(mustOpen(t, strings.NewReader(text), Options{}))
	want(t, "text", got, []string{
		"1 1.2.3.4 deadbeef", "2 9.9.9.9 ?", "3 1.2.3.4 00000007", "4 1.2.3.4 0000002b", "5 2001:db8::1 0000002a", "6 1.2.3.4 ?",
		"7 1.2.3.4 00000001 00000002 @1000000002",
	})
	if !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestTextThatCannotBeReadIsAnErrorWithItsLine(t *testing.T) {
	for text, problem := range map[string]string{
		"1.2.3.4":                             `packet 2, line 3: 1 fields, must be an address and 1 to 4096 words`,
		"1.2.3 deadbeef":                      `packet 2, line 3: address "1.2.3": not an IPv4 or IPv6 address`,
		"1.2.3.4 deadbeefx":                   `9 characters, must be 8 hexadecimal or 32 binary digits`,
		"? 1.2.3.4 deadbeef":                  `address "1.2.3.4 deadbeef"`,
		"?":                                   `address ""`,
		strings.Repeat("1", maxLine+1):        "packet 2, line 3: bufio.Scanner: token too long",
		"1.2.3.4 deadbeef 1":                  `1 characters, must be 8`,
		strings.Repeat("1", 100) + " 1234567": `address "` + strings.Repeat("1", 60) + `": not`,
	} {
		got, err := readAll(newText(strings.NewReader("\n1.1.1.1 12345678\n" + text + "\n")))
		if len(got) != 1 || err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%.30q: %d packets, then %v; want %q", text, len(got), err, problem)
		}
	}
}

func TestTextWrittenIsRead(t *testing.T) {
	data := AppendText(AppendText(nil, addr("1.2.3.4"), 0xabc), addr("2001:db8::2"), 1<<31)
	got, _ := readAll(mustOpen(t, bytes.NewReader(data), Options{}))
	want(t, "text", got, []string{"1 1.2.3.4 00000abc", "2 2001:db8::2 80000000"})
}

// TestFormatIsFoundOut holds that records are never guessed: anything might be some.
func TestFormatIsFoundOut(t *testing.T) {
	for _, c := range []struct {
		start string
		want  Format // empty if it is refused
	}{
		{"", Text},
		{"1.2.3.4 00000001\n", Text},
		{"\t\r\n# x", Text},
		{"\x01\x02\x03\x04\x00\x00\x00\x01", ""},
		{"\x7fELF\x02\x01\x01\x00", ""},
		{"\x28\xb5\x2f\xfd\x04", ""}, // zstd
		{"\xa1\xb2\xc3\xd4", Capture},
		{"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x4d\x3c\x2b\x1a", Capture},
		{"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x00\x00\x00\x00", ""},
		{"\n\r\r\n1.2.3.4 00000001\n", Text},
		{"# caf\u00e9 \u2013 d\u00e9j\u00e0 vu\n", Text},
		{"\ufeff1.2.3.4 00000001\n", Text},
		{"# caf\xe9\n", ""},
		{"# caf\xc3", Text}, // the rest of the letter was not looked at
	} {
		got, err := sniff([]byte(c.start))
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: %v, %v, want %v", c.start, got, err, c.want)
		}
	}
	for _, f := range []Format{Auto, Binary, Text, Capture} {
		if got, err := ParseFormat(string(f)); err != nil || got != f {
			t.Errorf("%v: %v, %v", f, got, err)
		}
	}
	if _, err := ParseFormat("xml"); err == nil || !strings.Contains(err.Error(), `format "xml": take auto, binary, text, capture`) {
		t.Error(err)
	}
	if _, err := Open(strings.NewReader(""), Options{Format: "xml"}); err == nil {
		t.Error("a format that does not exist is opened")
	}
}

func TestByteOrderMarkIsSkipped(t *testing.T) {
	for _, f := range []Format{Auto, Text} {
		got, err := readAll(mustOpen(t, strings.NewReader("\ufeff1.2.3.4 deadbeef # caf\u00e9\n"), Options{Format: f}))
		want(t, string(f), got, []string{"1 1.2.3.4 deadbeef"})
		if !errors.Is(err, io.EOF) {
			t.Errorf("%v: %v", f, err)
		}
	}
}

// TestSlowInputsAreJudgedAsTheyCome has a line, and a capture with one frame, and then
// silence: both are read without waiting for more.
func TestSlowInputsAreJudgedAsTheyCome(t *testing.T) {
	frame := parts(ether(etherIPv4), ip4("1.2.3.4", ipUDP, 0, udp("ABCD")))
	for text, wanted := range map[string]string{
		"1.2.3.4 deadbeef\n": "1 1.2.3.4 deadbeef",
		"?::1\n":             "1 ::1 ?",
		string(capturetest.Pcap(t, layers.LinkTypeEthernet, frame)): "1 1.2.3.4 ABCD",
	} {
		in, out := io.Pipe()
		go func() { _, _ = out.Write([]byte(text)) }()
		var p Packet
		if err := mustOpen(t, in, Options{}).Read(&p); err != nil || record(p) != wanted {
			t.Errorf("%q: %s, %v", text, record(p), err)
		}
		_ = in.Close()
	}
}

func TestListsAreRead(t *testing.T) {
	const text = `# list
1.2.3.4	7

10.0.0.0/8 # private
2001:db8::/32 ; SBL1
; comment
::1
::ffff:1.2.3.5
192.0.2.1-192.0.2.6
0.0.0.0-255.255.255.255
2001:db8::-2001:db8::2
create bad hash:net family inet
add bad 198.51.100.0/24 timeout 300
add bad 198.51.100.7
203.0.113.9,spam,2026
`
	var l List
	if err := l.Read(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, p := range l.All() {
		texts = append(texts, p.String())
	}
	slices.Sort(texts)
	entries := []string{
		"1.2.3.4/32", "10.0.0.0/8", "2001:db8::/32", "::1/128", "1.2.3.5/32", "192.0.2.1/32", "192.0.2.2/31", "192.0.2.4/31", "192.0.2.6/32",
		"0.0.0.0/0", "2001:db8::/127", "2001:db8::2/128", "198.51.100.0/24", "198.51.100.7/32", "203.0.113.9/32",
	}
	slices.Sort(entries)
	want(t, "list", texts, entries)
	if l.Len() != len(entries) {
		t.Errorf("%d entries", l.Len())
	}
	for text, problem := range map[string]string{
		"1.2.3.4\n1.2.3":               `line 2: address "1.2.3"`,
		"1.2.3.4/33":                   `line 1: network "1.2.3.4/33"`,
		"1.2.3.4-1.2.3.3":              "line 1: range 1.2.3.4-1.2.3.3: the first address must come before",
		"1.2.3.4-::1":                  "line 1: range",
		strings.Repeat("x", maxLine+1): "line 1: bufio.Scanner: token too long",
	} {
		if err := new(List).Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%.20q: %v, want %q", text, err, problem)
		}
	}
}

// TestLongListsTakeLittleMemory holds that a line costs no more than its text.
func TestLongListsTakeLittleMemory(t *testing.T) {
	var text []byte
	for i := range 1000 {
		text = fmt.Appendf(text, "10.0.%d.%d # spam\n", i/256, i%256)
	}
	var l List
	if n := testing.AllocsPerRun(5, func() { l = List{}; _ = l.Read(bytes.NewReader(text)) }); n > 1100 || l.Len() != 1000 {
		t.Errorf("%v allocations for %d lines", n, l.Len())
	}
}

// TestDamagedTextIsHarmless changes bytes of lines and lists at random.
func TestDamagedTextIsHarmless(t *testing.T) {
	const text = "2026-11-16T00:00:00Z 1.2.3.4 deadbeef 00000001\n? ::1\n10.0.0.0/8 ; x\n1.1.1.1-1.1.1.9\nadd s 2001:db8::/32 timeout 5\n"
	r := rand.New(rand.NewPCG(4, 0))
	for range effort.PickVariant(500, 3000, 100_000) {
		b := []byte(text)
		for range 1 + r.IntN(5) {
			b[r.IntN(len(b))] = " .:/-?#;\n0fg\xff"[r.IntN(13)]
		}
		var l List
		if err := l.Read(bytes.NewReader(b)); err == nil && l.Len() > 10_000 {
			t.Fatalf("%q: %d entries", b, l.Len())
		}
		_, _ = readAll(newText(bytes.NewReader(b)))
	}
}

// TestListsAreNotMisread has what lists of others may mean: ranges in two ways, two
// addresses, and exceptions.
func TestListsAreNotMisread(t *testing.T) {
	for text, want := range map[string]string{
		"1.1.1.0 - 1.1.1.3":          "[1.1.1.0/30]",
		"1.1.1.0 -1.1.1.3 x":         "[1.1.1.0/30]",
		"1.1.1.1 5 spam":             "[1.1.1.1/32]",
		"add x 1.1.1.0/24 timeout 5": "[1.1.1.0/24]",
		"1.1.1.0\t1.1.1.255\t24":     "line 1: a second address \"1.1.1.255\": write one entry to a line, and a range as a-b",
		"1.1.1.1,2.2.2.2":            "line 1: a second address \"2.2.2.2\": write one entry to a line, and a range as a-b",
		"add x 1.1.1.1 nomatch":      "line 1: nomatch: exceptions are not read: put the entry on the white list",
		"1.1.1.1 -":                  "line 1: address \"\": not an IPv4 or IPv6 address",
	} {
		var l List
		err := l.Read(strings.NewReader(text))
		got := fmt.Sprint(l.All())
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "packets: ")
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
