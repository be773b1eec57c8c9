package server

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"github.com/everbloom-go/everbloom/server/internal/cluster/clustertest"
)

// A space is a network namespace. It ends when its file is closed and no process is in it, also
// if the test is killed.
type space struct{ file *os.File }

// onThread runs a function on a thread that ends with it.
func onThread(do func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread is not used again
		result <- do()
	}()
	return <-result
}

// newSpace makes a space. It is let go with the test.
func newSpace(t *testing.T) (s space, err error) {
	t.Helper()
	err = onThread(func() (err error) {
		if err = unix.Unshare(unix.CLONE_NEWNET); err == nil {
			s.file, err = os.Open("/proc/thread-self/ns/net")
		}
		return err
	})
	if err == nil {
		t.Cleanup(func() { _ = s.file.Close() })
	}
	return s, err
}

// do runs a function inside. Sockets that it opens and processes that it starts stay there.
func (s space) do(inside func() error) error {
	return onThread(func() error {
		if err := unix.Setns(int(s.file.Fd()), unix.CLONE_NEWNET); err != nil {
			return err
		}
		return inside()
	})
}

// ip runs commands of the tool ip inside.
func (s space) ip(lines ...string) error {
	return s.do(func() error {
		for _, line := range lines {
			if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
				return fmt.Errorf("ip %s: %w: %s", line, err, out)
			}
		}
		return nil
	})
}

// spaces are networks of servers, one for each, that a bridge joins. Nothing outside is changed.
type spaces struct {
	hub   space // has the bridge
	nodes []space
	all   []clustertest.Flow // of packets of a server
	some  []clustertest.Flow // of its connections from others to spacePort
}

const (
	spacePort = 6379 // of the Redis protocol
	peerPort  = 7000
)

func spaceHost(i int) string { return fmt.Sprintf("10.83.0.%d", i+1) }

// newSpaces makes the networks of n servers.
func newSpaces(t *testing.T, n int) (*spaces, error) {
	t.Helper()
	hub, err := newSpace(t)
	if err != nil {
		return nil, err
	}
	s := &spaces{hub: hub, all: make([]clustertest.Flow, n), some: make([]clustertest.Flow, n)}
	if err := hub.ip("link add br0 type bridge", "link set br0 up"); err != nil {
		return nil, err
	}
	for i := range n {
		node, err := newSpace(t)
		if err != nil {
			return nil, err
		}
		s.nodes = append(s.nodes, node)
		err = errors.Join(
			hub.ip(
				fmt.Sprintf("link add p%d type veth peer name eth0 netns /proc/%d/fd/%d", i, os.Getpid(), node.file.Fd()),
				fmt.Sprintf("link set p%d master br0 up", i),
			),
			node.ip("link set lo up", "addr add "+spaceHost(i)+"/24 dev eth0", "link set eth0 up"),
			s.apply(i),
		)
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// set changes what happens to all packets between a server and others, or only to those of
// connections of others to spacePort.
func (s *spaces) set(i int, f clustertest.Flow, all bool) error {
	s.some[i] = f
	if all {
		s.all[i], s.some[i] = f, clustertest.Open
	}
	return s.apply(i)
}

// apply tells the kernel what was asked for.
func (s *spaces) apply(i int) error {
	link := "up"
	if s.all[i] == clustertest.Silent {
		link = "down"
	}
	if err := s.hub.ip(fmt.Sprintf("link set p%d %s", i, link)); err != nil {
		return err
	}
	return s.nodes[i].do(func() error {
		c, err := nftables.New()
		if err != nil {
			return err
		}
		c.FlushRuleset()
		t := c.AddTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: "flow"})
		in := c.AddChain(&nftables.Chain{Name: "in", Table: t, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookInput, Priority: nftables.ChainPriorityFilter})
		out := c.AddChain(&nftables.Chain{Name: "out", Table: t, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookOutput, Priority: nftables.ChainPriorityFilter})
		rule := func(chain *nftables.Chain, list ...[]expr.Any) {
			r := &nftables.Rule{Table: t, Chain: chain}
			for _, part := range list {
				r.Exprs = append(r.Exprs, part...)
			}
			c.AddRule(r)
		}
		if s.all[i] == clustertest.Cut {
			rule(in, outside(expr.MetaKeyIIFNAME), reset)
			rule(out, outside(expr.MetaKeyOIFNAME), going, reset)
		}
		switch s.some[i] {
		case clustertest.Cut:
			rule(in, outside(expr.MetaKeyIIFNAME), port(2), reset)
			rule(out, outside(expr.MetaKeyOIFNAME), port(0), going, reset)
		case clustertest.Deaf:
			rule(out, outside(expr.MetaKeyOIFNAME), port(0), drop)
		}
		return c.Flush()
	})
}

var (
	reset = []expr.Any{&expr.Reject{Type: unix.NFT_REJECT_TCP_RST}}
	drop  = []expr.Any{&expr.Verdict{Kind: expr.VerdictDrop}}

	// going matches packets that do not reset a connection: those come from the rule for packets that
	// arrive.
	going = []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 13, Len: 1},
		&expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: 1, Mask: []byte{flagReset}, Xor: []byte{0}},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{0}},
	}
)

// flagReset is the flag of TCP that resets a connection.
const flagReset = 4

// outside matches packets of TCP that come from or go to the bridge.
func outside(key expr.MetaKey) []expr.Any {
	name := make([]byte, unix.IFNAMSIZ)
	copy(name, "eth0")
	return []expr.Any{
		&expr.Meta{Key: key, Register: 1}, &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: name},
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1}, &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.IPPROTO_TCP}},
	}
}

// port matches spacePort at an offset of the header: 0 is the source, 2 the destination.
func port(offset uint32) []expr.Any {
	return []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: offset, Len: 2},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.BigEndian.PutUint16(spacePort)},
	}
}

// useSpaces has the servers run in networks of their own, in place of proxies, if the test may make
// them. Clients connect from inside of the network of their server: cutting that off does not
// concern them.
func (c *trial) useSpaces() {
	c.t.Helper()
	s, err := newSpaces(c.t, len(c.nodes))
	if err != nil {
		c.t.Logf("NOT TESTED: network namespaces: proxies are used: %v", err)
		return
	}
	token, line, err := NewToken("tester", "admin", "*")
	if err != nil {
		c.t.Fatal(err)
	}
	users, secret := filepath.Join(c.dir, "users"), filepath.Join(c.dir, "secret")
	if err := errors.Join(os.WriteFile(users, []byte(line+"\n"), 0o600), os.WriteFile(secret, []byte("of the test"), 0o600)); err != nil {
		c.t.Fatal(err)
	}
	c.spaces, c.ways, c.login = s, nil, []string{"AUTH", "tester", token}
	c.settings = append(c.settings, "users", users, "peers-secret", secret)
	for i, n := range c.nodes {
		n.addr, n.peerAddr = fmt.Sprint(spaceHost(i), ":", spacePort), fmt.Sprint(spaceHost(i), ":", peerPort)
	}
}

// dial connects to an address from inside.
func (s space) dial(addr string) (c net.Conn, err error) {
	err = s.do(func() (err error) {
		c, err = net.DialTimeout("tcp", addr, dialTime)
		return err
	})
	return c, err
}
