//go:build unix

package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestClusterStatus has three members: everything is well, then one of them ends, another one
// starts again, then all end.
func TestClusterStatus(t *testing.T) {
	dir := t.TempDir()
	var peers, addrs []string
	for i := range 3 {
		peers = append(peers, fmt.Sprintf("n%d=%s", i+1, freeAddr(t)))
		addrs = append(addrs, freeAddr(t))
	}
	var members []*exec.Cmd
	start := func(i int, addr string) {
		name := fmt.Sprint("n", i+1)
		c := command(t, dir, "serve", "--member", name, "--peers", strings.Join(peers, ","), "--addr", addr, "--http", "off",
			"--dir", filepath.Join(dir, name), "--partitions", "2")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Process.Kill() }) // it may have ended
		members = append(members, c)
	}
	for i, addr := range addrs {
		start(i, addr)
	}
	for _, addr := range addrs { // one that is still starting ends in another way
		wantStatus(t, addr, 0, "All partitions have a leader, and all nodes were heard lately.", "n3")
	}
	importBothWays(t, filepath.Join(dir, "copy"), addrs)
	end := func(i int) {
		_ = members[i].Process.Signal(syscall.SIGTERM) // Wait tells
		if err := members[i].Wait(); err != nil {
			t.Error(err)
		}
	}
	end(2)
	wantStatus(t, addrs[0], 1, "node n3 was heard")
	end(1)
	start(1, addrs[1])
	wantStatus(t, addrs[1], 1, "node n3 was not heard since this node started")
	for _, c := range []*exec.Cmd{members[0], members[3]} {
		_ = c.Process.Kill()
		_ = c.Wait() // it was killed
	}
	wantStatus(t, addrs[0], 2)
}

// importBothWays copies the filters of a cluster into a folder, and that into the cluster again.
func importBothWays(t *testing.T, folder string, addrs []string) {
	t.Helper()
	names := []string{"a", "b", "c", "d", "{a}b", "a}b", "{}a", "a{b"} // of both partitions
	var add, ask []string
	for _, name := range names {
		add, ask = append(add, "BF.ADD "+name+" x"), append(ask, "BF.EXISTS "+name+" x")
	}
	sayAll(t, addrs[0], add, strings.Repeat(":1\r\n", len(names)))
	for _, args := range [][]string{{"redis://" + addrs[1], "--dir", folder}, {folder, "--to", "redis://" + addrs[2]}} {
		status, stdout, stderr := tool(t, strings.NewReader(""), append([]string{"import"}, args...)...)
		if status != 0 || !strings.Contains(stdout, fmt.Sprintf("filters copied: %d, ", len(names))) {
			t.Fatalf("import %q: %d\n%s%s", args, status, stdout, stderr)
		}
		if args[1] == "--dir" {
			sayAll(t, addrs[0], []string{"FLUSHALL", "DBSIZE"}, "+OK\r\n:0\r\n")
		}
	}
	sayAll(t, addrs[0], append(ask, "DBSIZE"), strings.Repeat(":1\r\n", len(names))+fmt.Sprintf(":%d\r\n", len(names)))
}

// sayAll sends commands to a server, whose replies are known.
func sayAll(t *testing.T, addr string, lines []string, want string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, strings.Join(append(lines, "QUIT"), "\r\n")+"\r\n"); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); err != nil || string(got) != want+"+OK\r\n" {
		t.Fatalf("%q: %q, %v", lines, got, err)
	}
}

// freeAddr returns an address of the loopback that was free a moment ago.
func freeAddr(t *testing.T) string {
	t.Helper()
	for range 1000 {
		addr := fmt.Sprintf("127.0.0.1:%d", 19000+rand.IntN(1000)) // no port of those that connections take
		if l, err := net.Listen("tcp", addr); err == nil {
			_ = l.Close() // only its number is wanted
			return addr
		}
	}
	t.Fatal("no port is free")
	return ""
}

// wantStatus asks about a cluster until the exit status is what it should be, and looks for
// texts.
func wantStatus(t *testing.T, addr string, want int, texts ...string) {
	t.Helper()
	var status int
	var out, errs string
	for begun := time.Now(); time.Since(begun) < 3*time.Minute; time.Sleep(200 * time.Millisecond) {
		status, out, errs = tool(t, strings.NewReader(""), "cluster", "status", "redis://"+addr)
		missing := false
		for _, text := range texts {
			missing = missing || !strings.Contains(out, text)
		}
		if status == want && !missing {
			return
		}
	}
	t.Fatalf("exit status %d instead of %d:\n%s%s", status, want, out, errs)
}
