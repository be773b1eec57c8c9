package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/cluster/clustertest"
)

// TestSpaces sends bytes through the networks of two servers and back, in each flow.
func TestSpaces(t *testing.T) {
	s, err := newSpaces(t, 2)
	if err != nil {
		t.Skipf("NOT TESTED: network namespaces: %v", err)
	}
	addr := fmt.Sprint(spaceHost(1), ":", spacePort)
	var l net.Listener
	if err := s.nodes[1].do(func() (err error) {
		l, err = net.Listen("tcp", addr)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	heard := make(chan byte, 10)
	go echo(l, heard)
	set := func(f clustertest.Flow, all bool) {
		if err := s.set(1, f, all); err != nil {
			t.Fatal(err)
		}
	}
	c, err := s.nodes[0].dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	say := func(b byte) {
		if _, err := c.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	answer := func(patience time.Duration) (byte, error) {
		b := make([]byte, 1)
		_ = c.SetReadDeadline(time.Now().Add(patience)) // reading tells
		_, err := c.Read(b)
		return b[0], err
	}
	const short, long = 100 * time.Millisecond, time.Minute
	for i, one := range []struct {
		flow clustertest.Flow
		all  bool
	}{{clustertest.Open, true}, {clustertest.Deaf, false}, {clustertest.Silent, true}} {
		b := byte(i)
		set(one.flow, one.all)
		say(b)
		if one.flow == clustertest.Deaf && <-heard != b {
			t.Error("what is sent is not heard")
		}
		if one.flow == clustertest.Open {
			if got, err := answer(long); err != nil || got != b {
				t.Fatal(got, err)
			}
			<-heard
			continue
		}
		if _, err := answer(short); err == nil {
			t.Errorf("flow %d: there is an answer", one.flow)
		}
		near, err := s.nodes[1].dial(addr) // a client beside the server
		if err != nil {
			t.Fatalf("flow %d: %v", one.flow, err)
		}
		_ = near.Close()
		set(clustertest.Open, true)
		if got, err := answer(long); err != nil || got != b {
			t.Errorf("flow %d: when it is open again: %d, %v", one.flow, got, err)
		}
		if one.flow != clustertest.Deaf {
			<-heard
		}
	}
	for _, all := range []bool{true, false} {
		set(clustertest.Cut, all)
		_, _ = c.Write([]byte{9}) // or it has ended already
		if _, err := answer(long); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("cut: %v", err)
		}
		if _, err := s.nodes[0].dial(addr); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("cut: %v", err)
		}
		set(clustertest.Open, all)
		if c, err = s.nodes[0].dial(addr); err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
}

// echo sends back what comes, and tells it.
func echo(l net.Listener, heard chan<- byte) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			for b := make([]byte, 1); ; {
				if _, err := io.ReadFull(c, b); err != nil {
					return
				}
				heard <- b[0]
				if _, err := c.Write(b); err != nil {
					return
				}
			}
		}()
	}
}
