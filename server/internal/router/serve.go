package router

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/resp"
)

// peering is the command that makes a connection one of another node.
const peering = "EB.PEER"

// secretPenalty is how long a wrong secret takes.
const secretPenalty = 200 * time.Millisecond

// IsPeering reports whether a command makes a connection that of another node.
func IsPeering(args [][]byte) bool { return strings.EqualFold(string(args[0]), peering) }

// upgrade makes the connection that of another node, if it knows the secret.
func (s *Session) upgrade(args [][]byte) error {
	switch {
	case len(args) != 2:
		s.w.Err("ERR wrong number of arguments for '" + strings.ToLower(peering) + "' command")
	case !s.node.knows(args[1]):
		time.Sleep(secretPenalty)
		s.w.Err("WRONGPASS the secret is not that of this cluster")
	default:
		s.upgraded = true
		s.w.OK()
	}
	return nil
}

// knows reports whether a secret is that of the cluster. Without one there are no other nodes.
func (n *Node) knows(secret []byte) bool {
	told, own := sha256.Sum256(secret), sha256.Sum256([]byte(n.Secret))
	return subtle.ConstantTimeCompare(told[:], own[:]) == 1 && n.Secret != ""
}

// A guest is a connection of another node, which forwards the commands of one client.
type guest struct {
	node    *Node
	conn    net.Conn
	id      int64
	inbox   inbox
	out     []byte
	seats   []seat // by partition
	works   []work // of a request
	words   [][]byte
	round   uint64 // of requests
	home    *command.Session
	user    *command.User
	header  header
	allowed time.Time
}

// ServePeer serves a connection of another node until it ends, which is an error. The caller
// closes the connection.
func (n *Node) ServePeer(c net.Conn, id int64) error {
	if err := c.SetDeadline(time.Time{}); err != nil {
		return err
	}
	n.mu.Lock()
	n.serving[c] = true
	ended := n.ended.Err()
	n.mu.Unlock()
	g := &guest{node: n, conn: c, id: id, inbox: inbox{limit: maxMessage}, seats: make([]seat, n.partitions)}
	defer func() {
		n.mu.Lock()
		delete(n.serving, c)
		n.mu.Unlock()
		for i := range g.seats {
			g.seats[i].leave()
		}
	}()
	for ended == nil {
		message, err := g.inbox.next(c)
		if err != nil {
			return err
		}
		if err := g.handle(message); err != nil {
			return err
		}
		ended = n.ended.Err()
	}
	return errEnded
}

// guestTime is how long a node may take to read a piece of a reply.
const guestTime = 30 * time.Second

// handle carries out a request and sends the reply.
func (g *guest) handle(message []byte) error {
	works, err := g.read(message)
	if err != nil {
		return err
	}
	if g.user == nil {
		refuseUser(works, g.header.user)
	} else {
		g.run(works)
	}
	g.out = append(begin(g.out), format)
	for i := range works {
		g.out = appendStatus(g.out, &works[i])
	}
	if !seal(g.out) {
		return errors.New("router: replies are too large for a message: ask for less at once")
	}
	g.clear(works)
	err = writePieces(g.conn, g.out, time.Now(), func(now time.Time) {
		if g.allowed.Sub(now) < guestTime/2 {
			g.allowed = now.Add(guestTime)
			_ = g.conn.SetWriteDeadline(g.allowed) // writing tells
		}
	})
	if cap(g.out) > maxKeptOut {
		g.out = nil
	}
	return err
}

// read reads a request.
func (g *guest) read(message []byte) ([]work, error) {
	c := cursor{b: message}
	h := c.readHeader(g.header)
	if c.bad || h.version != 2 && h.version != 3 {
		return nil, errFrame
	}
	if h != g.header {
		g.represent(h)
	}
	g.words = g.words[:0]
	g.round++
	n := 0
	for ; len(c.b) > 0; n++ {
		if n == len(g.works) {
			g.works = append(g.works, work{})
		}
		w := &g.works[n]
		if !c.readWork(w, &g.words, g.node.partitions) || g.seats[w.partition].round == g.round {
			return nil, errFrame
		}
		g.seats[w.partition].round = g.round
	}
	if c.bad || n == 0 {
		return nil, errFrame
	}
	return g.works[:n], nil
}

// represent has the connection act for a client, whose address stays the same.
func (g *guest) represent(h header) {
	if g.home == nil {
		g.home = command.NewSession(g.node.Home, g.id, h.addr, g.conn.LocalAddr().String())
	}
	g.user, _ = g.node.Home.Named(h.user) // nil if it is not known
	g.home.Represent(g.user, h.name)
	g.header = h
}

// refuseUser answers commands of a user that this node does not have.
func refuseUser(works []work, name string) {
	for i := range works {
		var w resp.Writer
		for range works[i].calls {
			w.Err(fmt.Sprintf("NOPERM the node that leads the partition has no user %s: give all nodes the same file of users", name))
		}
		works[i].status, works[i].reply = done, w.Bytes()
	}
}

// run carries works out, those of several partitions at the same time.
func (g *guest) run(works []work) {
	for i := range works {
		w := &works[i]
		shard := g.node.shards.Shard(w.partition)
		if shard == nil {
			w.refuse(g.node.shards.Leader(w.partition))
			continue
		}
		s := &g.seats[w.partition]
		s.take(shard, g.home.Fork)
		s.session.Assume(g.user, g.header.version)
		for j, c := range w.calls {
			cmd := s.session.Lookup(c.args)
			w.calls[j].cmd = cmd
			w.writes = w.writes || cmd != nil && cmd.Flags&command.Write != 0
		}
		s.start(w)
	}
	for i := range works {
		if w := &works[i]; w.status != notLeading || g.seats[w.partition].started {
			g.seats[w.partition].finish(w)
		}
	}
}

// clear lets go what a request needed.
func (g *guest) clear(works []work) {
	for i := range works {
		l := lane{work: works[i], seat: g.seats[works[i].partition]}
		l.clear()
		works[i] = l.work
	}
	clear(g.words)
	if cap(g.words) > maxBatch {
		g.words = nil
	}
}
