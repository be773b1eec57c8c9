package server

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// addr runs the transcripts against a server that runs somewhere else. Its data is lost.
var addr = flag.String("addr", "", "address of another server to run the transcripts against; FLUSHALL is sent to it")

// A client speaks the protocol and shows replies as text.
type client struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

func dial(t *testing.T, addr string) *client {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	return &client{t, conn, bufio.NewReader(conn)}
}

// encode returns a command as an array.
func encode(args ...string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b
}

// do sends a command and returns the reply.
func (c *client) do(args ...string) string {
	c.t.Helper()
	if _, err := c.conn.Write(encode(args...)); err != nil {
		c.t.Fatal(err)
	}
	return c.reply()
}

// reply returns the next reply as text.
func (c *client) reply() string {
	c.t.Helper()
	s, err := readReply(c.r)
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// readReply shows a reply: :1 +OK -ERR "bulk" [array] {map} <set> _ #t ,0.5 ="txt:…".
func readReply(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimSuffix(line, "\r\n")
	if line == "" {
		return "", errors.New("an empty line")
	}
	n, _ := strconv.Atoi(line[1:])
	switch line[0] {
	case '$', '=':
		if n < 0 {
			return "_$", nil
		}
		b := make([]byte, n+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return "", err
		}
		return strings.Trim(line[:1], "$") + strconv.Quote(string(b[:n])), nil
	case '*', '~', '%':
		if n < 0 {
			return "_*", nil
		}
		return readMany(r, line[0], n)
	}
	return line, nil
}

func readMany(r *bufio.Reader, kind byte, n int) (string, error) {
	brackets := map[byte]string{'*': "[]", '~': "<>", '%': "{}"}[kind]
	if kind == '%' {
		n *= 2
	}
	var parts []string
	for range n {
		s, err := readReply(r)
		if err != nil {
			return "", err
		}
		parts = append(parts, s)
	}
	return brackets[:1] + strings.Join(parts, " ") + brackets[1:], nil
}

// match compares a reply with what is expected, in which … stands for any text.
func match(want, got string) bool {
	parts := strings.Split(want, "…")
	if !strings.HasPrefix(got, parts[0]) {
		return false
	}
	got = got[len(parts[0]):]
	for i, p := range parts[1:] {
		if i == len(parts)-2 {
			return strings.HasSuffix(got, p)
		}
		_, rest, ok := strings.Cut(got, p)
		if !ok {
			return false
		}
		got = rest
	}
	return got == ""
}

// TestTranscripts runs the conversations of testdata/transcripts in both versions of the
// protocol. A line > is a command, = the reply in both versions, 2 and 3 in one of them.
func TestTranscripts(t *testing.T) {
	target := *addr
	if target == "" {
		target = start(t, "log", "memory").Addr().String()
	}
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		for _, version := range []string{"2", "3"} {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+version, func(t *testing.T) {
				runTranscript(t, target, file, version)
			})
		}
	}
}

func runTranscript(t *testing.T, target, file, version string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, target)
	c.do("FLUSHALL")
	c.do("HELLO", version)
	reply, number, answered := "", 0, true
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '>':
			if !answered {
				t.Fatalf("%s:%d: a command without a reply in version %s", file, number, version)
			}
			words, err := shellWords(line[1:])
			if err != nil {
				t.Fatalf("%s:%d: %v", file, number, err)
			}
			reply, answered = c.do(words...), false
		case line[0] == '=' || line[:1] == version:
			if answered = true; !match(line[2:], reply) {
				t.Errorf("%s:%d: version %s: %s, want %s", file, number, version, reply, line[2:])
			}
		}
	}
}

// shellWords cuts a line into words; those in double quotes are Go strings.
func shellWords(s string) (words []string, err error) {
	for s = strings.TrimLeft(s, " "); s != ""; s = strings.TrimLeft(s, " ") {
		if s[0] == '"' {
			quoted, err := strconv.QuotedPrefix(s)
			if err != nil {
				return nil, err
			}
			word, _ := strconv.Unquote(quoted)
			words, s = append(words, word), s[len(quoted):]
			continue
		}
		word, rest, _ := strings.Cut(s, " ")
		words, s = append(words, word), rest
	}
	return words, nil
}

// TestProtocol sends bytes and compares bytes.
func TestProtocol(t *testing.T) {
	target := start(t, "log", "memory").Addr().String()
	for _, c := range []struct{ name, send, want string }{
		{"nothing", "*0\r\n*-1\r\n\r\nPING\r\n", "+PONG\r\n"},
		{"pipeline", "PING\r\n*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\nPING\r\n", "+PONG\r\n$2\r\nhi\r\n+PONG\r\n"},
		{"count", "*abc\r\n", "-ERR Protocol error: invalid multibulk length\r\n"},
		{"what came before is answered", "PING\r\nBF.ADD p x\r\n*1\r\n:4\r\n", "+PONG\r\n:1\r\n-ERR Protocol error: expected '$', got ':'\r\n"},
		{"bulk", "*1\r\n$9223372036854775800\r\n", "-ERR Protocol error: invalid bulk length\r\n"},
		{"quotes", "ECHO \"abc\r\n", "-ERR Protocol error: unbalanced quotes in request\r\n"},
		{"a browser", "POST / HTTP/1.1\r\nHost: x\r\n\r\nPING\r\n", ""},
		{"another browser", "Host: x\r\nPING\r\n", ""},
		{"no name", "*1\r\n$0\r\n\r\n", "-ERR unknown command '', with args beginning with: \r\n"},
		{"quit", "PING\r\nQUIT\r\nPING\r\n", "+PONG\r\n+OK\r\n"},
		{"quit behind a write", "BF.ADD p q\r\nQUIT\r\nBF.ADD p r\r\n", ":1\r\n+OK\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := dial(t, target)
			conn.conn.Write([]byte(c.send))
			conn.conn.(*net.TCPConn).CloseWrite()
			got, err := io.ReadAll(conn.conn)
			if string(got) != c.want || err != nil && !bytes.Contains([]byte(err.Error()), []byte("reset")) {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
}
