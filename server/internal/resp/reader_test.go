package resp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// readAll returns all commands of a stream as text, and how it ended.
func readAll(src io.Reader, l Limits) (commands []string, err error) {
	r := NewReader(src, l)
	for {
		args, err := r.Next()
		if err != nil {
			return commands, err
		}
		if args != nil {
			commands = append(commands, fmt.Sprintf("%q", args))
			continue
		}
		if err := r.Fill(); err != nil {
			return commands, err
		}
	}
}

func TestReader(t *testing.T) {
	long := strings.Repeat("x", maxLine+1)
	for _, c := range []struct {
		name, stream, commands, err string
		strict                      bool
	}{
		{name: "array", stream: "*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n", commands: `["ECHO" "hi"]`},
		{name: "pipeline", stream: "*1\r\n$1\r\na\r\nPING\r\n*1\r\n$0\r\n\r\n", commands: `["a"] ["PING"] [""]`},
		{name: "nothing", stream: "*0\r\n*-1\r\n*-5\r\n\r\n \r\n\nPING\n", commands: `["PING"]`},
		{name: "binary", stream: "*1\r\n$3\r\n\r\n\x00\r\n", commands: `["\r\n\x00"]`},
		{name: "end not looked at", stream: "*1\r\n$1\r\naXYPING\r\n", commands: `["a"] ["PING"]`},
		{name: "count no number", stream: "*abc\r\n", err: "invalid multibulk length"},
		{name: "count leading zero", stream: "*01\r\n", err: "invalid multibulk length"},
		{name: "count too large", stream: "*2147483648\r\n", err: "invalid multibulk length"},
		{name: "count over the limit", stream: "*1048577\r\n", err: "invalid multibulk length"},
		{name: "count overflows", stream: "*18446744073709551617\r\n", err: "invalid multibulk length"},
		{name: "count of eleven before login", stream: "*11\r\n", err: "unauthenticated multibulk length", strict: true},
		{name: "count too long", stream: "*" + long, err: "too big mbulk count string"},
		{name: "no bulk", stream: "*1\r\n:4\r\n", err: "expected '$', got ':'"},
		{name: "no bulk, no letter", stream: "*1\r\n\r\n", err: "expected '$', got '?'"},
		{name: "bulk negative", stream: "*1\r\n$-1\r\n", err: "invalid bulk length"},
		{name: "bulk no number", stream: "*1\r\n$abc\r\n", err: "invalid bulk length"},
		{name: "bulk over the limit", stream: "*1\r\n$536870913\r\n", err: "invalid bulk length"},
		{name: "bulk overflows to 4", stream: "*1\r\n$18446744073709551620\r\nPING\r\n", err: "invalid bulk length"},
		{name: "bulk near the end of numbers", stream: "*1\r\n$9223372036854775800\r\n", err: "invalid bulk length"},
		{name: "bulk before login", stream: "*1\r\n$16385\r\n", err: "unauthenticated bulk length", strict: true},
		{name: "bulk line too long", stream: "*1\r\n$" + long, err: "too big bulk count string"},
		{name: "bulk without carriage return", stream: "*1\n$4\nPING\n"},
		{name: "inline", stream: "echo  a\tb\r\n", commands: `["echo" "a" "b"]`},
		{name: "inline quotes", stream: `ECHO "a\x41 b" 'a\'b' "" "\n\q\xzz" 'a\n'` + "\r\n", commands: `["ECHO" "aA b" "a'b" "" "\nqxzz" "a\\n"]`},
		{name: "inline open quote", stream: "ECHO \"abc\r\n", err: "unbalanced quotes in request"},
		{name: "inline open single quote", stream: "ECHO 'abc\r\n", err: "unbalanced quotes in request"},
		{name: "inline text behind a quote", stream: "ECHO \"a\"b\r\n", err: "unbalanced quotes in request"},
		{name: "inline too long", stream: long, err: "too big inline request"},
		{name: "inline too long with its end", stream: long + "\n", err: "too big inline request"},
		{name: "inline words before login", stream: "a b c d e f g h i j k\n", err: "unauthenticated multibulk length", strict: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			limits := Standard()
			if c.strict {
				limits = Unauthenticated()
			}
			check := func(src io.Reader) {
				t.Helper()
				got, err := readAll(src, limits)
				if joined := strings.Join(got, " "); joined != c.commands {
					t.Errorf("commands %s, want %s", joined, c.commands)
				}
				var protocol ProtocolError
				if errors.As(err, &protocol) != (c.err != "") || c.err != "" && err.Error() != "Protocol error: "+c.err {
					t.Errorf("error %v, want %q", err, c.err)
				}
			}
			check(strings.NewReader(c.stream))
			check(iotest.OneByteReader(strings.NewReader(c.stream)))
		})
	}
}

// TestReaderTakesMemoryForBytesOnly announces what never comes.
func TestReaderTakesMemoryForBytesOnly(t *testing.T) {
	for _, stream := range []string{"*1048576\r\n", "*2\r\n$536870912\r\n" + strings.Repeat("x", 10_000), "*1048576\r\n" + strings.Repeat("$0\r\n\r\n", 1000)} {
		r := NewReader(strings.NewReader(stream), Standard())
		for {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
			if r.Fill() != nil {
				break
			}
		}
		if len(r.buf) > 4*len(stream)+2*firstBuffer {
			t.Errorf("%d bytes came, the buffer has %d", len(stream), len(r.buf))
		}
	}
}

