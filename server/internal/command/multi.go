package command

import (
	"bytes"
	"fmt"

	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/resp"
)

func multiCommands() []*Command {
	return []*Command{
		{Name: "multi", Arity: 1, Flags: Fast | Immediate, Summary: "Begins a transaction", Run: begin},
		{Name: "exec", Arity: 1, Flags: Write | Immediate, Summary: "Runs the commands of a transaction", Run: execute},
		{Name: "discard", Arity: 1, Flags: Fast | Immediate, Summary: "Discards a transaction", Run: discard},
		{Name: "watch", Arity: -2, Flags: Read | Fast | Immediate, First: 1, Last: -1, Step: 1, Syntax: "key [key ...]", Summary: "Makes the next EXEC fail if a key changes before it", Run: watchKeys},
		{Name: "unwatch", Arity: 1, Flags: Fast, Summary: "Unwatches all keys", Run: unwatch},
	}
}

// A multi is a transaction that is being collected.
type multi struct {
	calls   []call
	size    int  // bytes of effects that it may have
	memory  int  // bytes of its arguments
	spoiled bool // it had an error
}

// A watch is a key as it was when it was watched.
type watch struct {
	name            []byte
	number, version uint64
}

// maxMulti is how many bytes a transaction may have.
const maxMulti = 64 << 20

// queue keeps a command. Its arguments are copied: the connection reads on.
func (m *multi) queue(w *resp.Writer, cmd *Command, args [][]byte) {
	copies := make([][]byte, len(args))
	for i, a := range args {
		copies[i] = bytes.Clone(a)
		m.memory += len(a) + 32
	}
	m.size += effectSize(cmd, args)
	if m.memory > maxMulti || m.size > partition.MaxAtomic {
		m.spoiled = true
		w.Err(fmt.Sprintf("ERR the transaction is too large: its changes may take %d bytes in the log, at most %d", m.size, partition.MaxAtomic))
		return
	}
	m.calls = append(m.calls, call{cmd: cmd, args: copies})
	w.Simple("QUEUED")
}

// effectSize returns how many bytes of effects a command may have.
func effectSize(cmd *Command, args [][]byte) int {
	if cmd.Flags&Write == 0 {
		return 24 * len(args) // questions that are answered in order
	}
	n := 512
	for _, a := range args {
		n += 24
		if cmd.Name != "bf.madd" && cmd.Name != "bf.insert" && cmd.Name != "cf.insert" && cmd.Name != "cf.insertnx" {
			n += len(a)
		}
	}
	return n + len(args[min(1, len(args)-1)])
}

func begin(c *Call) {
	if c.multi != nil {
		c.w.Err("ERR MULTI calls can not be nested")
		return
	}
	c.multi = new(multi)
	c.w.OK()
}

func discard(c *Call) {
	if c.multi == nil {
		c.w.Err("ERR DISCARD without MULTI")
		return
	}
	c.multi, c.watched = nil, nil
	c.w.OK()
}

func watchKeys(c *Call) {
	if c.multi != nil {
		c.w.Err("ERR WATCH inside MULTI is not allowed")
		return
	}
	for _, name := range c.args[1:] {
		w := watch{name: bytes.Clone(name)}
		if c.tx != nil {
			w.number, w.version = c.tx.Version(name)
		} else if e := c.find(name); e != nil {
			w.number, w.version = e.Number(), e.Version()
		}
		c.watched = append(c.watched, w)
	}
	c.w.OK()
}

func unwatch(c *Call) {
	c.watched = nil
	c.w.OK()
}

// execute runs a transaction.
func execute(c *Call) {
	m := c.multi
	if m == nil {
		c.w.Err("ERR EXEC without MULTI")
		return
	}
	watched := c.watched
	c.multi, c.watched = nil, nil
	if m.spoiled {
		c.w.Err("EXECABORT Transaction discarded because of previous errors.")
		return
	}
	if problem := c.refusedAll(m); problem != "" {
		c.w.Err("EXECABORT Transaction discarded because of: " + problem)
		return
	}
	c.tx.Atomic(m.size, func() {
		for _, w := range watched {
			number, version := c.tx.Version(w.name)
			if number != w.number || version != w.version {
				c.w.NullArray()
				return
			}
		}
		c.executing = true
		c.w.Array(len(m.calls))
		for _, one := range m.calls {
			c.dispatch(one.cmd, one.args, c.tx)
		}
		c.executing = false
	})
}

// refusedAll returns why a transaction may not change anything now, if it wants to.
func (c *Call) refusedAll(m *multi) string {
	for _, one := range m.calls {
		if one.cmd.Flags&Write != 0 {
			inner := Call{Session: c.Session, cmd: one.cmd, args: one.args, tx: c.tx}
			if problem := inner.refused(); problem != "" {
				return problem
			}
		}
	}
	return ""
}
