package router

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// A cutter is a connection that breaks.
type cutter struct {
	net.Conn
	after *atomic.Int64 // replies that it brings until then
}

func (c cutter) Read(b []byte) (int, error) {
	if c.after.Add(-1) < 0 {
		_ = c.Close() // so that the other side notices
		return 0, io.ErrUnexpectedEOF
	}
	return c.Conn.Read(b)
}

// TestBrokenPeers has connections between nodes break: reads are sent again, and the outcome of
// writes is unknown.
func TestBrokenPeers(t *testing.T) {
	var after atomic.Int64
	dials := 0
	c := newCluster(t, 2, 2, func(c *Config) {
		plain := New(*c).Dial
		c.Patience = time.Second
		c.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			dials++
			conn, err := plain(ctx, address)
			return cutter{conn, &after}, err
		}
	})
	s := c.nodes[0].session(t)
	after.Store(1000)
	want(t, s, "SET a 1", "+OK")
	if dials != 1 {
		t.Errorf("%d connections", dials)
	}
	after.Store(0)
	if replies, err := run(s, "SET b 2", "SET a 2"); !errors.Is(err, errUnknown) {
		t.Errorf("%q, %v", replies, err)
	}
	after.Store(1000)
	s = c.nodes[0].session(t)
	await(t, "the leader has set it", func() bool {
		replies, err := run(s, "GET a")
		return err == nil && replies[0] == "$1\r\n2"
	})
	want(t, s, "GET b", "$1\r\n2")
	go func() {
		time.Sleep(20 * time.Millisecond)
		after.Store(1000)
	}()
	after.Store(0)
	want(t, s, "GET a", "$1\r\n2", "GET b", "$1\r\n2")
	after.Store(-1 << 60)
	want(t, s, "GET b", "$1\r\n2", "GET a", "-CLUSTERDOWN the leader n1 at "+c.nodes[1].address+" of partition 1 cannot be reached; try again later")
}

// A deaf connection brings nothing while it is stuck.
type deaf struct {
	net.Conn
	stuck *atomic.Bool
}

func (d deaf) Read(b []byte) (int, error) {
	if d.stuck.Load() {
		time.Sleep(time.Millisecond)
		return 0, os.ErrDeadlineExceeded
	}
	return d.Conn.Read(b)
}

// TestSilentLeader has a leader not answer for longer than Patience: it is waited for if it can
// be reached.
func TestSilentLeader(t *testing.T) {
	var stuck, unreachable atomic.Bool
	c := newCluster(t, 2, 2, func(c *Config) {
		plain := New(*c).Dial
		c.Patience = 20 * time.Millisecond
		c.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			if unreachable.Load() {
				return nil, io.ErrUnexpectedEOF
			}
			stuck.Store(false)
			conn, err := plain(ctx, address)
			return deaf{conn, &stuck}, err
		}
	})
	s := c.nodes[0].session(t)
	want(t, s, "SET a 1", "+OK")
	stuck.Store(true)
	want(t, s, "SET a 2", "+OK") // until another connection comes about
	stuck.Store(true)
	unreachable.Store(true)
	want(t, s, "GET a", "-CLUSTERDOWN the leader n1 at "+c.nodes[1].address+" of partition 1 cannot be reached; try again later")
	unreachable.Store(false)
	want(t, s, "GET a", "$1\r\n2")
	stuck.Store(true)
	unreachable.Store(true)
	if replies, err := run(s, "SET a 3"); !errors.Is(err, errUnknown) {
		t.Errorf("%q, %v", replies, err)
	}
}

// TestRestartedPeer has the connections of a node closed while they are not used: nothing is
// sent over them.
func TestRestartedPeer(t *testing.T) {
	c := newCluster(t, 2, 2, nil)
	s := c.nodes[0].session(t)
	want(t, s, "SET a 1", "+OK")
	there := c.nodes[1].node
	there.mu.Lock()
	for conn := range there.serving {
		_ = conn.Close() // as the end of a process does
	}
	there.mu.Unlock()
	await(t, "the connection ends", func() bool {
		for _, p := range s.peers {
			_ = p.conn.SetDeadline(time.Now().Add(time.Hour)) // it may be closed
			return !quiet(p.conn)
		}
		return false
	})
	time.Sleep(2 * idleCheck)
	want(t, s, "SET a 2", "+OK")
}

