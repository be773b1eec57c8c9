package clustertest

import (
	"net"
	"sync"
	"testing"
)

// A Flow says what a Proxy does with bytes.
type Flow uint8

// The flows.
const (
	Open   Flow = iota // hands everything on
	Cut                // ends all connections and refuses new ones
	Silent             // keeps connections and hands nothing on, as a network that loses packets
	Deaf               // hands on what the dialer sends, and keeps back what it is answered
)

// A Proxy hands TCP connections on to an address.
type Proxy struct {
	target   string
	listener net.Listener

	mu      sync.Mutex
	changed *sync.Cond
	flow    Flow
	closed  bool
	conns   map[net.Conn]bool
}

// NewProxy starts a proxy on the loopback. It ends with the test.
func NewProxy(tb testing.TB, target string) *Proxy {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{target: target, listener: l, conns: make(map[net.Conn]bool)}
	p.changed = sync.NewCond(&p.mu)
	go p.accept()
	tb.Cleanup(p.close)
	return p
}

// Addr returns the address to dial.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Set changes what is done with bytes, those of connections that are there too. It returns what
// was done before.
func (p *Proxy) Set(f Flow) (before Flow) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, p.flow = p.flow, f
	if f == Cut {
		p.hangUp()
	}
	p.changed.Broadcast()
	return before
}

// hangUp ends all connections. The caller has the lock.
func (p *Proxy) hangUp() {
	for c := range p.conns {
		_ = c.Close() // it is not used any more
	}
	clear(p.conns)
}

func (p *Proxy) close() {
	_ = p.listener.Close() // the test ends
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.hangUp()
	p.changed.Broadcast()
}

func (p *Proxy) accept() {
	for {
		from, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.connect(from)
	}
}

// connect joins a connection with one to the target.
func (p *Proxy) connect(from net.Conn) {
	to, err := net.Dial("tcp", p.target)
	if err != nil {
		_ = from.Close() // as if the target had refused it
		return
	}
	p.mu.Lock()
	if p.closed || p.flow == Cut {
		p.mu.Unlock()
		_, _ = from.Close(), to.Close() // refused
		return
	}
	p.conns[from], p.conns[to] = true, true
	p.mu.Unlock()
	go p.pump(from, to, Deaf)
	p.pump(to, from, Open)
}

// pump hands bytes on while the flow is open, or the other one that lets these bytes through.
func (p *Proxy) pump(from, to net.Conn, through Flow) {
	defer p.end(from, to)
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		for !p.closed && p.conns[to] && p.flow != Open && p.flow != through {
			p.changed.Wait()
		}
		p.mu.Unlock()
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *Proxy) end(from, to net.Conn) {
	_, _ = from.Close(), to.Close() // one end is gone
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, from)
	delete(p.conns, to)
	p.changed.Broadcast()
}
