package command

import (
	"errors"

	"github.com/everbloom-go/everbloom/server/internal/resp"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

func ebExport(c *Call) {
	cursor, ok := resp.ParseInt(c.args[2])
	if !ok {
		c.w.Err("ERR invalid cursor")
		return
	}
	switch e := c.anyFilter(c.args[1]); {
	case e == nil:
	case e.Foreign():
		c.w.Err("ERR a filter imported from RedisBloom cannot be exported as a file: copy it with DUMP or SCANDUMP")
	default:
		c.chunk(e, cursor, true)
	}
}

func ebImport(c *Call) {
	name, chunk := c.args[1], c.args[3]
	cursor, ok := resp.ParseInt(c.args[2])
	switch {
	case !ok || cursor < 0 || cursor == 0 && len(chunk) > 0:
		c.w.Err("ERR invalid cursor")
		return
	case c.find(name) != nil:
		c.w.Err("ERR item exists")
		return
	case cursor > 0:
		at := cursor - 1 - int64(len(chunk))
		if at == 0 {
			c.env.expect(&arrival{name: string(name), size: c.env.MaxMemory()})
		}
		if _, ok := c.env.arrive(c.time(), name, at, chunk); !ok {
			c.env.forgetArrival(string(name))
			c.w.Err("ERR the chunk does not follow the previous one: start again with the first chunk")
			return
		}
		c.w.OK()
		return
	}
	a, _ := c.env.arrive(c.time(), name, -1, nil) // nothing follows
	c.env.forgetArrival(string(name))
	if a == nil {
		c.w.Err(notFound)
		return
	}
	spec, err := store.SpecOf(a.data)
	if err != nil {
		c.w.Err("ERR " + err.Error())
		return
	}
	if err := c.adopt(name, spec, a.data); err == nil {
		c.w.OK()
	} else if !errors.Is(err, errAnswered) {
		c.w.Err("ERR " + err.Error())
	}
}
