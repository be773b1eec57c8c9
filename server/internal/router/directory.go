package router

import (
	"bytes"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// A directory remembers names of sets that are spread. It may be wrong: leaders say so. What a
// view has never changes, so all commands of a batch find the same.
type directory struct {
	view atomic.Pointer[view] // nil at first
	mu   sync.Mutex           // held to replace the view
}

// A view is the first part of each set that is known to be spread.
type view map[string]store.Part

// maxKnown is how many names a directory has at most.
const maxKnown = 1024

// find returns the first part of a set that is spread, as far as is known.
func (v *view) find(name []byte) (set store.Part, ok bool) {
	if v != nil {
		set, ok = (*v)[string(name)]
	}
	return set, ok
}

// learn remembers a set.
func (d *directory) learn(name []byte, set store.Part) {
	d.change(func(v view) bool {
		if v[string(name)] == set {
			return false
		}
		if len(v) >= maxKnown {
			clear(v)
		}
		v[string(name)] = set
		return true
	})
}

// forget forgets a set.
func (d *directory) forget(name []byte) {
	d.change(func(v view) bool {
		_, ok := v[string(name)]
		delete(v, string(name))
		return ok
	})
}

// change replaces the view by a copy with a change, if there is one.
func (d *directory) change(do func(view) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := make(view)
	if now := d.view.Load(); now != nil {
		maps.Copy(next, *now)
	}
	if do(next) {
		d.view.Store(&next)
	}
}

// A misroute says that a key is a part of a set: the first, as its leader knows it.
type misroute struct {
	set store.Part // zero if there is no part
	at  int        // of the key among the words
}

var misroutedHead = []byte("-" + command.Misrouted + " ")

// misrouted returns what a leader says that was sent a command about another part than it has.
func misrouted(reply []byte) (m misroute, ok bool) {
	rest, ok := bytes.CutPrefix(reply, misroutedHead)
	if !ok {
		return m, false
	}
	var numbers [3]uint64
	words := bytes.Fields(rest)
	for i := range min(len(words), len(numbers)) {
		numbers[i], _ = strconv.ParseUint(string(words[i]), 10, 64) // 0 if it is none
	}
	m.at = int(numbers[2])
	if n := numbers[0]; n > 0 && n <= store.MaxParts {
		m.set = store.Part{Count: uint16(n), Set: numbers[1]}
	}
	return m, true
}

// strays reports whether a key of a command that was sent as one about whole sets is a part.
func (c call) strays(reply []byte) (m misroute, ok bool, err error) {
	m, ok = misrouted(reply)
	if ok && (m.set.Count < 2 || m.at == 0 || m.at >= len(c.args)) {
		return m, false, errReply
	}
	return m, ok, nil
}

// known returns the first key of a command that is known to be spread.
func (v *view) known(c call) (m misroute, ok bool) {
	for at := range c.cmd.Keys(len(c.args)) {
		if set, ok := v.find(c.args[at]); ok {
			return misroute{set, at}, true
		}
	}
	return m, false
}

// partitionOfPart returns where a part of a set is.
func (n *Node) partitionOfPart(name []byte, p store.Part) int {
	return (n.of(name) + int(p.Index)*n.partitions/int(max(p.Count, 1))) % n.partitions
}
