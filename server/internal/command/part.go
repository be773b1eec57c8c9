package command

import (
	"fmt"

	"github.com/everbloom-go/everbloom/server/internal/resp"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// Misrouted begins the reply to a command about a key that is not the part of a set which the
// sender takes it for: nothing was done. The number of parts that the set has follows, the
// number of the set, and the position of the key among the words. 0 parts mean that there is
// no part here.
const Misrouted = "MISROUTED"

// misrouted returns what is wrong with the parts of sets that the keys are, "" if nothing is.
// EB.CREATE looks itself.
func (c *Call) misrouted() string {
	if c.part.Count == 0 && !c.env.Store.Spreads() || c.cmd.Name == "eb.create" {
		return ""
	}
	for at := range c.cmd.Keys(len(c.args)) {
		have := store.Part{}
		if e := c.find(c.args[at]); e != nil {
			have = e.Spec().Part
		}
		if c.means(have) {
			continue
		}
		if c.executing {
			return fmt.Sprintf("ERR the set is spread over %d partitions: a transaction is about one partition", have.Count)
		}
		return fmt.Sprintf("%s %d %d %d", Misrouted, have.Count, have.Set, at)
	}
	return ""
}

// means reports whether a part is the one that the sender of the command means. Without a
// number of the set it means those of any set.
func (c *Call) means(have store.Part) bool {
	want := c.part
	if want.Set == 0 {
		have.Set = 0
	}
	return have == want
}

// sharded returns what is wrong with SHARDS, "" if nothing is.
func (c *Call) sharded(n uint64) string {
	switch {
	case c.part.Count > 0 || n <= 1:
		return ""
	case c.executing:
		return "ERR SHARDS is not allowed in a transaction: a transaction is about one partition"
	}
	return "ERR SHARDS: this server is alone, and a set is spread over the partitions of a cluster: leave it out"
}

// parseShards understands the value of SHARDS.
func parseShards(value []byte) (n uint64, problem string) {
	i, ok := resp.ParseInt(value)
	if !ok || i < 1 || i > store.MaxParts {
		return 0, "ERR SHARDS: a number from 1 to the number of partitions"
	}
	return uint64(i), ""
}

// superseded reports whether there is the part already that is to be created, or that of a
// later set. The part of an earlier set, which was left over, is dropped.
func (c *Call) superseded() bool {
	e := c.find(c.args[1])
	if e == nil || !c.part.Hidden() {
		return false
	}
	if e.Spec().Part.Set >= c.part.Set {
		return true
	}
	c.tx.Drop(e)
	return false
}

// newPart returns the part that is created. The first one gives the set its number: sets of one
// name have numbers that rise.
func (c *Call) newPart() store.Part {
	p := c.part
	if p.Count > 0 && p.Set == 0 {
		p.Set = c.tx.Store().LastNumber() + 1
	}
	return p
}
