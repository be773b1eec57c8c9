package main

import (
	"net/netip"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/everbloom-go/everbloom/internal/effort"
)

// TestLiveDemoDropsInTheKernel runs the demo where the machine lets it: attackers are
// banned, all they send after that is dropped before the gate sees it, and no honest packet.
func TestLiveDemoDropsInTheKernel(t *testing.T) {
	effort.PlainOnly(t)
	c := start(t, t.TempDir(), "gate", "live", "--demo", "--enforce", "xdp")
	var text strings.Builder
	for {
		line, err := c.out.ReadString('\n')
		text.WriteString(line)
		if err != nil {
			break
		}
	}
	messages, code, _ := c.end()
	if code == exitError {
		t.Skipf("NOT TESTED: %s", messages)
	}
	if code != exitOK || !strings.Contains(text.String(), "\n100 bans: 100 hit attackers and 0 honest sources. Honest packets dropped: 0.\n") {
		t.Errorf("status %d: %s%s", code, text.String(), messages)
	}
	if !regexp.MustCompile(`(?m)^ +3( +[0-9,]+){5}$`).MatchString(text.String()) {
		t.Errorf("%s", text.String())
	}
}

func TestLiveSaysWhatItNeeds(t *testing.T) {
	for args, want := range map[string]string{
		"gate live":                               "name one interface, such as eth0",
		"gate live --demo eth0":                   "--demo and --detach take no interface",
		"gate live no-such-interface":             "no-such-interface: ",
		"gate live lo --enforce magic":            `"magic": take auto, xdp, nft, none`,
		"gate follow --parser zeek --socket= x":   "--patterns: needed with --parser zeek",
		"gate follow --enforce magic --socket= x": `--enforce: "magic": take none, nft`,
	} {
		if args == "gate live no-such-interface" || args == "gate live lo --enforce magic" {
			args += " --socket="
		}
		status, _, stderr := tool(t, nil, strings.Fields(args)...)
		if status != exitError || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d: %s", args, status, stderr)
		}
	}
}

// cable makes a network of its own for the test, with a cable from eb0 to eb1.
func cable(t *testing.T) (ip func(args string)) {
	t.Helper()
	effort.PlainOnly(t)
	runtime.LockOSThread() // never unlocked: the thread ends with the test, and its network with it
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("NOT TESTED: no network namespace: %v", err)
	}
	ip = func(args string) {
		t.Helper()
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Skipf("NOT TESTED: ip %s: %v: %s", args, err, out)
		}
	}
	ip("link add eb0 type veth peer name eb1")
	ip("link set eb0 up")
	return ip
}

// TestChainsGoOnAfterARestart has a pattern in three datagrams, the first before a restart. The
// other two begin no pattern: the kernel must know that the source is inside one.
func TestChainsGoOnAfterARestart(t *testing.T) {
	cable(t)("link set eb1 up")
	s, err := newDemoSender("eb1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(s.fd) }()
	send := func(src, text string, port byte) {
		t.Helper()
		f := udpFrame(netip.MustParseAddr(src), text)
		f[35] = port
		if _, err := unix.Write(s.fd, f); err != nil {
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	put(t, folder, "patterns", "shell: \"/bin/sh\"\n")
	expect := func(c *child, want string) {
		t.Helper()
		if line, err := c.out.ReadString('\n'); err != nil || !strings.HasSuffix(line, want) {
			messages, _, _ := c.end()
			t.Fatalf("%q, %v, want %q: %s", line, err, want, messages)
		}
	}
	guard := func() *child {
		t.Helper()
		c := start(t, folder, "gate", "live", "eb0", "--enforce", "xdp", "--patterns", "patterns", "--state", "state", "--socket", "")
		if line, err := c.out.ReadString('\n'); err != nil {
			messages, _, _ := c.end()
			t.Skipf("NOT TESTED: %s%s", line, messages)
		}
		return c
	}
	c := guard()
	send("10.0.0.1", "/bi", 1)
	send("10.0.0.2", "/bin/sh", 1)
	expect(c, " strike 10.0.0.2 1: shell\n")
	c.signal(unix.SIGTERM)
	if messages, code, _ := c.end(); code != exitOK || messages != "" {
		t.Fatalf("status %d: %s", code, messages)
	}
	c = guard()
	send("10.0.0.1", "another conversation", 2)
	send("10.0.0.1", "n/s", 1)
	send("10.0.0.1", "h", 1)
	expect(c, " strike 10.0.0.1 1: shell\n")
	c.signal(unix.SIGTERM)
	if messages, code, _ := c.end(); code != exitOK || messages != "" { // frames were spared: else it would say so
		t.Fatalf("status %d: %s", code, messages)
	}
}

// TestGatesEndWithTheirInterface has it removed.
func TestGatesEndWithTheirInterface(t *testing.T) {
	ip := cable(t)
	c := start(t, t.TempDir(), "gate", "live", "eb0", "--socket", "")
	if line, err := c.out.ReadString('\n'); err != nil {
		messages, _, _ := c.end()
		t.Skipf("NOT TESTED: %s%s", line, messages)
	}
	ip("link del eb0")
	if messages, code, _ := c.end(); code != exitError || !strings.Contains(messages, "eb0: the interface is gone") {
		t.Errorf("status %d: %s", code, messages)
	}
}
