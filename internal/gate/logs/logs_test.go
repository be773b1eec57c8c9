package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/effort"
)

func now() time.Time { return time.Date(2026, 11, 16, 3, 0, 0, 0, time.UTC) }

func parser(t *testing.T, name string) Parser {
	t.Helper()
	p, err := New(name, now)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// show returns what a parser reads of lines, one after the other.
func show(p Parser, lines ...string) string {
	var list []string
	for _, line := range lines {
		var e Entry
		if !p.Parse([]byte(line), &e) {
			list = append(list, "-")
			continue
		}
		at := "?"
		if e.At != 0 {
			at = time.Unix(0, e.At).UTC().Format(time.RFC3339Nano)
		}
		list = append(list, fmt.Sprintf("%v %s %s", e.Src, at, e.Text))
	}
	return strings.Join(list, "\n")
}

// attack has a user whose name looks like the address of another.
const attack = "Nov 16 02:59:59 host sshd[7]: Failed password for invalid user x from 9.9.9.9 port 1 from 1.2.3.4 port 22 ssh2"

func TestLinesAreRead(t *testing.T) {
	for _, c := range []struct{ parser, line, want string }{
		{"sshd", "Dec 10 06:55:46 LabSZ sshd[24200]: Failed password for root from 173.234.31.186 port 38926 ssh2", "173.234.31.186 2025-12-10T06:55:46Z Failed password for root from 173.234.31.186 port 38926 ssh2"},
		{"sshd", "2026-11-16T02:00:00.5+01:00 h sshd-session[1]: Connection closed by invalid user a 2001:db8::1 port 1 [preauth]", "2001:db8::1 2026-11-16T01:00:00.5Z Connection closed by invalid user a 2001:db8::1 port 1 [preauth]"},
		{"sshd", attack, "1.2.3.4 2026-11-16T02:59:59Z " + attack[len("Nov 16 02:59:59 host sshd[7]: "):]},
		{"sshd", "Nov 16 02:59:59 host cron[7]: from 1.2.3.4 port 22", "-"},
		{"sshd", "Nov 16 02:59:59 host sshd[7]: Server listening on 0.0.0.0", "-"},
		{"access", `83.149.9.216 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 203023 "http://x/.env" "curl"`, `83.149.9.216 2015-05-17T10:05:03Z "GET /a HTTP/1.1"`},
		{"access", `1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /\"a HTTP/1.1" 200 1 "x"`, `1.2.3.4 2015-05-17T10:05:03Z "GET /\"a HTTP/1.1"`},
		{"access", `::ffff:1.2.3.4 - u [17/May/2015:10:05:03 -0100] "GET / [x] " 200`, `1.2.3.4 2015-05-17T11:05:03Z "GET / [x] "`},
		{"access", "GET / 1.2.3.4", "-"},
		{"eve", `{"timestamp":"2026-11-16T02:00:00.123456+0000","event_type":"alert","src_ip":"1.2.3.4","alert":{"signature":"ET SCAN"}}`, "1.2.3.4 2026-11-16T02:00:00.123456Z alert ET SCAN"},
		{"eve", `{"event_type":"dns","src_ip":"1.2.3.4"}`, "-"},
		{"eve", `{"event_type":"alert","src_ip":"x"}`, "-"},
		{"zeek", `{"ts":1700000000.5,"id.orig_h":"1.2.3.4","note":"x"}`, `1.2.3.4 2023-11-14T22:13:20.5Z {"ts":1700000000.5,"id.orig_h":"1.2.3.4","note":"x"}`},
		{"zeek", `{"ts":"2026-11-16T02:00:00Z","id.orig_h":"1.2.3.4"}`, `1.2.3.4 2026-11-16T02:00:00Z {"ts":"2026-11-16T02:00:00Z","id.orig_h":"1.2.3.4"}`},
		{"auto", attack, "1.2.3.4 2026-11-16T02:59:59Z " + attack[len("Nov 16 02:59:59 host sshd[7]: "):]},
	} {
		if got := show(parser(t, c.parser), c.line); got != c.want {
			t.Errorf("%s: %s\n%s\nwant\n%s", c.parser, c.line, got, c.want)
		}
	}
	columns := []string{"#separator \\x09", "#fields\tts\tuid\tid.orig_h\tnote", "1700000000.25\tC1\t10.0.0.1\tevil", "short"}
	if got, want := show(parser(t, "zeek"), columns...), "-\n-\n10.0.0.1 2023-11-14T22:13:20.25Z 1700000000.25\tC1\t10.0.0.1\tevil\n-"; got != want {
		t.Errorf("columns: %s", got)
	}
	if _, err := New("xml", now); err == nil || !strings.Contains(err.Error(), "take auto, sshd, access, eve, zeek") {
		t.Error(err)
	}
}

// TestClientsCannotNameOthers has what clients write look like the address of another.
func TestClientsCannotNameOthers(t *testing.T) {
	const head = "Nov 16 02:59:59 host sshd[7]: "
	for message, want := range map[string]string{
		"Received disconnect from 1.2.3.4 port 5:11: bye from 9.9.9.9 port 22 ssh2":                       "1.2.3.4",
		"Received disconnect from 1.2.3.4 port 5:11: Failed password for root from 9.9.9.9 port 22 ssh2":  "1.2.3.4",
		"Received disconnect from 1.2.3.4 port 5:11: bye 9.9.9.9 port 1":                                  "1.2.3.4",
		"Invalid user a from 9.9.9.9 port 22 from 1.2.3.4 port 5":                                         "1.2.3.4",
		"Failed password for invalid user a from 9.9.9.9 port 2 ssh2: RSA x from 1.2.3.4 port 5 ssh2":     "1.2.3.4",
		"Failed publickey for root from 1.2.3.4 port 5 ssh2: ED25519 SHA256:9.9.9.9":                      "1.2.3.4",
		"Connection closed by invalid user a 9.9.9.9 port 22 [preauth] 1.2.3.4 port 5 [preauth]":          "1.2.3.4",
		"Bad protocol version identification 'x' from 9.9.9.9 port 1' from 1.2.3.4 port 5":                "1.2.3.4",
		"Unable to negotiate with 1.2.3.4 port 5: no method. Their offer: from 9.9.9.9 port 22 [preauth]": "1.2.3.4",
		"message repeated 2 times: [ Failed password for root from 1.2.3.4 port 5 ssh2]":                  "1.2.3.4",
		"Disconnecting user a 9.9.9.9 port 22: Change of username not allowed 8.8.8.8 port 2":             "-",
		"input_userauth_request: invalid user a from 9.9.9.9 port 22 [preauth]":                           "-",
	} {
		if got, _, _ := strings.Cut(show(parser(t, "sshd"), head+message), " "); got != want {
			t.Errorf("%s: %s, want %s", message, got, want)
		}
	}
	for _, line := range []string{
		"Nov 16 02:59:59 host app[7]: sshd[7]: Failed password for root from 9.9.9.9 port 22 ssh2",
		"Nov 16 02:59:59 sshd app[7]: Failed password for root from 9.9.9.9 port 22 ssh2",
		"x sshd[7]: Failed password for root from 9.9.9.9 port 22 ssh2",
	} {
		if got := show(parser(t, "sshd"), line); got != "-" {
			t.Errorf("%s: %s", line, got)
		}
	}
}

// TestAnAttemptIsOneStrike counts the lines with patterns of an attempt of a user that does
// not exist: with a password, with a key only, and of a second connection.
func TestAnAttemptIsOneStrike(t *testing.T) {
	const head = "Nov 16 02:59:59 host sshd[7]: "
	a, err := pattern.Compile(Patterns("sshd"))
	if err != nil {
		t.Fatal(err)
	}
	find, err := a.Stream()
	if err != nil {
		t.Fatal(err)
	}
	p, strikes := parser(t, "sshd"), 0
	for _, message := range []string{
		"Invalid user a from 1.2.3.4 port 5",
		"Failed password for invalid user a from 1.2.3.4 port 5 ssh2",
		"Connection closed by invalid user a 1.2.3.4 port 5 [preauth]",
		"Invalid user a from 1.2.3.4 port 6",
		"Connection closed by invalid user a 1.2.3.4 port 6 [preauth]",
	} {
		var e Entry
		if p.Parse([]byte(head+message), &e) {
			if _, match := find.Find(0, e.Text); match >= 0 {
				strikes++
			}
		}
	}
	if strikes != 2 {
		t.Errorf("%d strikes", strikes)
	}
}

func TestRegularExpressions(t *testing.T) {
	p, err := NewRegexp(`^(?P<time>\S+) client=(?P<src>\S+) did (?P<text>.*)$`, time.RFC3339)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := show(p, "2026-11-16T02:00:00Z client=1.2.3.4 did evil", "17.5 client=::1 did x", "other", "x client=none did y"),
		"1.2.3.4 2026-11-16T02:00:00Z evil\n::1 1970-01-01T00:00:17.5Z x\n-\n-"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for expression, want := range map[string]string{"(": "missing closing", "x": "no group (?P<src>"} {
		if _, err := NewRegexp(expression, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", expression, err)
		}
	}
}

// TestPatternsCompile holds that each parser with patterns of its own has valid ones.
func TestPatternsCompile(t *testing.T) {
	for _, name := range []string{"auto", "sshd", "access", "eve"} {
		if a, err := pattern.Compile(Patterns(name)); err != nil || len(a.Patterns()) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDamagedLinesAreHarmless changes bytes of lines at random.
func TestDamagedLinesAreHarmless(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	seeds := []string{
		attack, `1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 2`, "#fields\tts\tid.orig_h", "1.5\t10.0.0.1",
		`{"timestamp":"2026-11-16T02:00:00.123456+0000","event_type":"alert","src_ip":"1.2.3.4","alert":{"signature":"ET SCAN"}}`, `{"ts":1e300,"id.orig_h":"1.2.3.4"}`,
	}
	for _, name := range Names() {
		p := parser(t, name)
		for range effort.PickVariant(1000, 3000, 100_000) {
			line := []byte(seeds[r.IntN(len(seeds))])
			for range r.IntN(4) {
				line[r.IntN(len(line))] = byte(r.Uint32())
			}
			var e Entry
			if p.Parse(line[:r.IntN(len(line)+1)], &e) && !e.Src.IsValid() {
				t.Fatalf("%s: %q has no source", name, line)
			}
		}
	}
}

// expect reads lines from a channel.
func expect(t *testing.T, lines <-chan Line, want ...string) {
	t.Helper()
	for _, w := range want {
		select {
		case l := <-lines:
			if string(l.Text) != w || l.Err != nil {
				t.Fatalf("%q, %v, want %q", l.Text, l.Err, w)
			}
		case <-time.After(time.Minute):
			t.Fatalf("no line %q", w)
		}
	}
}

// TestFilesAreFollowedOverRotation has a file that grows, is renamed and made anew, is
// truncated, and vanishes for a while.
func TestFilesAreFollowedOverRotation(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "log")
	add := func(text string) {
		t.Helper()
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		_, err = file.WriteString(text)
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
	}
	add("before\n")
	lines := make(chan Line)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan bool)
	f, err := Open(path, Options{FromStart: true, Poll: time.Millisecond})
	if err != nil || f.Missing() {
		t.Fatal(err)
	}
	go func() {
		f.Run(ctx, lines)
		close(done)
	}()
	expect(t, lines, "before")
	add("one\r\ntw")
	expect(t, lines, "one")
	add("o\n")
	expect(t, lines, "two")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	add("three\n")
	expect(t, lines, "three")
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	add("4\n")
	expect(t, lines, "4")
	add(strings.Repeat("x", maxLine+10) + "\nafter\n")
	expect(t, lines, strings.Repeat("x", maxLine), "after")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	add("new\n")
	expect(t, lines, "new")
	cancel()
	<-done
}

// TestFilesAreReadOnBehindALine has one that grew, one that was replaced, and one that is
// shorter.
func TestFilesAreReadOnBehindALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	long := strings.Repeat("x", maxLine+10)
	for _, c := range []struct {
		before, after string
		want          []string
	}{
		{"one\ntwo\r\n", "one\ntwo\r\nthree\n", []string{"three"}},
		{"one\n" + long + "\n", "one\n" + long + "\nmore\n", []string{"more"}},
		{"one\ntwo\n", "six\nten\nmore\n", []string{"six", "ten", "more"}},
		{"one\ntwo\n", "two\n", []string{"two"}},
	} {
		if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
			t.Fatal(err)
		}
		lines := make(chan Line, 10)
		var last Position
		Read(t.Context(), path, strings.NewReader(c.before), lines)
		for l := range lines {
			if l.Err != nil {
				break
			}
			last = l.At
		}
		end, err := Open(path, Options{}) // which begins behind the same line
		if err != nil {
			t.Fatal(err)
		}
		begun := end.Position()
		end.close()
		if err := os.WriteFile(path, []byte(c.after), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, at := range []Position{last, begun} {
			f, err := Open(path, Options{After: at})
			if err != nil || f.Resumed() != (len(c.want) == 1 && c.want[0] != "two") {
				t.Fatalf("%.20q behind %+v: %v, resumed %t", c.after, at, err, f.Resumed())
			}
			ctx, cancel := context.WithCancel(t.Context())
			go f.Run(ctx, lines)
			expect(t, lines, c.want...)
			cancel()
		}
	}
}

func TestReadersAreReadToTheirEnd(t *testing.T) {
	lines := make(chan Line, 10)
	Read(t.Context(), "-", strings.NewReader("a\n\nb"), lines)
	expect(t, lines, "a", "b")
	if l := <-lines; !errors.Is(l.Err, io.EOF) || l.Path != "-" {
		t.Errorf("%+v", l)
	}
}