// TestSecret refuses nodes that do not know the secret.
func TestSecret(t *testing.T) {
	c := newCluster(t, 1, 1, nil)
	for line, reply := range map[string]string{
		"EB.PEER wrong\r\n":                 "-WRONGPASS the secret is not that of this cluster\r\n",
		"EB.PEER\r\n":                       "-ERR wrong number of arguments for 'eb.peer' command\r\n",
		"eb.peer secret\r\n":                "+OK\r\n",
		"EB.PEER secret PING\r\n":           "-ERR wrong number of arguments for 'eb.peer' command\r\n",
		"COMMAND INFO eb.peer\r\n":          "*1\r\n$-1\r\n",
		"*2\r\n$7\r\nEB.PEER\r\n$0\r\n\r\n": "-WRONGPASS the secret is not that of this cluster\r\n",
	} {
		conn, err := net.Dial("tcp", c.nodes[0].address)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(reply))
		_, err = conn.Write([]byte(line))
		if err == nil {
			_, err = io.ReadFull(conn, got)
		}
		if err != nil || string(got) != reply {
			t.Errorf("%q: %q, %v", line, got, err)
		}
		_ = conn.Close() // it is not needed
	}
	if New(Config{Shards: c.nodes[0], Home: c.nodes[0].home}).knows(nil) {
		t.Error("no secret is one")
	}
}

// TestUnreachedIsTold has nodes with different secrets: the one that forwards says why it cannot.
func TestUnreachedIsTold(t *testing.T) {
	secrets := []string{"one", "another"}
	var told atomic.Value
	c := newCluster(t, 2, 2, func(c *Config) {
		c.Secret, secrets, c.Patience = secrets[0], secrets[1:], time.Millisecond
		c.Report = func(address string, err error) { told.Store(address + ": " + err.Error()) }
	})
	want(t, c.nodes[0].session(t), "GET a", "-CLUSTERDOWN the leader "+name(1)+" at "+c.nodes[1].address+" of partition 1 cannot be reached; try again later")
	there := c.nodes[1].address
	if got := told.Load(); got != there+": router: node at "+there+": -WRONGPASS the secret is not that of this cluster" {
		t.Error(got)
	}
}

// request returns a request.
func request(h header, works ...*work) []byte {
	b := appendRequest(begin(nil), h, works)
	seal(b)
	return b
}

func args(line string) (out [][]byte) {
	for w := range strings.FieldsSeq(line) {
		out = append(out, []byte(w))
	}
	return out
}

