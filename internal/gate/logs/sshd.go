package logs

import (
	"bytes"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// sshd reads "TIME HOST sshd[PID]: MESSAGE". Each message that is known has an expression of
// its own, which finds the address where sshd writes it: at an end of the message that no
// client can write to. Names of users and reasons of clients may look like addresses.
type sshd struct {
	now      func() time.Time
	head     *regexp.Regexp
	messages []sshMessage
	struck   [256]netip.AddrPort // connections with a failed attempt, in turn
	next     int
}

const (
	syslogHead = `^(?:\S+T\S+|[A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8}) \S+ sshd(?:-session|-auth)?\[[0-9]+\]: `
	repeated   = `(?:message repeated [0-9]+ times: \[ )?`
	peer       = `(?P<addr>[0-9A-Fa-f:.]+) port (?P<port>[0-9]{1,5})`
)

// An sshMessage is one of those that name a client.
type sshMessage struct {
	*regexp.Regexp
	attempt bool // to log in, which failed
	last    bool // ends a connection: the attempts of it were told before
}

func sshExpression(text string) *regexp.Regexp { return regexp.MustCompile("^" + text) }

// sshMessages returns the messages of OpenSSH 7 to 10.
func sshMessages() []sshMessage {
	return []sshMessage{
		{sshExpression(`Failed [a-z/-]+ for .* from ` + peer + `(?: ssh2)?(?:: [A-Z0-9-]+ \S+)?$`), true, false},
		{sshExpression(`Accepted [a-z/-]+ for .* from ` + peer + `(?: ssh2)?(?:: [A-Z0-9-]+ \S+)?$`), false, false},
		{sshExpression(`Invalid user .* from ` + peer + `$`), false, false},
		{sshExpression(`(?:Connection (?:closed|reset) by|Disconnected from) (?:invalid|authenticating) user .* ` + peer + `(?: \[preauth\])?$`), false, true},
		{sshExpression(`(?:error: )?maximum authentication attempts exceeded for .* from ` + peer + `(?: ssh2)?(?: \[preauth\])?$`), false, true},
		{sshExpression(`(?:Connection (?:closed|reset) by|Disconnected from) ` + peer + `(?: \[preauth\])?$`), false, false},
		{sshExpression(`Did not receive identification string from ` + peer + `$`), false, false},
		{sshExpression(`Bad protocol version identification '.*' from ` + peer + `$`), false, false},
		{sshExpression(`(?:Received disconnect from|Unable to negotiate with|banner exchange: Connection from) ` + peer + `:`), false, false},
	}
}

func newSSHD(now func() time.Time) *sshd {
	return &sshd{now: now, head: regexp.MustCompile(syslogHead + repeated), messages: sshMessages()}
}

// Parse implements Parser. An attempt that failed is told once: the end of its connection is
// passed over.
func (s *sshd) Parse(line []byte, e *Entry) bool {
	head := s.head.Find(line)
	if head == nil {
		return false
	}
	text := line[len(head):]
	if bytes.HasSuffix(head, []byte("[ ")) {
		text = bytes.TrimSuffix(text, []byte("]")) // of a message that was repeated
	}
	for _, m := range s.messages {
		found := m.FindSubmatch(text)
		if found == nil {
			continue
		}
		src, err := netip.ParseAddr(string(found[m.SubexpIndex("addr")]))
		port, err2 := strconv.ParseUint(string(found[m.SubexpIndex("port")]), 10, 16)
		if err != nil || err2 != nil {
			return false
		}
		from := netip.AddrPortFrom(src.Unmap(), uint16(port))
		if m.last && slices.Contains(s.struck[:], from) {
			return false
		}
		if m.attempt {
			s.struck[s.next%len(s.struck)] = from
			s.next++
		}
		*e = Entry{Src: src.Unmap(), At: syslogTime(line, s.now), Text: text}
		return true
	}
	return false
}
