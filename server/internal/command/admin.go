package command

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/store"
)

func adminCommands() []*Command {
	ok := func(c *Call) { c.w.OK() }
	noCluster := func(c *Call) { c.w.Err("ERR This instance has cluster support disabled") }
	return []*Command{
		{Name: "config", Arity: -2, Subs: []*Command{
			sub("config|get", -3, Admin, "parameter [parameter ...]", "Returns settings", configGet),
			sub("config|set", -4, Admin, "parameter value [parameter value ...]", "Changes settings", configSet),
			sub("config|resetstat", 2, Admin, "", "Does nothing; for clients that call it", ok),
			sub("config|rewrite", 2, Admin, "", "Not supported: there is no file to rewrite", func(c *Call) { c.w.Err("ERR The server is running without a config file") }),
		}},
		{Name: "command", Arity: -1, Run: commandAll, Summary: "Describes all commands", Subs: []*Command{
			sub("command|count", 2, Fast, "", "Returns the number of commands", func(c *Call) { c.w.Int(int64(len(c.env.Table.sorted))) }),
			sub("command|info", -2, 0, "[command-name ...]", "Describes commands", commandInfo),
			sub("command|docs", -2, 0, "[command-name ...]", "Documents commands", commandDocs),
			sub("command|list", -2, 0, "[FILTERBY PATTERN pattern]", "Lists the commands", commandList),
			sub("command|getkeys", -4, 0, "command [arg ...]", "Returns the keys of a command", commandGetKeys),
		}},
		{Name: "info", Arity: -1, Syntax: "[section ...]", Summary: "Describes the server", Run: info},
		{Name: "save", Arity: 1, Flags: Admin | Alone | NoMulti, Summary: "Writes images of all sets that changed", Run: save},
		{Name: "bgsave", Arity: -1, Flags: Admin | Alone, Syntax: "[SCHEDULE]", Summary: "Writes images in the background", Run: bgSave},
		{Name: "lastsave", Arity: 1, Flags: Fast, Summary: "Returns the time of the last successful save", Run: func(c *Call) { c.w.Int(c.env.Images().Last.Unix()) }},
		{Name: "wait", Arity: 3, Syntax: "numreplicas timeout", Summary: "Waits until nodes have applied the writes of the connection; returns 0 on a server that is alone", Run: func(c *Call) { c.w.Int(0) }},
		{Name: "role", Arity: 1, Flags: Fast, Summary: "Returns the role, master", Run: role},
		{Name: "time", Arity: 1, Flags: Fast, Summary: "Returns the time of the server", Run: timeNow},
		{Name: "slowlog", Arity: -2, Subs: []*Command{
			sub("slowlog|get", -2, Admin, "[count]", "Returns the entries of the slow log", slowLogGet),
			sub("slowlog|len", 2, Admin, "", "Returns the number of entries of the slow log", slowLogLen),
			sub("slowlog|reset", 2, Admin, "", "Clears the slow log", slowLogReset),
		}},
		{Name: "latency", Arity: -2, Subs: []*Command{
			sub("latency|latest", 2, Admin, "", "Returns an empty list", func(c *Call) { c.w.Array(0) }),
			sub("latency|history", 3, Admin, "event", "Returns an empty list", func(c *Call) { c.w.Array(0) }),
			sub("latency|reset", -2, Admin, "[event ...]", "Returns 0", func(c *Call) { c.w.Int(0) }),
		}},
		{Name: "acl", Arity: -2, Subs: []*Command{
			sub("acl|whoami", 2, Fast, "", "Returns the name of the user", func(c *Call) { c.w.Text(c.user.Name) }),
			sub("acl|list", 2, Admin, "", "Lists the users", aclList),
			sub("acl|users", 2, Admin, "", "Lists the names of the users", aclUsers),
			sub("acl|cat", -2, 0, "[category]", "Lists the categories, or the commands of one", aclCat),
			sub("acl|dryrun", -4, Admin, "username command [arg ...]", "Reports whether a user may run a command", aclDryRun),
		}},
		{Name: "module", Arity: -2, Subs: []*Command{
			sub("module|list", 2, 0, "", "Lists the modules", func(c *Call) { c.modules() }),
		}},
		{Name: "cluster", Arity: -2, Syntax: "subcommand [arg ...]", Run: noCluster, Summary: "Describes the cluster; a server that is alone refuses it"},
		{Name: "readonly", Arity: 1, Run: noCluster, Summary: "Allows reads from the copy of a node that does not lead; a server that is alone refuses it"},
		{Name: "readwrite", Arity: 1, Run: noCluster, Summary: "Has all reads come from leaders again; a server that is alone refuses it"},
	}
}

