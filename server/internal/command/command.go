package command

import (
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/resp"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// Flags say what a command is like.
type Flags uint16

// The flags.
const (
	Write   Flags = 1 << iota // it may change the data
	Read                      // it reads the data
	DenyOOM                   // it is refused when there is no memory
	Admin                     // it needs the role admin
	NoAuth                    // it is allowed before AUTH
	Fast
	Alone     // it may take long, and does not run in the partition
	NoMulti   // it is not allowed in a transaction
	Immediate // it is not queued in a transaction
	Secret    // its arguments are not shown
)

// A Command is one row of the table.
type Command struct {
	Name    string // in lower case; "config|get" for a subcommand
	Arity   int    // number of words with the name; negative: at least so many
	Flags   Flags
	First   int // position of the first key, 0 if there is none
	Last    int // of the last one; negative: counted from the end
	Step    int
	Syntax  string // of the arguments
	Summary string
	Run     func(*Call)
	Subs    []*Command // subcommands; then Run is nil

	number int // among all commands and subcommands
}

// ofKey returns a row for a command about one key, its first argument.
func ofKey(name string, arity int, f Flags, syntax, summary string, run func(*Call)) *Command {
	return &Command{Name: name, Arity: arity, Flags: f, First: 1, Last: 1, Step: 1, Syntax: syntax, Summary: summary, Run: run}
}

// sub returns a row for a subcommand.
func sub(name string, arity int, f Flags, syntax, summary string, run func(*Call)) *Command {
	return &Command{Name: name, Arity: arity, Flags: f, Syntax: syntax, Summary: summary, Run: run}
}

// Takes reports whether a command may have so many words.
func (cmd *Command) Takes(words int) bool {
	return words == cmd.Arity || cmd.Arity < 0 && words >= -cmd.Arity
}

// group returns the family of a command, for COMMAND DOCS.
func (cmd *Command) group() string {
	switch {
	case strings.HasPrefix(cmd.Name, "bf."):
		return "bf"
	case strings.HasPrefix(cmd.Name, "cf."):
		return "cf"
	case strings.HasPrefix(cmd.Name, "eb."):
		return "eb"
	case cmd.First > 0:
		return "generic"
	}
	return "server"
}

// A Call is one command that runs.
type Call struct {
	*Session
	cmd  *Command
	args [][]byte // with the name
	tx   *partition.Tx
}

// time returns the time in milliseconds: for reads, when the command arrived.
func (c *Call) time() int64 {
	if c.tx != nil {
		return c.tx.Now()
	}
	return c.now
}

// find returns the entry of a name, nil if there is none.
func (c *Call) find(name []byte) *store.Entry {
	if c.tx != nil {
		return c.tx.Find(name)
	}
	return c.finder.Lookup(name, c.now)
}

// items returns how many items an entry has.
func (c *Call) items(e *store.Entry) uint64 {
	if c.tx != nil {
		return e.Ahead.Items
	}
	return e.Items()
}

func (c *Call) deletes(e *store.Entry) uint64 {
	if c.tx != nil {
		return e.Ahead.Deletes
	}
	return e.Deletes()
}

func (c *Call) expiry(e *store.Entry) int64 {
	if c.tx != nil {
		return e.Ahead.Expiry
	}
	return e.Expiry()
}

// settled returns an entry with everything that was decided about it: itself when that is
// applied, and in a transaction a copy. It answers and returns nil if that cannot be.
func (c *Call) settled(e *store.Entry) *store.Entry {
	if c.tx == nil || c.tx.Clean(e) || c.tx.Barrier() {
		return e
	}
	e, err := c.tx.Preview(e)
	if err != nil {
		c.w.Err("ERR " + err.Error())
		return nil
	}
	return e
}

// described is settled for commands that describe an entry. Inside of a transaction they
// tell the items as they will be, and the size of the filter as it is.
func (c *Call) described(e *store.Entry) bool { return c.executing || c.settled(e) != nil }

// mayContain answers about one item. The reply is written at the end of what was written.
func (c *Call) mayContain(e *store.Entry, item []byte) bool {
	k := e.Key(item)
	if c.tx != nil {
		return c.tx.MayContain(e, k, c.here(formBool))
	}
	return e.MayContain(k)
}

// The forms of replies that may have to be fixed when it is known what became of a key.
const (
	formBool   partition.Form = iota // yes or no
	formBloom                        // yes or no, or no memory
	formCuckoo                       // yes or no, or the filter is full
	formInsert                       // the same as an element of CF.INSERT
	formInts                         // 1, 0 or -1
	formCount                        // a number
	formArray                        // the number of elements of an array
	formMask   = 0x7F
	formV3     = 0x80
)

// here returns the origin of a reply that will be written next.
func (c *Call) here(form partition.Form) partition.Origin {
	if c.w.Version() == 3 {
		form |= formV3
	}
	return partition.At(c.Session, c.w.Len(), form)
}

// Fix has the reply at an offset be replaced when the unit is answered.
func (s *Session) Fix(offset int, form partition.Form, o store.Outcome) {
	s.fixes = append(s.fixes, fix{offset, form, o})
}

// writeOutcome writes what became of a key.
func writeOutcome(w *resp.Writer, form partition.Form, o store.Outcome) {
	switch {
	case form == formCount:
		w.Int(int64(o))
	case form == formArray:
		w.Array(int(o))
	case form == formInts && o == store.Full, form == formInsert && o == store.Full && w.Version() == 2:
		w.Int(-1)
	case form == formInts:
		w.Int(int64(o))
	case o != store.Full || form == formInsert:
		w.Bool(o != store.Not && o != store.Full)
	case form == formCuckoo:
		w.Err("Filter is full")
	default:
		w.Err("ERR Insufficient memory")
	}
}

// outcome writes the reply about a keyed change.
func (c *Call) outcome(form partition.Form, o store.Outcome) { writeOutcome(c.w, form, o) }

// keysOf hashes items.
func keysOf(e *store.Entry, items [][]byte, to []filter.Key) []filter.Key {
	for _, item := range items {
		to = append(to, e.Key(item))
	}
	return to
}
