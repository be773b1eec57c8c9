//go:build unix

package main

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestServeDemo has the demo fill sets and a gate, which the console shows, and leaves nothing
// behind when it ends.
func TestServeDemo(t *testing.T) {
	folder, err := os.MkdirTemp("", "eb") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	c := start(t, folder, "serve", "--demo", "--addr", "127.0.0.1:0", "--http", "127.0.0.1:0")
	go func() { _, _ = io.Copy(io.Discard, c.errs) }()
	console := ""
	for console == "" {
		line, err := c.out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		console = regexp.MustCompile(`http://[0-9.:]+/console/`).FindString(line)
	}
	for page, text := range map[string]string{"sets": "blocklist", "gate": "strike 1"} {
		wait(t, console+page, text)
	}
	c.signal(syscall.SIGTERM)
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Error("it leaves", left, err)
	}
	if status, _, stderr := tool(t, strings.NewReader(""), "serve", "--demo", "--users", "users.txt"); status == 0 || !strings.Contains(stderr, "must have no users") {
		t.Error(status, stderr)
	}
}

// wait reads a page until it has a text.
func wait(t *testing.T, url, text string) {
	t.Helper()
	for range 600 {
		r, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(r.Body)
		_ = r.Body.Close() // it was read
		if err == nil && strings.Contains(string(page), text) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("%s never has %q", url, text)
}

// TestLoadWithConsoles has a row for the server while its consoles are open.
func TestLoadWithConsoles(t *testing.T) {
	c := start(t, t.TempDir(), "load", "--logs", "memory", "--consoles", "3", "--rounds", "1", "--duration", "50ms", "--connections", "2")
	go func() { _, _ = io.Copy(io.Discard, c.errs) }()
	out, err := io.ReadAll(c.out)
	if err != nil || c.Wait() != nil || !strings.Contains(string(out), "memory, 3 consoles") || !regexp.MustCompile(`without commands: .* for 100 of them`).Match(out) {
		t.Error(string(out), err)
	}
	if status, _, stderr := tool(t, strings.NewReader(""), "load", "--logs", "", "--consoles", "3"); status == 0 || !strings.Contains(stderr, "need a server") {
		t.Error(status, stderr)
	}
}