// lookCommands are about single keys, and tests.
func lookCommands() []*Command {
	onKey := func(cmd *Command) *Command {
		cmd.First, cmd.Last, cmd.Step = 2, 2, 1
		return cmd
	}
	return []*Command{
		{Name: "object", Arity: -2, Subs: []*Command{
			onKey(sub("object|encoding", 3, Read|Fast, "key", "Returns raw", objectAnswer(func(c *Call, _ *store.Entry) { c.w.Text("raw") }))),
			onKey(sub("object|idletime", 3, Read|Fast, "key", "Returns 0", objectAnswer(func(c *Call, _ *store.Entry) { c.w.Int(0) }))),
			onKey(sub("object|refcount", 3, Read|Fast, "key", "Returns 1", objectAnswer(func(c *Call, _ *store.Entry) { c.w.Int(1) }))),
			onKey(sub("object|freq", 3, Read|Fast, "key", "Returns 0", objectAnswer(func(c *Call, _ *store.Entry) { c.w.Int(0) }))),
		}},
		{Name: "memory", Arity: -2, Subs: []*Command{
			onKey(sub("memory|usage", -3, Read, "key [SAMPLES count]", "Returns the memory that a key takes, in bytes", objectAnswer(func(c *Call, e *store.Entry) { c.w.Int(e.Bytes()) }))),
			sub("memory|doctor", 2, 0, "", "Returns a fixed text", func(c *Call) { c.w.Verbatim("Everything is in order.") }),
		}},
		{Name: "shutdown", Arity: -1, Flags: Admin | Alone | NoMulti, Syntax: "[NOSAVE|SAVE] [NOW] [FORCE]", Summary: "Shuts the server down", Run: shutdown},
		{Name: "debug", Arity: -2, Flags: Admin | Alone | NoMulti, Syntax: "SLEEP seconds | RELOAD", Summary: "Runs a test function; needs enable-debug-command", Run: debug},
	}
}

// objectAnswer answers about a key, or null if there is none.
func objectAnswer(answer func(*Call, *store.Entry)) func(*Call) {
	return func(c *Call) {
		if e := c.find(c.args[2]); e != nil {
			answer(c, e)
		} else {
			c.w.Null()
		}
	}
}

func configGet(c *Call) {
	var found [][2]string
	for _, pattern := range c.args[2:] {
		for _, pair := range c.env.Settings.Match(string(pattern)) {
			if !slices.Contains(found, pair) {
				found = append(found, pair)
			}
		}
	}
	c.w.Map(len(found))
	for _, pair := range found {
		c.w.Text(pair[0])
		c.w.Text(pair[1])
	}
}

func configSet(c *Call) {
	if len(c.args)%2 != 0 {
		c.arity()
		return
	}
	var pairs [][2]string
	for i := 2; i < len(c.args); i += 2 {
		name := string(c.args[i])
		if len(c.env.Settings.Match(name)) == 0 {
			c.w.Err("ERR Unknown option or number of arguments for CONFIG SET - '" + name + "'")
			return
		}
		pairs = append(pairs, [2]string{name, string(c.args[i+1])})
	}
	if at, err := c.env.Settings.Change(pairs); err != nil {
		c.w.Err("ERR CONFIG SET failed (possibly related to argument '" + at + "') - " + err.Error())
		return
	}
	c.env.Slow.Configure()
	if c.env.Configure != nil {
		c.env.Configure()
	}
	c.w.OK()
}

