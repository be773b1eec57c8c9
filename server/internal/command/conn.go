package command

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/resp"
)

// sessionInfo is what other sessions may look at.
type sessionInfo struct {
	mu         sync.Mutex
	name       string
	library    string
	libraryVer string
	user       string
	version    int
	command    atomic.Pointer[Command] // the last one
	active     atomic.Int64            // when bytes arrived last, milliseconds since 1970
}

func connectionCommands() []*Command {
	return []*Command{
		{Name: "ping", Arity: -1, Flags: Fast, Syntax: "[message]", Summary: "Returns PONG, or the message", Run: ping},
		{Name: "echo", Arity: 2, Flags: Fast, Syntax: "message", Summary: "Returns the message", Run: func(c *Call) { c.w.Bulk(c.args[1]) }},
		{Name: "hello", Arity: -1, Flags: Secret | Fast | NoAuth | NoMulti | Alone, Syntax: "[protover [AUTH username password] [SETNAME clientname]]", Summary: "Sets the protocol version", Run: hello},
		{Name: "auth", Arity: -2, Flags: Secret | Fast | NoAuth | NoMulti | Alone, Syntax: "[username] password", Summary: "Authenticates the connection", Run: auth},
		{Name: "select", Arity: 2, Flags: Fast, Syntax: "index", Summary: "Accepts 0, the only database", Run: selectDB},
		{Name: "quit", Arity: -1, Flags: Fast | NoAuth | Immediate, Summary: "Closes the connection", Run: quit},
		{Name: "reset", Arity: 1, Flags: Fast | NoAuth | Immediate | Alone, Summary: "Resets the connection", Run: reset},
		{Name: "client", Arity: -2, Subs: []*Command{
			sub("client|id", 2, Fast, "", "Returns the ID of the connection", func(c *Call) { c.w.Int(c.ID) }),
			sub("client|getname", 2, Fast, "", "Returns the name of the connection", clientGetName),
			sub("client|setname", 3, Fast, "connection-name", "Sets the name of the connection", clientSetName),
			sub("client|setinfo", 4, Fast, "LIB-NAME|LIB-VER value", "Sets the name or version of the client library", clientSetInfo),
			sub("client|info", 2, Fast, "", "Describes the connection", func(c *Call) { c.w.Verbatim(c.line() + "\n") }),
			sub("client|list", -2, Admin, "[TYPE type] [ID id ...]", "Describes all connections", clientList),
			sub("client|kill", -3, Admin, "address | [ID id] [ADDR address] [SKIPME yes|no]", "Closes connections", clientKill),
			sub("client|no-evict", 3, Fast, "ON|OFF", "Does nothing; for clients that call it", onOff),
			sub("client|no-touch", 3, Fast, "ON|OFF", "Does nothing; for clients that call it", onOff),
			sub("client|reply", 3, Fast, "ON|OFF|SKIP", "Turns replies on or off", clientReply),
			sub("client|pause", -3, Admin, "timeout [WRITE|ALL]", "Does nothing; for clients that call it", clientPause),
			sub("client|unpause", 2, Admin, "", "Does nothing; for clients that call it", func(c *Call) { c.w.OK() }),
			sub("client|getredir", 2, Fast, "", "Returns -1", func(c *Call) { c.w.Int(-1) }),
			sub("client|trackinginfo", 2, Fast, "", "Reports that tracking is off", clientTrackingInfo),
		}},
	}
}

func ping(c *Call) {
	switch len(c.args) {
	case 1:
		c.w.Simple("PONG")
	case 2:
		c.w.Bulk(c.args[1])
	default:
		c.arity()
	}
}

func selectDB(c *Call) {
	switch n, ok := resp.ParseInt(c.args[1]); {
	case !ok:
		c.w.Err(notInteger)
	case n != 0:
		c.w.Err("ERR DB index is out of range")
	default:
		c.w.OK()
	}
}

func quit(c *Call) {
	c.w.OK()
	c.closing = true
}

func reset(c *Call) {
	c.multi, c.watched, c.silent = nil, nil, 0
	c.hold(nil)
	c.w.SetVersion(2)
	c.setUser(nil)
	if c.env.Users == nil {
		c.setUser(noLogin)
	}
	c.about.mu.Lock()
	c.about.name, c.about.version = "", 2
	c.about.mu.Unlock()
	c.w.Simple("RESET")
}

func (s *Session) setUser(u *User) {
	s.user = u
	s.about.mu.Lock()
	defer s.about.mu.Unlock()
	if s.about.user = ""; u != nil {
		s.about.user = u.Name
	}
}

const wrongPass = "WRONGPASS invalid username-password pair or user is disabled."

// login logs a user in. It returns what is wrong, and then took a while.
func (s *Session) login(name, token []byte) (problem string) {
	if s.env.Users == nil {
		if string(name) == "default" {
			return ""
		}
		return wrongPass
	}
	u := s.env.Users.login(name, token)
	if u == nil {
		time.Sleep(loginPenalty)
		return wrongPass
	}
	s.setUser(u)
	return ""
}

// loginPenalty is how long a wrong token takes.
const loginPenalty = 200 * time.Millisecond

func auth(c *Call) {
	name, token := []byte("default"), c.args[1]
	switch {
	case len(c.args) > 3:
		c.w.Err("ERR syntax error")
		return
	case len(c.args) == 3:
		name, token = c.args[1], c.args[2]
	case c.env.Users == nil:
		c.w.Err("ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?")
		return
	}
	if problem := c.login(name, token); problem != "" {
		c.w.Err(problem)
		return
	}
	c.w.OK()
}

func hello(c *Call) {
	version := c.w.Version()
	var user, token, name []byte
	if len(c.args) > 1 {
		n, ok := resp.ParseInt(c.args[1])
		switch {
		case !ok:
			c.w.Err("ERR Protocol version is not an integer or out of range")
			return
		case n != 2 && n != 3:
			c.w.Err("NOPROTO unsupported protocol version")
			return
		}
		version = int(n)
	}
	for i := 2; i < len(c.args); i++ {
		switch left := len(c.args) - i - 1; {
		case word(c.args[i], "AUTH") && left >= 2:
			user, token = c.args[i+1], c.args[i+2]
			i += 2
		case word(c.args[i], "SETNAME") && left >= 1:
			name = c.args[i+1]
			i++
		default:
			c.w.Err("ERR Syntax error in HELLO option '" + string(c.args[i]) + "'")
			return
		}
	}
	if token != nil {
		if problem := c.login(user, token); problem != "" {
			c.w.Err(problem)
			return
		}
	}
	if c.user == nil {
		c.w.Err("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time")
		return
	}
	if name != nil && !c.setName(name) {
		return
	}
	c.welcome(version)
}

// welcome writes the reply to HELLO, in the version that was chosen.
func (c *Call) welcome(version int) {
	c.w.SetVersion(version)
	c.about.mu.Lock()
	c.about.version = version
	c.about.mu.Unlock()
	c.pairs("server", "redis", "version", redisVersion, "proto", version, "id", c.ID, "mode", c.env.mode(), "role", "master", "modules", c.modules)
}

// redisVersion is the version of Redis whose clients are served. Those below 7 switch
// features off.
const redisVersion = "7.4.1"

// modules writes the list of modules.
func (c *Call) modules() {
	c.w.Array(1)
	c.pairs("name", "bf", "ver", 20800, "path", "everbloom "+c.env.Version, "args", func() { c.w.Array(0) })
}