// TestFrames writes requests and replies and reads them again, also in pieces.
func TestFrames(t *testing.T) {
	sent := []*work{
		{partition: 3, purpose: transaction, watch: 1 << 40, watches: 7, calls: []call{{args: args("MULTI")}, {args: args("EXEC")}}},
		{partition: 1, calls: []call{{args: args("EB.ADD k 1"), part: store.Part{Count: 300, Index: 299, Set: 1 << 60}}, {args: args("GET k")}}},
		{partition: 0, calls: []call{{args: append(args("SET k"), bytes.Repeat([]byte("x"), 300_000))}}},
	}
	h := header{3, "ann", "10.0.0.1:5", "name"}
	stream := slices.Concat(request(h, sent...), request(h, sent[0]))
	in := inbox{limit: maxMessage}
	r := pieces{bytes.NewReader(stream)}
	for i := range 2 {
		message, err := in.next(r)
		if err != nil {
			t.Fatal(err)
		}
		c := cursor{b: message}
		if got := c.readHeader(header{}); got != h {
			t.Errorf("%+v", got)
		}
		var words [][]byte
		for _, want := range sent[:len(sent)-i*(len(sent)-1)] {
			var got work
			if !c.readWork(&got, &words, 4) || fmt.Sprint(got) != fmt.Sprint(*want) {
				t.Errorf("%v, want %v", got, *want)
			}
		}
		if len(c.b) > 0 || c.bad {
			t.Error("something is left")
		}
	}
	if len(in.buf) > 700_000 {
		t.Errorf("%d bytes of memory", len(in.buf))
	}
	for _, want := range []work{
		{status: done, record: 9, reply: []byte("+OK\r\n")},
		{status: unknown},
		{status: unwatched},
		{status: notLeading, leader: partition.Leader{Node: "n", Address: "a:1", Epoch: 5}},
	} {
		var got work
		c := cursor{b: appendStatus(nil, &want)}
		if c.readStatus(&got); c.bad || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// pieces reads a few bytes at a time.
type pieces struct{ io.Reader }

func (p pieces) Read(b []byte) (int, error) { return p.Reader.Read(b[:min(len(b), 777)]) }

// TestBadRequests refuses requests that no node sends.
func TestBadRequests(t *testing.T) {
	n := newCluster(t, 1, 2, nil).nodes[0].node
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	one := &work{partition: 1, calls: []call{{args: args("SET a 1")}}}
	good := request(header{version: 2, user: "default"}, one)[frameHead:]
	for what, message := range map[string][]byte{
		"a partition twice":         request(header{version: 2}, one, one)[frameHead:],
		"no such partition":         request(header{version: 2}, &work{partition: 2})[frameHead:],
		"no such purpose":           request(header{version: 2}, &work{purpose: 3})[frameHead:],
		"a command without words":   request(header{version: 2}, &work{calls: []call{{}}})[frameHead:],
		"no such part":              request(header{version: 2}, &work{calls: []call{{args: args("GET a"), part: store.Part{Count: 3, Index: 3}}}})[frameHead:],
		"a part of one":             request(header{version: 2}, &work{calls: []call{{args: args("GET a"), part: store.Part{Count: 1}}}})[frameHead:],
		"no such version of RESP":   request(header{version: 4}, one)[frameHead:],
		"no work":                   request(header{version: 2})[frameHead:],
		"another format":            append([]byte{format + 1}, good[1:]...),
		"an end in the middle":      good[:len(good)-1],
		"something behind the end":  append(slices.Clone(good), 0xFF),
		"more words than there are": append(slices.Clone(good[:len(good)-len("SET a 1")-2]), 0xFF, 0xFF, 3),
	} {
		g := &guest{node: n, conn: theirs, seats: make([]seat, 2)}
		if works, err := g.read(message); !errors.Is(err, errFrame) {
			t.Errorf("%s: %v, %v", what, works, err)
		}
	}
	g := &guest{node: n, conn: theirs, seats: make([]seat, 2)}
	if works, err := g.read(good); err != nil || len(works) != 1 {
		t.Errorf("%v, %v", works, err)
	}
}

// TestAnnouncedLength has a message announce more than it has: memory follows what arrived.
func TestAnnouncedLength(t *testing.T) {
	in := inbox{limit: maxMessage}
	head := binary.LittleEndian.AppendUint32(nil, maxMessage)
	_, err := in.next(bytes.NewReader(append(head, make([]byte, 10_000)...)))
	if !errors.Is(err, io.EOF) || len(in.buf) > 20_000 {
		t.Errorf("%v, %d bytes of memory", err, len(in.buf))
	}
	for _, n := range []uint32{0, maxMessage + 1} {
		in := inbox{limit: maxMessage}
		if _, err := in.next(bytes.NewReader(binary.LittleEndian.AppendUint32(nil, n))); !errors.Is(err, errFrame) {
			t.Errorf("length %d: %v", n, err)
		}
	}
}

// FuzzPeer sends bytes to a node that takes them for requests, and to one that takes them for
// replies. Nothing panics, and a reply to a request is one that can be read.
func FuzzPeer(f *testing.F) {
	h := header{2, "default", "", ""}
	f.Add(request(h, &work{partition: 1, calls: []call{{args: args("SET a 1")}, {args: args("GET a")}}}, &work{calls: []call{{args: args("DBSIZE")}}}))
	f.Add(request(h, &work{partition: 1, purpose: transaction, calls: []call{{args: args("MULTI")}, {args: args("EXEC")}}}))
	f.Add(request(h, &work{partition: 1, purpose: watching, watch: 1, calls: []call{{args: args("WATCH a")}}}))
	f.Add(request(h, &work{partition: 1}, &work{partition: 1}))
	f.Add(request(h, &work{calls: []call{{args: args("NONSENSE")}, {args: args("EB.UNION a b")}, {args: args("CLIENT REPLY OFF")}}}))
	f.Add(request(h, &work{calls: []call{{args: args("EB.CREATE a SHARDS 2"), part: store.Part{Count: 2}}, {args: args("EB.ADD a 1"), part: store.Part{Count: 2, Index: 1, Set: 1}}}}))
	f.Add(appendStatus([]byte{format}, &work{status: done, reply: []byte("-MISROUTED 2 1 1\r\n")}))
	f.Add(appendStatus([]byte{format}, &work{status: done, reply: []byte("*2\r\n:1\r\n$3\r\nabc\r\n")}))
	f.Add(appendStatus([]byte{format}, &work{status: notLeading, leader: partition.Leader{Node: "n", Address: "a", Epoch: 3}}))
	c := newCluster(f, 1, 2, nil)
	c.nodes[0].home.Shutdown = func() {}
	f.Fuzz(func(t *testing.T, b []byte) {
		node := &canned{in: bytes.NewReader(b)}
		_ = c.nodes[0].node.ServePeer(node, 1) // how it ends
		in := inbox{limit: maxMessage}
		for node.out.Len() > 0 {
			message, err := in.next(&node.out)
			if err != nil || message[0] != format {
				t.Fatalf("reply %q, %v", message, err)
			}
		}
		r := cursor{b: b}
		var w work
		if r.readStatus(&w); w.status == done {
			for rest, err := w.reply, error(nil); err == nil && len(rest) > 0; {
				_, rest, err = cut(rest)
			}
		}
	})
}

// canned is a connection over which some bytes have arrived, and then its end.
type canned struct {
	net.Conn
	in  io.Reader
	out bytes.Buffer
}

func (c *canned) Read(b []byte) (int, error)       { return c.in.Read(b) }
func (c *canned) Write(b []byte) (int, error)      { return c.out.Write(b) }
func (c *canned) SetDeadline(time.Time) error      { return nil }
func (c *canned) SetWriteDeadline(time.Time) error { return nil }
func (c *canned) LocalAddr() net.Addr              { return new(net.TCPAddr) }

// TestReplies cuts replies apart.
func TestReplies(t *testing.T) {
	for _, reply := range []string{
		"+OK\r\n", "-ERR x\r\n", ":1\r\n", "$-1\r\n", "$0\r\n\r\n", "$4\r\n\r\n\r\n\r\n", "*-1\r\n", "*0\r\n", "*2\r\n*1\r\n:1\r\n$1\r\na\r\n",
		"%1\r\n+a\r\n~2\r\n#t\r\n_\r\n", ",1.5\r\n", "=5\r\ntxt:a\r\n",
	} {
		if got, rest, err := cut([]byte(reply + ":7\r\n")); err != nil || string(got) != reply || string(rest) != ":7\r\n" {
			t.Errorf("%q: %q, %q, %v", reply, got, rest, err)
		}
		for i := range len(reply) {
			if got, _, err := cut([]byte(reply[:i])); err == nil {
				t.Errorf("%q is taken for a reply", got)
			}
		}
	}
	if _, _, err := cut([]byte(strings.Repeat("*1\r\n", 100) + ":1\r\n")); err == nil {
		t.Error("replies that are nested deeply")
	}
}

// TestEveryCommandHasARoute has no command that changes sets run in the home session.
func TestEveryCommandHasARoute(t *testing.T) {
	n := newCluster(t, 1, 1, nil).nodes[0]
	for i, cmd := range n.home.Table.Commands() {
		r := n.node.routes[i]
		if cmd.Number() != i || cmd.Flags&(command.Write|command.Read) != 0 && !r.keyed && r.run == nil && cmd.Name != "eb.plan" {
			t.Errorf("%s runs without a partition", cmd.Name)
		}
	}
}
