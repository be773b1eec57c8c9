package live

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/everbloom-go/everbloom/internal/capture"
	"github.com/everbloom-go/everbloom/internal/effort"
)

// TestMain runs the tests in a user namespace if they do not run as root: there they may have
// networks, nftables and AF_PACKET, but no XDP.
func TestMain(m *testing.M) {
	const inside = "EVERBLOOM_TEST_NAMESPACE"
	if os.Geteuid() == 0 || os.Getenv(inside) != "" {
		os.Exit(m.Run())
	}
	c := exec.Command("/proc/self/exe", os.Args[1:]...)
	c.Env = append(os.Environ(), inside+"=1")
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	if err := c.Start(); err != nil {
		fmt.Printf("NOT TESTED: neither root nor a user namespace: %v\n", err)
		os.Exit(m.Run())
	}
	_ = c.Wait() // the status says it
	os.Exit(c.ProcessState.ExitCode())
}

// wire is a cable between two interfaces of a network of its own.
type wire struct {
	t  *testing.T
	fd int // sends at the far end
}

// newWire makes the network for the thread of this test. It goes when the test ends.
func newWire(t *testing.T) *wire {
	t.Helper()
	effort.PlainOnly(t)
	runtime.LockOSThread() // never unlocked: the thread ends with the test, and its network with it
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("NOT TESTED: no network namespace: %v", err)
	}
	for _, args := range []string{"link add eb0 type veth peer name eb1", "link set eb0 up", "link set eb1 up", "link set lo up"} {
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Skipf("NOT TESTED: ip %s: %v: %s", args, err, out)
		}
	}
	device, err := net.InterfaceByName("eb1")
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: device.Index}); err != nil {
		t.Fatal(err)
	}
	return &wire{t, fd}
}

// frame returns a frame of UDP from a source, behind so many tags.
func frame(src string, tags int, payload string) []byte {
	b := []byte("\xff\xff\xff\xff\xff\xff\x02\x00\x00\x00\x00\x01")
	for range tags {
		b = append(b, 0x81, 0, 0, 7)
	}
	a := netip.MustParseAddr(src)
	udp := binary.BigEndian.AppendUint16([]byte{0, 1, 0, 2}, uint16(8+len(payload)))
	udp = append(append(udp, 0, 0), payload...)
	if a.Is4() {
		b = append(b, 8, 0, 0x45, 0)
		b = binary.BigEndian.AppendUint16(b, uint16(20+len(udp)))
		b = append(append(append(b, 0, 0, 0, 0, 64, 17, 0, 0), a.AsSlice()...), 10, 0, 0, 1)
	} else {
		b = append(b, 0x86, 0xdd, 0x60, 0, 0, 0)
		b = binary.BigEndian.AppendUint16(b, uint16(len(udp)))
		b = append(append(append(b, 17, 64), a.AsSlice()...), make([]byte, 16)...)
	}
	return append(b, udp...)
}

func (w *wire) send(frames ...[]byte) {
	w.t.Helper()
	for _, f := range frames {
		if _, err := unix.Write(w.fd, f); err != nil {
			w.t.Fatal(err)
		}
	}
}

func prefix(text string) netip.Prefix { return netip.MustParsePrefix(text) }

