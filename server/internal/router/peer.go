package router

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/command"
)

// A peer is the connection of a client's session to a node that leads partitions.
type peer struct {
	conn    net.Conn
	inbox   inbox
	out     []byte
	works   []*work   // that were sent and not answered
	now     time.Time // when it was asked for last
	allowed time.Time // until then reading and writing may take
	broken  bool
}

const (
	peerTime   = 2 * time.Second       // after which it is looked whether the leader is another one
	idleCheck  = 10 * time.Millisecond // a connection that was not used for so long may have been closed
	maxKeptOut = 128 << 10
	piece      = 1 << 20 // of a large message: each has its time
)

// connect connects to the node at an address and shows it the secret.
func (n *Node) connect(address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(n.ended, dialTime)
	defer cancel()
	c, err := n.Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	if err := shake(c, n.Secret); err != nil {
		_ = c.Close() // the error is told
		return nil, fmt.Errorf("router: node at %s: %w", address, err)
	}
	return c, nil
}

// shake begins a connection between nodes.
func shake(c net.Conn, secret string) error {
	if err := c.SetDeadline(time.Now().Add(dialTime)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(c, "*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(peering), peering, len(secret), secret); err != nil {
		return err
	}
	line, err := bufio.NewReaderSize(c, 256).ReadString('\n')
	if err != nil {
		return err
	}
	if line != "+OK\r\n" {
		return errors.New(strings.TrimSpace(line))
	}
	return c.SetDeadline(time.Time{})
}

// close ends the connection.
func (p *peer) close() {
	p.broken = true
	_ = p.conn.Close() // nothing can be done about it
}

// usable reports whether the connection can take a request, as far as can be seen.
func (p *peer) usable() bool {
	if p.broken || len(p.works) > 0 {
		return !p.broken
	}
	before := p.now
	p.now = time.Now()
	p.allow(p.now)
	return p.now.Sub(before) < idleCheck || quiet(p.conn)
}

// send sends the works of a batch.
func (p *peer) send(home *command.Session) {
	h := header{version: home.Writer().Version(), user: home.User().Name, addr: home.Addr, name: home.Name()}
	p.out = appendRequest(begin(p.out), h, p.works)
	if !seal(p.out) || writePieces(p.conn, p.out, p.now, p.allow) != nil {
		p.fail(false) // a message that is not whole is not looked at
	}
	if cap(p.out) > maxKeptOut {
		p.out = nil
	}
}

// allow lets reading and writing take their time. To set a deadline each time takes longer.
func (p *peer) allow(now time.Time) {
	if p.allowed.Sub(now) < peerTime/2 {
		p.allowed = now.Add(peerTime)
		_ = p.conn.SetDeadline(p.allowed) // reading and writing tell
	}
}

// writePieces writes a message, beginning now. allow is called before each piece of it.
func writePieces(c net.Conn, b []byte, now time.Time, allow func(time.Time)) error {
	for ; len(b) > 0; now = time.Now() {
		allow(now)
		n, err := c.Write(b[:min(len(b), piece)])
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// fail ends the connection, and works that may have been done.
func (p *peer) fail(sent bool) {
	for _, w := range p.works {
		w.status = notLeading
		if sent && w.writes {
			w.status = unknown
		}
		w.leader.Epoch, w.reply = 0, nil
	}
	clear(p.works)
	p.works = p.works[:0]
	p.close()
}

// receive waits for the reply to what was sent.
func (p *peer) receive(n *Node) {
	if len(p.works) == 0 {
		return // sending failed
	}
	var message []byte
	for {
		var err error
		if message, err = p.inbox.next(p.conn); err == nil {
			break
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) || n.ended.Err() != nil || p.replaced(n) || p.lost(n) {
			p.fail(true)
			return
		}
		p.allow(time.Now())
	}
	c := cursor{b: message}
	if c.byte() != format {
		c.fail()
	}
	for _, w := range p.works {
		c.readStatus(w)
	}
	if c.bad || len(c.b) > 0 {
		p.fail(true)
		return
	}
	clear(p.works)
	p.works = p.works[:0]
}

// replaced reports whether one of the works was sent to a node that does not lead any more.
func (p *peer) replaced(n *Node) bool {
	for _, w := range p.works {
		if n.shards.Leader(w.partition).Epoch > w.leader.Epoch {
			return true
		}
	}
	return false
}

// lost reports whether the node has not answered for long and cannot be reached. One that can be
// reached takes its time.
func (p *peer) lost(n *Node) bool {
	if time.Since(p.now) < n.Patience {
		return false
	}
	c, err := n.connect(p.works[0].leader.Address)
	if err != nil {
		return true
	}
	_ = c.Close() // it was a question
	return false
}
