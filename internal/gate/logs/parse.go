package logs

import (
	"bytes"
	"encoding/json"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/fault"
)

// An Entry is what a line says.
type Entry struct {
	Src  netip.Addr
	At   int64  // nanoseconds since 1970, 0 if the line has no time
	Text []byte // that patterns are searched in
}

// A Parser reads the lines of one log, in order. It reports false for lines that say
// nothing about a client.
type Parser interface {
	Parse(line []byte, e *Entry) bool
}

// Names returns the names of the parsers that New knows.
func Names() []string { return []string{"auto", "sshd", "access", "eve", "zeek"} }

// New returns the parser of that name. That of "auto" takes the first one that can read a
// line, and stays with it.
func New(name string, now func() time.Time) (Parser, error) {
	switch name {
	case "sshd":
		return newSSHD(now), nil
	case "access", "nginx", "apache":
		return access{}, nil
	case "eve", "suricata":
		return eve{}, nil
	case "zeek":
		return &zeek{}, nil
	case "auto":
		return &auto{all: []Parser{eve{}, &zeek{}, newSSHD(now), access{}}}, nil
	}
	return nil, fault.In("logs", "parser %q: take %s", name, strings.Join(Names(), ", "))
}

// Patterns returns what to look for in the lines of a parser if nothing else was said:
// failed logins, requests that only attackers make, alerts.
func Patterns(name string) []pattern.Pattern {
	texts := map[string][]string{
		"sshd": {
			"Failed password for", "Failed keyboard-interactive", "Connection closed by invalid user", "Connection reset by invalid user",
			"Disconnected from invalid user", "maximum authentication attempts exceeded",
		},
		"access": {
			"/wp-login.php", "/xmlrpc.php", "/.env", "/.git/", "/phpmyadmin", "/cgi-bin/", "/etc/passwd", "../..", "%2e%2e%2f", "/vendor/phpunit", "${jndi:",
		},
		"eve": {alertMark},
	}
	texts["auto"] = slices.Concat(texts["sshd"], texts["access"], texts["eve"])
	var list []pattern.Pattern
	for _, text := range texts[name] {
		list = append(list, pattern.Pattern{Name: strings.ReplaceAll(strings.TrimSpace(text), ":", "."), Bytes: []byte(text), NoCase: true})
	}
	return list
}

type auto struct {
	all    []Parser
	chosen Parser
}

func (a *auto) Parse(line []byte, e *Entry) bool {
	if a.chosen != nil {
		return a.chosen.Parse(line, e)
	}
	for _, p := range a.all {
		if p.Parse(line, e) {
			a.chosen = p
			return true
		}
	}
	return false
}

// syslogTime reads the time in front of a line: of RFC 3339, or without a year, which is
// this one unless that would be tomorrow or later.
func syslogTime(line []byte, now func() time.Time) int64 {
	if first, _, ok := bytes.Cut(line, []byte(" ")); ok && len(first) > len("2006-01-02T15") {
		return timeOf(string(first), time.RFC3339Nano, "2006-01-02T15:04:05.999999-0700")
	}
	const stamp = "Jan _2 15:04:05"
	if len(line) < len(stamp) {
		return 0
	}
	t, err := time.ParseInLocation(stamp, string(line[:len(stamp)]), now().Location())
	if err != nil {
		return 0
	}
	t = t.AddDate(now().Year(), 0, 0)
	if t.After(now().Add(24 * time.Hour)) {
		t = t.AddDate(-1, 0, 0)
	}
	return t.UnixNano()
}

// timeOf reads a time in one of several forms.
func timeOf(text string, layouts ...string) int64 {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UnixNano()
		}
	}
	return 0
}

// access reads `ADDRESS - USER [TIME] "REQUEST" STATUS SIZE …`. The text is the request: what
// follows has the Referer, which any page that links to the server decides.
type access struct{}

