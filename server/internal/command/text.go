package command

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/everbloom-go/everbloom/server/internal/resp"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// maxText is how long a string may be.
const maxText = 64 << 10

func textCommands() []*Command {
	return []*Command{
		{Name: "set", Arity: -3, Flags: Write | DenyOOM, First: 1, Last: 1, Step: 1, Syntax: "key value [NX|XX] [GET] [EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT unix-time-milliseconds|KEEPTTL]", Summary: "Sets a key to a string of up to 64 KiB", Run: set},
		{Name: "setnx", Arity: 3, Flags: Write | DenyOOM | Fast, First: 1, Last: 1, Step: 1, Syntax: "key value", Summary: "Sets a key to a string unless the key exists", Run: setNX},
		{Name: "get", Arity: 2, Flags: Read | Fast, First: 1, Last: 1, Step: 1, Syntax: "key", Summary: "Returns a string", Run: get},
	}
}

// A setRequest is what SET is asked to do.
type setRequest struct {
	nx, xx, get, keep bool
	expiry            int64
}

func (c *Call) parseSet() (r setRequest, problem string) {
	for i := 3; i < len(c.args); i++ {
		option := strings.ToUpper(string(c.args[i]))
		switch option {
		case "NX":
			r.nx = true
		case "XX":
			r.xx = true
		case "GET":
			r.get = true
		case "KEEPTTL":
			r.keep = true
		case "EX", "PX", "EXAT", "PXAT":
			if i++; i == len(c.args) || r.expiry != 0 {
				return r, "ERR syntax error"
			}
			if r.expiry, problem = c.expiryOption(option, c.args[i]); problem != "" {
				return r, problem
			}
		default:
			return r, "ERR syntax error"
		}
	}
	if r.nx && r.xx || r.keep && r.expiry != 0 {
		return r, "ERR syntax error"
	}
	return r, ""
}

// expiryOption returns the time that an option such as EX names.
func (c *Call) expiryOption(option string, value []byte) (at int64, problem string) {
	n, ok := resp.ParseInt(value)
	if !ok {
		return 0, notInteger
	}
	invalid := "ERR invalid expire time in '" + c.cmd.Name + "' command"
	unit := int64(1)
	if option[0] == 'E' {
		unit = 1000
	}
	base := int64(0)
	if len(option) == 2 {
		base = c.time()
	}
	if n <= 0 || n > (math.MaxInt64-base)/unit {
		return 0, invalid
	}
	return base + n*unit, ""
}

func set(c *Call) {
	r, problem := c.parseSet()
	old := c.find(c.args[1])
	switch {
	case problem != "":
		c.w.Err(problem)
		return
	case r.get && old != nil && old.Type() != store.Text:
		c.w.Err(wrongType)
		return
	case len(c.args[2]) > maxText:
		c.w.Err(fmt.Sprintf("ERR string of %d bytes, at most %d", len(c.args[2]), maxText))
		return
	}
	skip := r.nx && old != nil || r.xx && old == nil
	switch {
	case r.get && old == nil, skip && !r.get:
		c.w.Null()
	case r.get:
		c.w.Bulk(old.Text())
	default:
		c.w.OK()
	}
	if skip {
		return
	}
	if r.keep && old != nil {
		r.expiry = c.expiry(old)
	}
	c.put(r.expiry)
}

// put makes the string that the command names.
func (c *Call) put(expiry int64) {
	spec := store.Spec{Type: store.Text, Expiry: expiry}
	_, _ = c.tx.Adopt(c.args[1], spec, append([]byte{}, c.args[2]...)) // a string cannot be wrong
}

func setNX(c *Call) {
	if len(c.args[2]) > maxText {
		c.w.Err(fmt.Sprintf("ERR string of %d bytes, at most %d", len(c.args[2]), maxText))
		return
	}
	if c.find(c.args[1]) != nil {
		c.w.Int(0)
		return
	}
	c.put(0)
	c.w.Int(1)
}

func get(c *Call) {
	switch e := c.find(c.args[1]); {
	case e == nil:
		c.w.Null()
	case e.Type() != store.Text:
		c.w.Err(wrongType)
	default:
		c.w.Bulk(e.Text())
	}
}

// textInt writes a number as text.
func (c *Call) textInt(n int64) { c.w.Text(strconv.FormatInt(n, 10)) }
