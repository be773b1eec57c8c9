package command

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/resp"
)

// plain reports whether a name has printable characters only, and no spaces.
func plain(b []byte) bool {
	return bytes.IndexFunc(b, func(r rune) bool { return r < '!' || r > '~' }) < 0
}

func (c *Call) setName(name []byte) bool {
	if !plain(name) {
		c.w.Err("ERR Client names cannot contain spaces, newlines or special characters.")
		return false
	}
	c.about.mu.Lock()
	c.about.name = string(name)
	c.about.mu.Unlock()
	return true
}

func clientGetName(c *Call) {
	c.about.mu.Lock()
	name := c.about.name
	c.about.mu.Unlock()
	if name == "" {
		c.w.Null()
		return
	}
	c.w.Text(name)
}

func clientSetName(c *Call) {
	if c.setName(c.args[2]) {
		c.w.OK()
	}
}

func clientSetInfo(c *Call) {
	option := strings.ToUpper(string(c.args[2]))
	if option != "LIB-NAME" && option != "LIB-VER" {
		c.w.Err("ERR Unrecognized option '" + string(c.args[2]) + "'")
		return
	}
	if !plain(c.args[3]) {
		c.w.Err("ERR " + option + " cannot contain spaces, newlines or special characters.")
		return
	}
	c.about.mu.Lock()
	defer c.about.mu.Unlock()
	if option == "LIB-NAME" {
		c.about.library = string(c.args[3])
	} else {
		c.about.libraryVer = string(c.args[3])
	}
	c.w.OK()
}

// line describes a session as CLIENT LIST does.
func (s *Session) line() string {
	a := s.about
	a.mu.Lock()
	defer a.mu.Unlock()
	command, idle := "NULL", time.Since(s.Since)
	if at := a.active.Load(); at != 0 {
		idle = time.Since(time.UnixMilli(at))
	}
	if cmd := a.command.Load(); cmd != nil {
		command = cmd.Name
	}
	user := a.user
	if user == "" && s.env.Users == nil {
		user = noLogin.Name
	}
	return fmt.Sprintf("id=%d addr=%s laddr=%s fd=0 name=%s age=%d idle=%d flags=N db=0 sub=0 psub=0 ssub=0 multi=-1 watch=0 qbuf=0 cmd=%s user=%s redir=-1 resp=%d lib-name=%s lib-ver=%s",
		s.ID, s.Addr, s.Local, a.name, int(time.Since(s.Since).Seconds()), int(idle.Seconds()), command, user, max(a.version, 2), a.library, a.libraryVer)
}

// seenSessions returns the sessions that the user may know about, its own one included.
func (c *Call) seenSessions() (out []*Session) {
	for _, s := range c.env.Clients.Sessions() {
		if _, user, _ := s.About(); c.seesUser(user) {
			out = append(out, s)
		}
	}
	return out
}

func clientList(c *Call) {
	ids := make(map[int64]bool)
	for i := 2; i < len(c.args); i++ {
		switch {
		case word(c.args[i], "TYPE") && i+1 < len(c.args):
			i++
		case word(c.args[i], "ID") && i+1 < len(c.args):
			for i++; i < len(c.args); i++ {
				n, ok := resp.ParseInt(c.args[i])
				if !ok {
					c.w.Err("ERR Invalid client ID")
					return
				}
				ids[n] = true
			}
		default:
			c.w.Err("ERR syntax error")
			return
		}
	}
	var b strings.Builder
	for _, s := range c.seenSessions() {
		if len(ids) == 0 || ids[s.ID] {
			b.WriteString(s.line() + "\n")
		}
	}
	c.w.Verbatim(b.String())
}

func clientKill(c *Call) {
	id, addr, skipMe := int64(0), "", true
	old := len(c.args) == 3
	if old {
		addr, skipMe = string(c.args[2]), false
	} else if len(c.args)%2 != 0 {
		c.w.Err("ERR syntax error")
		return
	}
	for i := 2; i+1 < len(c.args); i += 2 {
		value := string(c.args[i+1])
		switch strings.ToUpper(string(c.args[i])) {
		case "ID":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n < 1 {
				c.w.Err("ERR client-id should be greater than 0")
				return
			}
			id = n
		case "ADDR":
			addr = value
		case "SKIPME":
			skipMe = strings.EqualFold(value, "yes")
		default:
			c.w.Err("ERR syntax error")
			return
		}
	}
	killed := c.killAll(id, addr, skipMe)
	switch {
	case !old:
		c.w.Int(int64(killed))
	case killed == 0:
		c.w.Err("ERR No such client")
	default:
		c.w.OK()
	}
}

// killAll closes the connections of a number, or of an address.
func (c *Call) killAll(id int64, addr string, skipMe bool) (killed int) {
	for _, s := range c.seenSessions() {
		if id != 0 && s.ID != id || addr != "" && s.Addr != addr || skipMe && s == c.Session {
			continue
		}
		if s == c.Session {
			c.closing = true
			killed++
		} else if c.env.Clients.Kill(s.ID) {
			killed++
		}
	}
	return killed
}

func onOff(c *Call) {
	if !word(c.args[2], "ON", "OFF") {
		c.w.Err("ERR syntax error")
		return
	}
	c.w.OK()
}

func clientReply(c *Call) {
	switch {
	case word(c.args[2], "ON"):
		c.silent = 0
		c.w.OK()
	case word(c.args[2], "OFF"):
		c.silent = -1
	case word(c.args[2], "SKIP"):
		c.silent = 2
	default:
		c.w.Err("ERR syntax error")
	}
}

func clientPause(c *Call) {
	if n, ok := resp.ParseInt(c.args[2]); !ok || n < 0 {
		c.w.Err("ERR timeout is not an integer or out of range")
		return
	}
	c.w.OK()
}

func clientTrackingInfo(c *Call) {
	off := func() {
		c.w.Set(1)
		c.w.Text("off")
	}
	c.pairs("flags", off, "redirect", -1, "prefixes", func() { c.w.Array(0) })
}