// TestReaderBoundsCommands sends arguments that are allowed one by one and too much together:
// the one too many is refused before it comes.
func TestReaderBoundsCommands(t *testing.T) {
	limits := Limits{Args: 10, Bulk: 20_000, Command: 50_000}
	argument := "$20000\r\n" + strings.Repeat("x", 20_000) + "\r\n"
	if got, err := readAll(strings.NewReader("*2\r\n"+argument+argument), limits); len(got) != 1 || !errors.Is(err, io.EOF) {
		t.Errorf("%d commands, %v", len(got), err)
	}
	if got, err := readAll(strings.NewReader("*3\r\n"+argument+argument+"$20000\r\n"), limits); len(got) != 0 || !errors.Is(err, errCommand) {
		t.Errorf("%d commands, %v", len(got), err)
	}
}

// TestReaderScansOnce feeds one large command in small pieces: if each piece began anew,
// that would take minutes.
func TestReaderScansOnce(t *testing.T) {
	const args = 100_000
	stream := fmt.Sprintf("*%d\r\n", args) + strings.Repeat("$1\r\nx\r\n", args)
	r := NewReader(&pieces{[]byte(stream), 7}, Standard())
	for {
		got, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if got != nil {
			if len(got) != args || string(got[args-1]) != "x" {
				t.Errorf("%d arguments", len(got))
			}
			break
		}
		if err := r.Fill(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Next(); err != nil {
		t.Error(err)
	}
}

// pieces is a reader that gives n bytes at a time.
type pieces struct {
	b []byte
	n int
}

func (p *pieces) Read(to []byte) (int, error) {
	n := copy(to, p.b[:min(p.n, len(p.b))])
	p.b = p.b[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func TestReaderLetsGoOfLargeBuffers(t *testing.T) {
	big := 4 * keptBuffer
	stream := fmt.Sprintf("*1\r\n$%d\r\n%s\r\nPING\r\n", big, strings.Repeat("x", big))
	r := NewReader(io.MultiReader(strings.NewReader(stream), strings.NewReader("PING\r\n")), Standard())
	for range 3 {
		for {
			args, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if args != nil {
				break
			}
			if err := r.Fill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(r.buf) > keptBuffer {
		t.Errorf("the buffer still has %d bytes", len(r.buf))
	}
}

func TestReadingDoesNotAllocate(t *testing.T) {
	stream := []byte(strings.Repeat("*3\r\n$6\r\nBF.ADD\r\n$1\r\nk\r\n$5\r\nalice\r\n", 60))
	src := bytes.NewReader(stream)
	r := NewReader(src, Standard())
	round := func() {
		src.Reset(stream)
		if err := r.Fill(); err != nil {
			t.Fatal(err)
		}
		for {
			args, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if args == nil {
				return
			}
		}
	}
	round()
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations for 60 commands", n)
	}
}

func TestArgumentsStayUntilFill(t *testing.T) {
	r := NewReader(strings.NewReader("*2\r\n$1\r\na\r\n$1\r\nb\r\n*1\r\n$1\r\nc\r\n*1\r\n$1\r\n"), Standard())
	if err := r.Fill(); err != nil {
		t.Fatal(err)
	}
	first, _ := r.Next()
	second, _ := r.Next()
	if third, err := r.Next(); third != nil || err != nil {
		t.Fatal(third, err)
	}
	if got := fmt.Sprintf("%s %s", first, second); got != "[a b] [c]" {
		t.Error(got)
	}
}

// FuzzReader compares a stream that comes at once with the same in pieces.
func FuzzReader(f *testing.F) {
	for _, s := range []string{
		"*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\nPING\r\n", "*0\r\n*-1\r\n", "*1\r\n$9223372036854775800\r\n",
		"ECHO \"a\\x41\" 'b'\r\n", "*1\r\n:4\r\n", "\r\n\n*1\n$4\nPING\n", "*3\r\n$0\r\n\r\n$1\r\nx\r\n$2\r\n\r\n\r\n",
	} {
		f.Add([]byte(s), uint64(1))
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		limits := Limits{Args: 100, Bulk: 1000, Command: 1 << 20}
		want, wantErr := readAll(bytes.NewReader(stream), limits)
		rng := rand.New(rand.NewPCG(seed, 0))
		for range 3 {
			got, err := readAll(&pieces{stream, 1 + rng.IntN(9)}, limits)
			if fmt.Sprint(got, err) != fmt.Sprint(want, wantErr) {
				t.Fatalf("%q\nin pieces %v %v\nat once %v %v", stream, got, err, want, wantErr)
			}
		}
	})
}

func TestMutatedStreams(t *testing.T) {
	base := []byte("*3\r\n$6\r\nBF.ADD\r\n$1\r\nk\r\n$5\r\nalice\r\nPING \"a\\x41\"\r\n*1\r\n$4\r\nPING\r\n")
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		s := bytes.Clone(base)
		for range 1 + rng.IntN(4) {
			switch i := rng.IntN(len(s)); rng.IntN(3) {
			case 0:
				s[i] = byte(rng.Uint32())
			case 1:
				s[i] = "*$\r\n0123456789-\"'"[rng.IntN(17)]
			default:
				s = append(s[:i], s[min(len(s), i+rng.IntN(5)):]...)
			}
			if len(s) == 0 {
				break
			}
		}
		if _, err := readAll(bytes.NewReader(s), Standard()); err == nil {
			t.Fatal("a stream that does not end")
		}
	}
}

func BenchmarkReader(b *testing.B) {
	stream := []byte(strings.Repeat("*3\r\n$9\r\nBF.EXISTS\r\n$1\r\nk\r\n$12\r\nkey:00012345\r\n", 64))
	src := bytes.NewReader(stream)
	r := NewReader(src, Standard())
	for b.Loop() {
		src.Reset(stream)
		for src.Len() > 0 {
			if err := r.Fill(); err != nil {
				b.Fatal(err)
			}
			for {
				args, err := r.Next()
				if err != nil {
					b.Fatal(err)
				}
				if args == nil {
					break
				}
			}
		}
	}
}
