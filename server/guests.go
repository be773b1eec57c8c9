package server

import (
	"crypto/tls"
	"net"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/router"
)

// A role is what a connection counts as. Connections of other servers do not count as clients:
// commands of their clients would wait for one that ends.
type role uint8

const (
	asClient role = iota
	asProber      // there are too many clients: it may say that it is another server
	asGuest       // another server, which forwards commands
	roles
)

const (
	probeTime  = time.Second // that a prober has to say what it is
	maxProbers = 100
)

// roleOf returns what a new connection counts as. It reports false if it is to be refused. The
// caller has the lock.
func (s *Server) roleOf() (role, bool) {
	switch {
	case uint64(s.roles[asClient]) < s.settings.Number("maxclients"):
		return asClient, true
	case s.node != nil && s.roles[asProber] < maxProbers:
		return asProber, true
	}
	return 0, false
}

// change changes what a connection counts as.
func (c *conn) change(to role) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.server.roles[c.role]--
	c.server.roles[to]++
	c.role = to
}

// refuses answers a prober that is a client after all, and reports whether it is one.
func (c *conn) refuses(args [][]byte) bool {
	if c.role != asProber || router.IsPeering(args) {
		return false
	}
	c.server.host.Stats.Rejected.Add(1)
	c.session.Writer().Err(tooMany)
	c.send()
	return true
}

// probed ends a prober that has said nothing.
func (c *conn) probed() {
	if c.role == asProber {
		c.server.host.Stats.Rejected.Add(1)
		refuse(c.Conn, tooMany)
	}
}

// serveGuest serves another server.
func (c *conn) serveGuest() {
	c.change(asGuest)
	_ = c.server.node.router.ServePeer(c.Conn, c.home.ID) // it ends with the connection
}

const (
	tooMany = "ERR max number of clients reached"
	loading = "LOADING the server reads its sets, or waits for other nodes: try again later"
)

// refuse answers what a client has sent with an error. Over TLS it waits for the handshake.
func refuse(raw net.Conn, text string) {
	_ = raw.SetDeadline(time.Now().Add(time.Second)) // it may be gone
	if t, ok := raw.(*tls.Conn); ok {
		_ = t.Handshake() // writing tells
	}
	_ = raw.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	_, _ = raw.Read(make([]byte, 4<<10)) // what is not read would take the answer away
	_, _ = raw.Write([]byte("-" + text + "\r\n"))
	_ = raw.Close()
}
