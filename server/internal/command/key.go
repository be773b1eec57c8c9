package command

import (
	"math"
	"strings"

	"github.com/everbloom-go/everbloom/server/internal/resp"
)

func keyCommands() []*Command {
	row := func(name string, arity int, f Flags, last int, syntax, summary string, run func(*Call)) *Command {
		cmd := &Command{Name: name, Arity: arity, Flags: f, Last: last, Syntax: syntax, Summary: summary, Run: run}
		if last != 0 {
			cmd.First, cmd.Step = 1, 1
		}
		return cmd
	}
	return []*Command{
		row("del", -2, Write, -1, "key [key ...]", "Deletes keys", del),
		row("unlink", -2, Write, -1, "key [key ...]", "Deletes keys", del),
		row("exists", -2, Read|Fast, -1, "key [key ...]", "Returns the number of keys that exist", exists),
		row("touch", -2, Read|Fast, -1, "key [key ...]", "Returns the number of keys that exist", exists),
		row("type", 2, Read|Fast, 1, "key", "Returns the type of a key", typeOf),
		row("expire", -3, Write|Fast, 1, "key seconds [NX|XX|GT|LT]", "Sets the time to live of a key in seconds", expire(1000, true)),
		row("pexpire", -3, Write|Fast, 1, "key milliseconds [NX|XX|GT|LT]", "Sets the time to live of a key in milliseconds", expire(1, true)),
		row("expireat", -3, Write|Fast, 1, "key unix-time-seconds [NX|XX|GT|LT]", "Sets the time at which a key expires, in seconds since 1970", expire(1000, false)),
		row("pexpireat", -3, Write|Fast, 1, "key unix-time-milliseconds [NX|XX|GT|LT]", "Sets the time at which a key expires, in milliseconds since 1970", expire(1, false)),
		row("ttl", 2, Read|Fast, 1, "key", "Returns the time to live in seconds", ttl(1000, true)),
		row("pttl", 2, Read|Fast, 1, "key", "Returns the time to live in milliseconds", ttl(1, true)),
		row("expiretime", 2, Read|Fast, 1, "key", "Returns the time at which a key expires, in seconds since 1970", ttl(1000, false)),
		row("pexpiretime", 2, Read|Fast, 1, "key", "Returns the time at which a key expires, in milliseconds since 1970", ttl(1, false)),
		row("persist", 2, Write|Fast, 1, "key", "Removes the time to live of a key", persist),
		row("keys", 2, Read, 0, "pattern", "Returns all keys that match a pattern", keys),
		row("scan", -2, Read, 0, "cursor [MATCH pattern] [COUNT count] [TYPE type]", "Returns some keys and the cursor of the next call", scan),
		row("randomkey", 1, Read, 0, "", "Returns a random key", randomKey),
		row("dbsize", 1, Read|Fast, 0, "", "Returns the number of keys", dbSize),
		row("rename", 3, Write, 2, "key newkey", "Renames a key", rename),
		row("renamenx", 3, Write|Fast, 2, "key newkey", "Renames a key unless the new name exists", renameNX),
		row("copy", -3, Write|DenyOOM, 2, "source destination [DB 0] [REPLACE]", "Copies a key", copyKey),
		row("flushall", -1, Write, 0, "[ASYNC|SYNC]", "Deletes all keys", flush),
		row("flushdb", -1, Write, 0, "[ASYNC|SYNC]", "Deletes all keys", flush),
		row("dump", 2, Read|Alone|Admin, 1, "key", "Returns the serialized value of a key", dump),
		row("restore", -4, Write|DenyOOM|Admin, 1, "key ttl serialized-value [REPLACE] [ABSTTL]", "Creates a key from a value that DUMP returned", restore),
	}
}

func del(c *Call) {
	n := 0
	for _, name := range c.args[1:] {
		if e := c.find(name); e != nil {
			c.tx.Drop(e)
			n++
		}
	}
	c.w.Int(int64(n))
}

func exists(c *Call) {
	n := 0
	for _, name := range c.args[1:] {
		if c.find(name) != nil {
			n++
		}
	}
	c.w.Int(int64(n))
}

func typeOf(c *Call) {
	if e := c.find(c.args[1]); e != nil {
		c.w.Simple(e.Type().String())
	} else {
		c.w.Simple("none")
	}
}

const notInteger = "ERR value is not an integer or out of range"

// expire says when a key ends: in units of so many milliseconds, from now on or not.
func expire(unit int64, relative bool) func(*Call) {
	return func(c *Call) {
		n, ok := resp.ParseInt(c.args[2])
		if !ok {
			c.w.Err(notInteger)
			return
		}
		conditions, problem := parseConditions(c.args[3:])
		if problem != "" {
			c.w.Err(problem)
			return
		}
		base := int64(0)
		if relative {
			base = c.time()
		}
		if n > (math.MaxInt64-base)/unit || n < math.MinInt64/unit {
			c.w.Err("ERR invalid expire time in '" + c.cmd.Name + "' command")
			return
		}
		at := base + n*unit
		e := c.find(c.args[1])
		if e == nil || !conditions.allow(c.expiry(e), at) {
			c.w.Int(0)
			return
		}
		if at <= c.time() {
			c.tx.Drop(e)
		} else {
			c.tx.Expire(e, at)
		}
		c.w.Int(1)
	}
}

// conditions say when EXPIRE does something.
type conditions struct{ nx, xx, gt, lt bool }

func parseConditions(words [][]byte) (o conditions, problem string) {
	for _, w := range words {
		switch strings.ToUpper(string(w)) {
		case "NX":
			o.nx = true
		case "XX":
			o.xx = true
		case "GT":
			o.gt = true
		case "LT":
			o.lt = true
		default:
			return o, "ERR Unsupported option " + string(w)
		}
	}
	switch {
	case o.nx && (o.xx || o.gt || o.lt):
		return o, "ERR NX and XX, GT or LT options at the same time are not compatible"
	case o.gt && o.lt:
		return o, "ERR GT and LT options at the same time are not compatible"
	}
	return o, ""
}

// allow reports whether a time may take the place of another, 0 being never.
func (o conditions) allow(before, at int64) bool {
	switch {
	case o.nx && before != 0, o.xx && before == 0:
		return false
	case o.gt && (before == 0 || at <= before):
		return false
	case o.lt && before != 0 && at >= before:
		return false
	}
	return true
}

// ttl tells when a key ends: in units of so many milliseconds, from now on or not.
func ttl(unit int64, relative bool) func(*Call) {
	return func(c *Call) {
		e := c.find(c.args[1])
		if e == nil {
			c.w.Int(-2)
			return
		}
		at := c.expiry(e)
		if at == 0 {
			c.w.Int(-1)
			return
		}
		if !relative {
			c.w.Int(at / unit)
			return
		}
		c.w.Int((max(at-c.time(), 0) + unit/2) / unit)
	}
}

func persist(c *Call) {
	e := c.find(c.args[1])
	if e == nil || c.expiry(e) == 0 {
		c.w.Int(0)
		return
	}
	c.tx.Expire(e, 0)
	c.w.Int(1)
}