// openXDP opens it, or says that the machine does not let the test run.
func openXDP(t *testing.T, o Options) *XDP {
	t.Helper()
	x, err := OpenXDP("eb0", o)
	switch {
	case errors.Is(err, os.ErrPermission), errors.Is(err, ebpf.ErrNotSupported), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
		t.Skipf("NOT TESTED: %v", err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

// next returns the source of the frame that is read next, by its place in an untagged frame.
func next(t *testing.T, x *XDP) string {
	t.Helper()
	x.ring.SetDeadline(time.Now().Add(time.Minute))
	for {
		var f capture.Frame
		if err := x.Read(&f); err != nil {
			t.Fatal(err)
		}
		if f.Data[12] != 0x86 {
			return netip.AddrFrom4([4]byte(f.Data[26:30])).String()
		}
		if a := netip.AddrFrom16([16]byte(f.Data[22:38])); !a.IsUnspecified() && !a.IsLinkLocalUnicast() { // those are the kernel's own
			return a.String()
		}
	}
}

// until waits for a counter.
func until(t *testing.T, x *XDP, name string, want uint64) {
	t.Helper()
	for range 1000 {
		if x.Counters()[name] >= want {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s: %v, want %d", name, x.Counters(), want)
}

// TestKernelDropsWhatIsBanned holds for both families, tags, networks, lists and the end of
// bans, in the driver and without.
func TestKernelDropsWhatIsBanned(t *testing.T) {
	for _, generic := range []bool{false, true} {
		w := newWire(t)
		x := openXDP(t, Options{Generic: generic})
		t.Log(x.Name())
		w.send(frame("1.2.3.4", 0, "hello"), frame("2001:db8::1", 0, strings.Repeat("x", 1200)))
		if a, b := next(t, x), next(t, x); a != "1.2.3.4" || b != "2001:db8::1" {
			t.Fatalf("%s, %s", a, b)
		}
		for _, user := range []string{"1.2.3.4/32", "2001:db8::/64"} {
			if err := x.Ban(prefix(user), time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := x.Lists([]netip.Prefix{prefix("7.0.0.0/8")}, []netip.Prefix{prefix("7.7.7.0/24"), prefix("5.5.5.5/32")}); err != nil {
			t.Fatal(err)
		}
		w.send(frame("1.2.3.4", 0, "x"), frame("1.2.3.4", 1, "x"), frame("1.2.3.4", 2, "x"), frame("2001:db8::99", 0, "x"), frame("7.1.1.1", 0, "x"),
			frame("7.7.7.7", 0, "x"), frame("5.5.5.5", 0, "x"), frame("1.2.3.5", 0, "x"), frame("2001:db8:0:1::1", 0, "x"))
		if a, b := next(t, x), next(t, x); a != "1.2.3.5" || b != "2001:db8:0:1::1" {
			t.Errorf("%s, %s", a, b)
		}
		until(t, x, "dropped banned", 4)
		until(t, x, "dropped listed", 1)
		until(t, x, "allowed", 2)
		if err := x.Unban(prefix("1.2.3.4/32")); err != nil {
			t.Fatal(err)
		}
		if err := x.Lists(nil, nil); err != nil {
			t.Fatal(err)
		}
		w.send(frame("1.2.3.4", 0, "x"), frame("7.1.1.1", 0, "x"))
		if a, b := next(t, x), next(t, x); a != "1.2.3.4" || b != "7.1.1.1" {
			t.Errorf("after the end of a ban: %s, %s", a, b)
		}
		until(t, x, "not confirmed", 1)
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		if out, _ := exec.Command("ip", "link", "show", "eb0").Output(); strings.Contains(string(out), "xdp") {
			t.Errorf("it stays attached: %s", out)
		}
	}
}

// TestNoSourceIsDroppedByMistake has the bits of so many bans that have ended that most sources
// are claimed.
func TestNoSourceIsDroppedByMistake(t *testing.T) {
	w := newWire(t)
	x := openXDP(t, Options{Bans: 2000, Ring: 1 << 20})
	for i := range 6000 {
		user := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 32)
		err := x.Ban(user, time.Time{})
		if i >= 1000 {
			err = errors.Join(err, x.Unban(user))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 1000 {
		w.send(frame(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}).String(), 0, "x"), frame(netip.AddrFrom4([4]byte{11, 0, byte(i >> 8), byte(i)}).String(), 0, "x"))
	}
	until(t, x, "dropped banned", 1000)
	until(t, x, "to the gate", 1000)
	if c := x.Counters(); c["dropped banned"] != 1000 || c["not confirmed"] < 300 {
		t.Errorf("%v", c)
	}
}

// TestFullRingsAreCounted has nothing that reads.
func TestFullRingsAreCounted(t *testing.T) {
	w := newWire(t)
	x := openXDP(t, Options{Ring: 4096})
	for range 100 {
		w.send(frame("1.2.3.4", 0, "x"))
	}
	until(t, x, "lost, ring full", 80)
}

// TestPacketEnds closes readers, one of which waits: it is told, and nothing stays open.
func TestPacketEnds(t *testing.T) {
	newWire(t)
	open := func() *Packet {
		t.Helper()
		p, err := OpenPacket("eb0")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	files := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skipf("NOT TESTED: %v", err)
		}
		return len(list)
	}
	p, ended := open(), make(chan error)
	go func() {
		var err error
		for f := new(capture.Frame); err == nil; {
			err = p.Read(f)
		}
		ended <- err
	}()
	before := files()
	for range 20 {
		other := open()
		if err := errors.Join(other.Close(), other.Close()); err != nil {
			t.Fatal(err)
		}
		if err := other.Read(new(capture.Frame)); !errors.Is(err, os.ErrClosed) || other.Counters() == nil {
			t.Error(err)
		}
	}
	if n := files() - before; n > 10 {
		t.Errorf("%d files stay open", n)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}

// TestNftDropsWhatIsBanned asks AF_PACKET whether frames came, and a socket whether they
// passed: the interface has an address.
func TestNftDropsWhatIsBanned(t *testing.T) {
	w := newWire(t)
	for _, args := range []string{"addr add 10.0.0.1/8 dev eb0", "addr add 2001:db8::ffff/32 dev eb0 nodad"} {
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Skipf("NOT TESTED: ip %s: %v: %s", args, err, out)
		}
	}
	n, err := OpenNft(Options{})
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	p, err := OpenPacket("eb0")
	if err != nil {
		t.Fatal(err)
	}
	heard, err := net.ListenPacket("udp4", "10.0.0.1:2")
	if err != nil {
		t.Fatal(err)
	}
	defer heard.Close()
	mac, err := net.InterfaceByName("eb0")
	if err != nil {
		t.Fatal(err)
	}
	reaches := func(src string) bool {
		t.Helper()
		f := frame(src, 0, "ping")
		copy(f, mac.HardwareAddr)
		fixChecksum(f)
		w.send(f)
		var seen capture.Frame
		for {
			if err := p.Read(&seen); err != nil {
				t.Fatal(err)
			}
			if len(seen.Data) >= 46 && string(seen.Data[42:46]) == "ping" {
				break
			}
		}
		if err := heard.SetReadDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		_, _, err := heard.ReadFrom(make([]byte, 64))
		return err == nil
	}
	if !reaches("10.9.9.9") {
		t.Skip("NOT TESTED: frames do not reach a socket here")
	}
	if err := n.Ban(prefix("10.9.9.9/32"), time.Now().Add(2*time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := n.Ban(prefix("2001:db8:1:1::/64"), time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := n.Lists([]netip.Prefix{prefix("10.7.0.0/16")}, nil); err != nil {
		t.Fatal(err)
	}
	if err := n.Except(prefix("10.7.7.7/32")); err != nil || !reaches("10.7.7.7") || reaches("10.7.7.6") {
		t.Errorf("an exception: %v", err)
	}
	if err := n.Lists([]netip.Prefix{prefix("10.8.0.0/16"), prefix("10.8.1.0/24"), prefix("2001:db8:8::/48")}, []netip.Prefix{prefix("10.8.8.8/32")}); err != nil {
		t.Fatal(err)
	}
	for src, want := range map[string]bool{"10.9.9.9": false, "10.9.9.8": true, "10.8.1.1": false, "10.8.8.8": true} {
		if got := reaches(src); got != want {
			t.Errorf("%s: reaches %t, want %t", src, got, want)
		}
	}
	time.Sleep(2500 * time.Millisecond)
	if !reaches("10.9.9.9") {
		t.Error("the ban has not ended")
	}
	if err := n.Unban(prefix("10.9.9.9/32")); err != nil {
		t.Errorf("a ban that has ended: %v", err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if !reaches("10.8.1.1") {
		t.Error("something of the table stays")
	}
	_ = p.Close()
}

// TestAllThatMayHaveASourceReachesGo has frames that the program does not look into, and
// frames of more than 2 KiB.
func TestAllThatMayHaveASourceReachesGo(t *testing.T) {
	w := newWire(t)
	if out, err := exec.Command("sh", "-c", "ip link set eb0 mtu 9000 && ip link set eb1 mtu 9000").CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: %v: %s", err, out)
	}
	x := openXDP(t, Options{Generic: true}) // drivers refuse such frames
	pppoe := append([]byte("\xff\xff\xff\xff\xff\xff\x02\x00\x00\x00\x00\x01\x88\x64\x11\x00\x00\x01\x00\x20\x00\x21"), frame("1.2.3.4", 0, "pppoe")[14:]...)
	mpls := append([]byte("\xff\xff\xff\xff\xff\xff\x02\x00\x00\x00\x00\x01\x88\x47\x00\x01\x01\x40"), frame("1.2.3.4", 0, "mpls")[14:]...)
	for _, sent := range [][]byte{frame("1.2.3.4", 3, "tags"), pppoe, mpls, frame("1.2.3.4", 0, strings.Repeat("x", 8000)+"end")} {
		w.send(sent)
		for {
			var f capture.Frame
			x.ring.SetDeadline(time.Now().Add(time.Minute))
			if err := x.Read(&f); err != nil {
				t.Fatalf("%.40x: %v, %v", sent, err, x.Counters())
			}
			if string(f.Data) == string(sent) {
				break
			}
		}
	}
	if n := x.Counters()["to the gate, cut"]; n != 0 {
		t.Errorf("%d frames are cut", n)
	}
}

// TestTablesBelongToOneGate has a second gate of the same table refused, one of another
// table beside it, and a table that another program removes.
func TestTablesBelongToOneGate(t *testing.T) {
	newWire(t)
	n, err := OpenNft(Options{})
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	if err := n.Ban(prefix("10.9.9.9/32"), time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenNft(Options{}); err == nil || !strings.Contains(err.Error(), "--table") {
		t.Errorf("a second gate: %v", err)
	}
	if removed, kept, err := RemoveNft(); err != nil || len(removed) > 0 || len(kept) != 1 {
		t.Errorf("removed %v, kept %v: %v", removed, kept, err)
	}
	other, err := OpenNft(Options{Table: "everbloom-2"})
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil || bans(t, n) != 1 {
		t.Errorf("%v: the first gate has %d bans", err, bans(t, n))
	}
	if err := removeTable(TableName); err != nil {
		t.Fatal(err)
	}
	if err := n.Ban(prefix("10.9.9.8/32"), time.Now().Add(time.Hour)); err != nil || bans(t, n) != 2 {
		t.Errorf("%v: the table that was made again has %d bans", err, bans(t, n))
	}
	_ = n.owner.Close() // as if it were killed
	if removed, kept, err := RemoveNft(); err != nil || len(removed) != 1 || len(kept) > 0 {
		t.Errorf("removed %v, kept %v: %v", removed, kept, err)
	}
}

// bans returns how many IPv4 addresses a table drops.
func bans(t *testing.T, n *Nft) int {
	t.Helper()
	elements, err := n.conn.GetSetElements(n.bad[0])
	if err != nil {
		t.Fatal(err)
	}
	return len(elements)
}

// fixChecksum puts the checksum of IPv4 in.
func fixChecksum(f []byte) {
	sum := uint32(0)
	for i := 14; i < 34; i += 2 {
		sum += uint32(f[i])<<8 | uint32(f[i+1])
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	binary.BigEndian.PutUint16(f[24:], ^uint16(sum))
}
