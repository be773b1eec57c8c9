package server

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/resp"
	"github.com/everbloom-go/everbloom/server/internal/router"
)

const (
	writeTimeout = 10 * time.Second // a reader that takes nothing for so long is closed
	flushSize    = 64 << 10         // replies are sent when there are so many bytes
	loginTime    = 30 * time.Second // for handshakes, and for clients that have to say which user they are
)

// A conn is one connection. Its goroutine reads, runs commands and writes.
type conn struct {
	net.Conn
	server  *Server
	role    role // changed with the lock of the server
	session session
	home    *command.Session // what others know of the connection
	reader  *resp.Reader
	limited bool      // there is a deadline for reading
	unknown time.Time // since when the client has not logged in; zero if it has
	allowed time.Time // when the deadline for writing was set
	ended   atomic.Bool
}

// A session takes the commands of a connection: a [command.Session], or a [router.Session] on
// the node of a cluster.
type session interface {
	Begin()
	Take(args [][]byte) error
	Flush() error
	Answer()
	End()
	Close()
	Waiting() bool
	Closing() bool
	Authenticated() bool
	Writer() *resp.Writer
}

// accept takes connections until the listener is closed.
func (s *Server) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // for want of files; the clients wait
			s.logger.Warn("accepting a connection failed", "error", err)
			time.Sleep(100 * time.Millisecond)
			continue
		}
		s.add(c)
	}
}

// add serves a connection, unless there are too many or the server is not ready for it.
func (s *Server) add(raw net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending {
		_ = raw.Close() // the server ends
		return
	}
	if !s.serving {
		s.wg.Go(func() { refuse(raw, loading) })
		return
	}
	role, ok := s.roleOf()
	if !ok {
		s.host.Stats.Rejected.Add(1)
		s.wg.Go(func() { refuse(raw, tooMany) })
		return
	}
	s.host.Stats.Connections.Add(1)
	s.nextID++
	s.roles[role]++
	c := &conn{Conn: raw, server: s, role: role}
	c.session, c.home = s.newSession(s.nextID, raw)
	limits := resp.Standard()
	if !c.session.Authenticated() || role == asProber {
		limits = resp.Unauthenticated()
	}
	c.reader = resp.NewReader(raw, limits)
	s.conns[c.home.ID] = c
	s.wg.Go(c.serve)
}

// serve handles the connection until it ends.
func (c *conn) serve() {
	defer func() {
		c.server.mu.Lock()
		delete(c.server.conns, c.home.ID)
		c.server.roles[c.role]--
		c.server.mu.Unlock()
		c.session.Close()
		_ = c.Close() // nothing can be done about it
	}()
	if !c.shakeHands() {
		return
	}
	for !c.ended.Load() {
		c.setReadDeadline()
		if c.reader.Fill() != nil {
			c.probed()
			return
		}
		c.session.Begin()
		goOn := c.handle()
		c.session.End()
		if !goOn {
			return
		}
		if r, ok := c.session.(*router.Session); ok && r.Upgraded() {
			c.serveGuest()
			return
		}
		if c.role == asProber {
			return // it does not know the secret
		}
	}
}

// do runs one command for a user that has no connection.
func (s *Server) do(u *command.User, from string, args [][]byte) ([]byte, error) {
	if s.node != nil {
		return s.node.router.Do(u, from, args)
	}
	return s.first().env.Do(u, from, args)
}

// newSession returns what takes the commands of a connection, and what others know of it.
func (s *Server) newSession(id int64, raw net.Conn) (session, *command.Session) {
	addr, local := raw.RemoteAddr().String(), raw.LocalAddr().String()
	if s.node != nil {
		r := s.node.router.NewSession(id, addr, local)
		r.SetConn(raw)
		return r, r.Home()
	}
	c := command.NewSession(s.first().env, id, addr, local)
	return c, c
}

// shakeHands does the handshake of TLS. A peer that does not finish it is not known, and does
// not keep the place of a connection.
func (c *conn) shakeHands() bool {
	t, ok := c.Conn.(*tls.Conn)
	if !ok {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.server.loginTime)
	defer cancel()
	return t.HandshakeContext(ctx) == nil
}

// setReadDeadline says how long the connection may be idle, or until when the client must have
// logged in, whatever it sends before.
func (c *conn) setReadDeadline() {
	var deadline time.Time
	if c.role == asProber {
		deadline = time.Now().Add(probeTime)
	} else if c.session.Authenticated() {
		c.unknown = time.Time{}
		if idle := time.Duration(c.server.idle.Load()); idle != 0 {
			deadline = time.Now().Add(idle)
		}
	} else {
		if c.unknown.IsZero() {
			c.unknown = time.Now()
		}
		deadline = c.unknown.Add(c.server.loginTime)
	}
	if deadline.IsZero() && !c.limited {
		return
	}
	c.limited = !deadline.IsZero()
	_ = c.SetReadDeadline(deadline) // reading tells
	if c.ended.Load() {
		c.interrupt()
	}
}

// handle runs all commands that have arrived and sends the replies. It reports whether the
// connection goes on.
func (c *conn) handle() bool {
	for {
		args, err := c.reader.Next()
		if err != nil {
			return c.protocolError(err)
		}
		if args == nil {
			break
		}
		if c.refuses(args) {
			return false
		}
		before := c.session.Authenticated()
		if c.session.Take(args) != nil {
			return false
		}
		if !before && c.session.Authenticated() {
			c.reader.SetLimits(resp.Standard())
		}
		if c.session.Closing() {
			break
		}
		if c.session.Writer().Len() >= flushSize && !c.session.Waiting() && !c.send() {
			return false
		}
	}
	return c.session.Flush() == nil && c.send() && !c.session.Closing()
}

// protocolError answers bytes that are not the protocol, after what came before them.
func (c *conn) protocolError(err error) bool {
	if c.session.Flush() == nil {
		c.session.Writer().Err("ERR " + err.Error())
		c.send()
	}
	return false
}

// send writes the replies.
func (c *conn) send() bool {
	c.session.Answer()
	w := c.session.Writer()
	if w.Len() == 0 {
		return true
	}
	if w.Len() > flushSize {
		return c.sendLarge(w)
	}
	c.allowWriting()
	_, err := c.Write(w.Bytes())
	w.Reset()
	return err == nil
}

// sendLarge writes in parts, each of which has its time.
func (c *conn) sendLarge(w *resp.Writer) bool {
	defer w.Reset()
	for b := w.Bytes(); len(b) > 0; {
		n := min(len(b), flushSize)
		c.allowWriting()
		if _, err := c.Write(b[:n]); err != nil {
			return false
		}
		b = b[n:]
	}
	return true
}

// allowWriting sees to it that writing may take its time, and twice that at most: to set a
// deadline takes longer than to write.
func (c *conn) allowWriting() {
	if now := time.Now(); now.Sub(c.allowed) >= writeTimeout {
		c.allowed = now
		_ = c.SetWriteDeadline(now.Add(2 * writeTimeout)) // writing tells
	}
}

// interrupt ends the connection when the commands that run are done.
func (c *conn) interrupt() {
	c.ended.Store(true)
	_ = c.SetReadDeadline(time.Unix(1, 0)) // reading ends at once
}

// Sessions returns the sessions of all connections.
func (s *Server) Sessions() []*command.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*command.Session, 0, len(s.conns))
	for _, c := range s.conns {
		list = append(list, c.home)
	}
	return list
}

// Kill closes a connection.
func (s *Server) Kill(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.conns[id]
	if c != nil {
		c.interrupt()
	}
	return c != nil
}
