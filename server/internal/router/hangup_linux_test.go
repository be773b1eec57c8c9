package router

import (
	"io"
	"net"
	"testing"
	"time"
)

// TestWaitEndsWithItsClient has clients close their connections while they wait, and connections
// be ended as CLIENT KILL does.
func TestWaitEndsWithItsClient(t *testing.T) {
	n := newCluster(t, 3, 2, nil).nodes[0]
	for what, end := range map[string]func(client, server net.Conn) error{
		"closed": func(client, _ net.Conn) error { return client.Close() },
		"killed": func(_, server net.Conn) error { return server.SetReadDeadline(time.Unix(1, 0)) },
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			n.serveConn(server, 1)
			close(ended)
		}()
		if _, err := io.WriteString(client, "SET a 1\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(client, make([]byte, len("+OK\r\n"))); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(client, "WAIT 2 0\r\n"); err != nil {
			t.Fatal(err)
		}
		await(t, "the session waits", func() bool { n.node.mu.Lock(); defer n.node.mu.Unlock(); return n.node.asked != nil })
		if _, err := io.WriteString(client, "PING\r\n"); err != nil { // it stays unread
			t.Fatal(err)
		}
		select {
		case <-ended:
			t.Errorf("%s: the client was there", what)
		case <-time.After(20 * time.Millisecond):
		}
		if err := end(client, server); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Errorf("%s: the session goes on", what)
		}
		n.node.asked = nil
		_, _, _ = client.Close(), server.Close(), l.Close() // they may be closed
	}
}