// ErrSaving is returned by Save while images are being written.
var ErrSaving = errors.New("images are being written already")

func save(c *Call) {
	switch err := c.env.Save(); {
	case errors.Is(err, ErrSaving):
		c.w.Err(saving)
	case err != nil:
		c.w.Err("ERR " + err.Error())
	default:
		c.w.OK()
	}
}

const saving = "ERR Background save already in progress"

func bgSave(c *Call) {
	if c.env.Images().Running {
		c.w.Err(saving)
		return
	}
	env := c.env
	go func() { _ = env.Save() }() // which reports its errors
	c.w.Simple("Background saving started")
}

func role(c *Call) {
	c.w.Array(3)
	c.w.Text("master")
	c.w.Int(int64(c.env.totals().Stats.Records))
	c.w.Array(0)
}

func timeNow(c *Call) {
	now := time.Now()
	c.w.Array(2)
	c.textInt(now.Unix())
	c.textInt(int64(now.Nanosecond() / 1000))
}

func shutdown(c *Call) {
	c.closing = true
	c.env.Shutdown()
}

func debug(c *Call) {
	if !c.env.Settings.On("enable-debug-command") {
		c.w.Err("ERR DEBUG command not allowed. If the enable-debug-command option is set to \"yes\", it can be run: start the server with --enable-debug-command yes")
		return
	}
	switch {
	case word(c.args[1], "SLEEP") && len(c.args) == 3:
		seconds, err := strconv.ParseFloat(string(c.args[2]), 64)
		if err != nil || seconds < 0 || seconds > 60 {
			c.w.Err("ERR value is not a valid float")
			return
		}
		time.Sleep(time.Duration(seconds * float64(time.Second)))
		c.w.OK()
	case word(c.args[1], "RELOAD"):
		save(c)
	default:
		c.w.Err(fmt.Sprintf("ERR unknown subcommand or wrong number of arguments for '%s'. Try DEBUG HELP.", c.args[1]))
	}
}

func aclList(c *Call) {
	var lines []string
	if c.env.Users == nil {
		lines = []string{"user default on nopass ~* &* +@all"}
	} else {
		for _, u := range c.env.Users.byName {
			lines = append(lines, fmt.Sprintf("user %s on ~%s* +@%s", u.Name, u.Prefix, map[Role]string{Reader: "read", Writer: "write", Administrator: "all"}[u.Role]))
		}
		slices.Sort(lines)
	}
	c.texts(lines)
}

func aclUsers(c *Call) {
	names := []string{"default"}
	if c.env.Users != nil {
		names = nil
		for name := range c.env.Users.byName {
			names = append(names, name)
		}
		slices.Sort(names)
	}
	c.texts(names)
}

func aclCat(c *Call) {
	categories := []string{"read", "write", "fast", "slow", "admin", "bloom", "cuckoo", "keyspace"}
	if len(c.args) == 2 {
		c.texts(categories)
		return
	}
	if !word(c.args[2], categories...) {
		c.w.Err(fmt.Sprintf("ERR Unknown category '%s'", c.args[2]))
		return
	}
	var names []string
	for _, cmd := range c.env.Table.sorted {
		if slices.Contains(cmd.categories(), "@"+strings.ToLower(string(c.args[2]))) {
			names = append(names, cmd.Name)
		}
	}
	c.texts(names)
}

func aclDryRun(c *Call) {
	var u *User
	if c.env.Users != nil {
		u = c.env.Users.byName[string(c.args[2])]
	} else if string(c.args[2]) == noLogin.Name {
		u = noLogin
	}
	cmd := c.env.Table.lookup(c.args[3:])
	switch {
	case u == nil:
		c.w.Err(fmt.Sprintf("ERR User '%s' not found", c.args[2]))
	case cmd == nil:
		c.w.Err(fmt.Sprintf("ERR Command '%s' not found", c.args[3]))
	default:
		if problem := u.forbids(cmd, c.args[3:]); problem != "" {
			c.w.Text(strings.TrimPrefix(problem, "NOPERM "))
			return
		}
		c.w.OK()
	}
}