func (access) Parse(line []byte, e *Entry) bool {
	first, rest, ok := bytes.Cut(line, []byte(" "))
	if !ok {
		return false
	}
	src, err := netip.ParseAddr(string(first))
	if err != nil {
		return false
	}
	_, rest, ok = bytes.Cut(rest, []byte(" ["))
	stamp, text, closed := bytes.Cut(rest, []byte("] "))
	if !ok || !closed {
		return false
	}
	if len(text) > 0 && text[0] == '"' {
		text = quoted(text)
	}
	*e = Entry{Src: src.Unmap(), At: timeOf(string(stamp), "02/Jan/2006:15:04:05 -0700"), Text: text}
	return true
}

// quoted returns a text in quotes, up to the first quote that no backslash precedes.
func quoted(text []byte) []byte {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[:i+1]
		}
	}
	return text
}

// eve reads alerts. Their text is the mark and what the rule says.
type eve struct{}

const alertMark = "alert "

func (eve) Parse(line []byte, e *Entry) bool {
	var record struct {
		Timestamp string `json:"timestamp"`
		Type      string `json:"event_type"`
		Src       string `json:"src_ip"`
		Alert     struct {
			Signature string `json:"signature"`
		} `json:"alert"`
	}
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &record) != nil || record.Type != "alert" {
		return false
	}
	src, err := netip.ParseAddr(record.Src)
	if err != nil {
		return false
	}
	at := timeOf(record.Timestamp, "2006-01-02T15:04:05.999999-0700", time.RFC3339Nano)
	*e = Entry{Src: src.Unmap(), At: at, Text: []byte(alertMark + record.Alert.Signature)}
	return true
}

// zeek reads columns that a line of #fields names, or JSON. The text is the whole line.
type zeek struct {
	separator string
	src, time int // columns, counted from 1; 0 if there is none
}

const zeekSource = "id.orig_h"

func (z *zeek) Parse(line []byte, e *Entry) bool {
	if len(line) > 0 && line[0] == '{' {
		return z.parseJSON(line, e)
	}
	if bytes.HasPrefix(line, []byte("#")) {
		z.header(string(line))
		return false
	}
	if z.src == 0 {
		return false
	}
	fields := strings.Split(string(line), z.separator)
	if len(fields) < max(z.src, z.time) {
		return false
	}
	src, err := netip.ParseAddr(fields[z.src-1])
	if err != nil {
		return false
	}
	*e = Entry{Src: src.Unmap(), Text: line}
	if z.time > 0 {
		e.At = seconds(fields[z.time-1])
	}
	return true
}

// header learns the columns.
func (z *zeek) header(line string) {
	if text, ok := strings.CutPrefix(line, `#separator \x`); ok {
		if n, err := strconv.ParseUint(text, 16, 8); err == nil {
			z.separator = string(rune(n))
		}
		return
	}
	if z.separator == "" {
		z.separator = "\t"
	}
	fields := strings.Split(line, z.separator)
	if fields[0] == "#fields" {
		z.src, z.time = slices.Index(fields[1:], zeekSource)+1, slices.Index(fields[1:], "ts")+1
	}
}

func (z *zeek) parseJSON(line []byte, e *Entry) bool {
	var record struct {
		Time json.RawMessage `json:"ts"`
		Src  string          `json:"id.orig_h"`
	}
	if json.Unmarshal(line, &record) != nil {
		return false
	}
	src, err := netip.ParseAddr(record.Src)
	if err != nil {
		return false
	}
	stamp := strings.Trim(string(record.Time), `"`)
	at := seconds(stamp)
	if at == 0 {
		at = timeOf(stamp, time.RFC3339Nano)
	}
	*e = Entry{Src: src.Unmap(), At: at, Text: line}
	return true
}

// seconds reads a time as a number of seconds since 1970.
func seconds(text string) int64 {
	s, err := strconv.ParseFloat(text, 64)
	if err != nil || !(s > 0 && s < math.MaxInt64/1e9) {
		return 0
	}
	whole, part := math.Modf(s)
	return int64(whole)*1e9 + int64(part*1e9)
}
