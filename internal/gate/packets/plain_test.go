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

	"github.com/everbloom-go/everbloom/internal/capture/capturetest"
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
		"compressed":  bytes.NewReader(capturetest.Gzip(t, data)),
		"end at once": iotest.DataErrReader(bytes.NewReader(data)),
	} {
		got, err := readAll(mustOpen(t, r, Options{}))
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
`
	got, err := readAll(mustOpen(t, strings.NewReader(text), Options{}))
	want(t, "text", got, []string{
		"1 1.2.3.4 deadbeef", "2 9.9.9.9 ?", "3 1.2.3.4 00000007", "4 1.2.3.4 0000002b", "5 2001:db8::1 0000002a", "6 1.2.3.4 ?",
	})
	if !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestTextThatCannotBeReadIsAnErrorWithItsLine(t *testing.T) {
	for text, problem := range map[string]string{
		"1.2.3.4":                             `packet 2, line 3: 1 fields, must be an address and a word`,
		"1.2.3 deadbeef":                      `packet 2, line 3: address "1.2.3": not an IPv4 or IPv6 address`,
		"1.2.3.4 deadbeefx":                   `9 characters, must be 8 hexadecimal or 32 binary digits`,
		"? 1.2.3.4 deadbeef":                  `address "1.2.3.4 deadbeef"`,
		"?":                                   `address ""`,
		strings.Repeat("1", maxLine+1):        "packet 2, line 3: bufio.Scanner: token too long",
		"1.2.3.4 deadbeef 00000001":           `3 fields, must be an address and a word`,
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

func TestFormatIsFoundOut(t *testing.T) {
	for _, c := range []struct {
		start string
		want  Format
	}{
		{"", Text},
		{"1.2.3.4 00000001\n", Text},
		{"\t\r\n# x", Text},
		{"\x01\x02\x03\x04\x00\x00\x00\x01", Binary},
		{"\xa1\xb2\xc3\xd4", Capture},
		{"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x4d\x3c\x2b\x1a", Capture},
		{"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x00\x00\x00\x00", Binary}, // of 10.13.13.10
		{"\n\r\r\n1.2.3.4 00000001\n", Text},
		{"# caf\u00e9 \u2013 d\u00e9j\u00e0 vu\n", Text},
		{"\ufeff1.2.3.4 00000001\n", Text},
		{"# caf\xe9\n", Binary},
		{"# caf\xc3", Binary},
		{strings.Repeat(" ", sniffed-1) + "\xc3", Text}, // the rest of the letter was not looked at
		{"\x7f\x00\x00\x01abcd", Binary},
	} {
		if got := sniff([]byte(c.start)); got != c.want {
			t.Errorf("%q: %v, want %v", c.start, got, c.want)
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

// TestSourcesThatLookLikeSomethingElseAreRead has first sources that are the mark of
// gzip and of pcapng.
func TestSourcesThatLookLikeSomethingElseAreRead(t *testing.T) {
	for src, formats := range map[string][]Format{
		"31.139.9.9": {Auto, Binary}, "31.139.8.255": {Auto, Binary}, "10.13.13.10": {Auto, Binary},
		"31.139.8.0": {Binary}, "161.178.195.212": {Binary}, // nothing but the user can tell
	} {
		data := AppendBinary(AppendBinary(nil, addr(src), 1), addr("1.2.3.4"), 2)
		for _, f := range formats {
			r, err := Open(bytes.NewReader(data), Options{Format: f})
			if err != nil {
				t.Errorf("%s, %v: %v", src, f, err)
				continue
			}
			got, _ := readAll(r)
			want(t, src, got, []string{"1 " + src + " 00000001", "2 1.2.3.4 00000002"})
		}
	}
}

func TestListsAreRead(t *testing.T) {
	got, err := ReadPrefixes(strings.NewReader("# list\n1.2.3.4\t7\n\n10.0.0.0/8 # private\n2001:db8::/32\n::1\n::ffff:1.2.3.5\n"))
	var texts []string
	for _, p := range got {
		texts = append(texts, p.String())
	}
	want(t, "list", texts, []string{"1.2.3.4/32", "10.0.0.0/8", "2001:db8::/32", "::1/128", "1.2.3.5/32"})
	if err != nil {
		t.Error(err)
	}
	for text, problem := range map[string]string{
		"1.2.3.4\n1.2.3":             `line 2: address "1.2.3"`,
		"1.2.3.4/33":                 `line 1: network "1.2.3.4/33"`,
		strings.Repeat("x", maxLine): "line 1: bufio.Scanner: token too long",
	} {
		if _, err := ReadPrefixes(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%.20q: %v, want %q", text, err, problem)
		}
	}
}
