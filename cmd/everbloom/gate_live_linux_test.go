package main

import (
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
	if code != exitOK || !strings.Contains(text.String(), "\n100 sources banned, all of them attackers: true. Honest packets dropped: 0.\n") {
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

// TestGatesEndWithTheirInterface has it removed.
func TestGatesEndWithTheirInterface(t *testing.T) {
	effort.PlainOnly(t)
	runtime.LockOSThread() // never unlocked: the thread ends with the test, and its network with it
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("NOT TESTED: no network namespace: %v", err)
	}
	ip := func(args string) {
		t.Helper()
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Skipf("NOT TESTED: ip %s: %v: %s", args, err, out)
		}
	}
	ip("link add eb0 type veth peer name eb1")
	ip("link set eb0 up")
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
