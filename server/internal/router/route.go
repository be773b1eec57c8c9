package router

import (
	"strings"

	"github.com/everbloom-go/everbloom/server/internal/command"
)

// A route says where a command goes: to the partition of its keys, to a function, or else to
// the home session.
type route struct {
	keyed   bool
	inMulti bool // it is not queued in a transaction
	split   bool // run is called only if the keys have several partitions
	wide    bool // it is not allowed in a transaction: it is about several partitions or about replies
	run     func(s *Session, cmd *command.Command, args [][]byte) error

	// Of sets that are spread: where the items begin that the parts are asked about, or else
	// what to do. A command with neither is refused.
	items   func(args [][]byte) int
	onParts func(s *Session, t *task) ([]byte, error)
}

// makeRoutes says where each command goes.
func (n *Node) makeRoutes() {
	several := route{keyed: true, split: true, run: (*Session).split}
	special := map[string]route{
		"del": several, "unlink": several, "exists": several, "touch": several,
		"dbsize": {wide: true, run: (*Session).dbSize}, "keys": {wide: true, run: (*Session).keys},
		"scan": {wide: true, run: (*Session).scan}, "randomkey": {wide: true, run: (*Session).randomKey},
		"flushall": {wide: true, run: (*Session).everywhere}, "flushdb": {wide: true, run: (*Session).everywhere},
		"save": {wide: true, run: (*Session).everywhere}, "bgsave": {wide: true, run: (*Session).everywhere},
		"wait": {wide: true, run: (*Session).wait}, "cluster": {wide: true, run: (*Session).cluster},
		"readonly": {wide: true, run: (*Session).setReadOnly}, "readwrite": {wide: true, run: (*Session).setReadOnly},
		"client|reply": {wide: true},
		"exec":         {run: (*Session).exec}, "watch": {keyed: true, run: (*Session).watchKeys},
		"discard": {run: (*Session).discard}, "reset": {run: (*Session).discard}, "unwatch": {run: (*Session).unwatch},
	}
	for _, cmd := range n.Home.Table.Commands() {
		r, ok := special[cmd.Name]
		if !ok {
			r.keyed = cmd.First > 0
		}
		r.inMulti = cmd.Flags&command.Immediate != 0
		r.items, r.onParts = itemsOf[cmd.Name], onParts[cmd.Name]
		n.routes = append(n.routes, r)
	}
	n.commands = known{
		multi: n.call("MULTI"), exec: n.call("EXEC"), dbSize: n.call("DBSIZE"), randomKey: n.call("RANDOMKEY"), keys: n.call("KEYS *"),
		create: n.call("EB.CREATE"), del: n.call("DEL"), exists: n.call("EXISTS"),
		expiry: n.call("PEXPIRETIME"), expireAt: n.call("PEXPIREAT"), persist: n.call("PERSIST"),
	}
}

// call returns a command that the router sends.
func (n *Node) call(line string) (c call) {
	for word := range strings.FieldsSeq(line) {
		c.args = append(c.args, []byte(word))
	}
	for _, cmd := range n.Home.Table.Commands() {
		if strings.EqualFold(cmd.Name, string(c.args[0])) {
			c.cmd = cmd
		}
	}
	return c
}

// Do runs one command for a user that has no connection, and returns the reply. After an error
// it is unknown what was stored.
func (n *Node) Do(u *command.User, from string, args [][]byte) ([]byte, error) {
	s := n.NewSession(0, from, "")
	defer s.Close()
	s.home.Assume(u, 2)
	s.gone = func() bool { return true } // nothing ends a WAIT
	s.Begin()
	defer s.End()
	if err := s.Take(args); err != nil {
		return nil, err
	}
	if err := s.Flush(); err != nil {
		return nil, err
	}
	return s.w.Bytes(), nil
}
