package command

import (
	"errors"
	"math"
	"strings"

	"github.com/everbloom-go/everbloom/server/internal/resp"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// committed has what was decided applied before all names are looked at. Inside of a
// transaction that has changed something it reports false: the store does not have it yet.
func (c *Call) committed() bool { return c.tx == nil || c.tx.Barrier() }

// names calls do with every name, and those that the transaction has made.
func (c *Call) names(do func(name string, e *store.Entry)) {
	if c.committed() {
		c.env.Store.Scan(0, math.MaxInt, c.time(), do)
	} else {
		c.tx.Names(do)
	}
}

func keys(c *Call) {
	pattern := c.args[1]
	var found []string
	c.names(func(name string, _ *store.Entry) {
		if glob(pattern, name) && c.user.sees(name) {
			found = append(found, name)
		}
	})
	c.texts(found)
}

func (c *Call) texts(list []string) {
	c.w.Array(len(list))
	for _, s := range list {
		c.w.Text(s)
	}
}

func scan(c *Call) {
	c.committed()
	cursor, ok := resp.ParseInt(c.args[1])
	if !ok || cursor < 0 {
		c.w.Err("ERR invalid cursor")
		return
	}
	pattern, count, kind := []byte("*"), int64(10), ""
	for i := 2; i < len(c.args); i += 2 {
		word := strings.ToUpper(string(c.args[i]))
		if i+1 == len(c.args) {
			c.w.Err("ERR syntax error")
			return
		}
		value := c.args[i+1]
		switch word {
		case "MATCH":
			pattern = value
		case "TYPE":
			kind = string(value)
		case "COUNT":
			if count, ok = resp.ParseInt(value); !ok {
				c.w.Err(notInteger)
				return
			}
		}
		if word != "MATCH" && word != "TYPE" && word != "COUNT" || count < 1 {
			c.w.Err("ERR syntax error")
			return
		}
	}
	var found []string
	next := c.env.Store.Scan(uint64(cursor), int(min(count, math.MaxInt32)), c.time(), func(name string, e *store.Entry) {
		if glob(pattern, name) && (kind == "" || strings.EqualFold(kind, e.Type().String())) && c.user.sees(name) {
			found = append(found, name)
		}
	})
	c.w.Array(2)
	c.textInt(int64(next))
	c.texts(found)
}

func randomKey(c *Call) {
	c.committed()
	if name, ok := c.env.Store.Random(c.time(), c.user.sees); ok {
		c.w.Text(name)
	} else {
		c.w.Null()
	}
}

func dbSize(c *Call) {
	n, _ := c.countNames()
	c.w.Int(n)
}

// countNames returns how many names the user sees, and how many of them end some time.
func (c *Call) countNames() (all, expiring int64) {
	if c.user.Prefix == "" && c.committed() {
		return c.env.Store.Len()
	}
	c.names(func(name string, e *store.Entry) {
		if !c.user.sees(name) {
			return
		}
		all++
		if e.Expiry() != 0 {
			expiring++
		}
	})
	return all, expiring
}

func rename(c *Call) {
	e := c.find(c.args[1])
	if e == nil {
		c.w.Err("ERR no such key")
		return
	}
	if string(c.args[1]) != string(c.args[2]) {
		c.tx.Rename(e, c.args[2])
	}
	c.w.OK()
}

func renameNX(c *Call) {
	e := c.find(c.args[1])
	switch {
	case e == nil:
		c.w.Err("ERR no such key")
	case c.find(c.args[2]) != nil:
		c.w.Int(0)
	default:
		c.tx.Rename(e, c.args[2])
		c.w.Int(1)
	}
}

func copyKey(c *Call) {
	replace := false
	for i := 3; i < len(c.args); i++ {
		switch strings.ToUpper(string(c.args[i])) {
		case "REPLACE":
			replace = true
		case "DB":
			if i++; i == len(c.args) || string(c.args[i]) != "0" {
				c.w.Err("ERR DB index is out of range")
				return
			}
		default:
			c.w.Err("ERR syntax error")
			return
		}
	}
	if string(c.args[1]) == string(c.args[2]) {
		c.w.Err("ERR source and destination objects are the same")
		return
	}
	e := c.find(c.args[1])
	if e == nil || c.find(c.args[2]) != nil && !replace {
		c.w.Int(0)
		return
	}
	if c.bytes()+e.Bytes() > c.env.MaxMemory() { // before it is copied
		c.w.Err(outOfMemory)
		return
	}
	b := c.dumped(e)
	if b == nil {
		return
	}
	spec, content, _ := openDump(b)
	spec.Expiry = c.expiry(e)
	if err := c.adopt(c.args[2], spec, content); err == nil {
		c.w.Int(1)
	} else if !errors.Is(err, errAnswered) {
		c.w.Err("ERR " + err.Error())
	}
}

func flush(c *Call) {
	if len(c.args) > 2 || len(c.args) == 2 && !word(c.args[1], "ASYNC", "SYNC") {
		c.w.Err("ERR syntax error")
		return
	}
	c.tx.Flush()
	c.w.OK()
}

// word reports whether b is one of the words, in any case.
func word(b []byte, words ...string) bool {
	for _, w := range words {
		if strings.EqualFold(string(b), w) {
			return true
		}
	}
	return false
}
