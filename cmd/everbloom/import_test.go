package main

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/server"
)

// TestImportAndCheck copies a server into a folder, and checks that.
func TestImportAndCheck(t *testing.T) {
	settings := server.NewSettings()
	for name, value := range map[string]string{"log": "memory", "addr": "127.0.0.1:0", "http": "off"} {
		if err := settings.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	s, err := server.Open(t.Context(), settings, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	conn, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.Write([]byte("BF.MADD seen a b c\r\nCF.ADD live x\r\nSET text 1\r\nPING\r\n"))
	for got := ""; !strings.HasSuffix(got, "+PONG\r\n"); {
		b := make([]byte, 1000)
		n, err := conn.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		got += string(b[:n])
	}
	dir := filepath.Join(t.TempDir(), "data")
	for _, c := range []struct {
		args           string
		status         int
		stdout, stderr string
	}{
		{"import redis://" + s.Addr().String() + " --dir " + dir, 0, "filters copied: 2, ", "not copied, because they are no filters: 1 key\n"},
		{"import redis://" + s.Addr().String() + " --dir " + dir, 0, "filters copied: 0, ", "kept, because the destination has them: 2 keys;"},
		{"import " + dir + " --dir " + dir + "2", 0, "filters copied: 2, ", ""},
		{"import " + dir + " --dir " + dir, 2, "", "is used by another server"},
		{"import " + dir + "x --dir " + dir, 2, "", "nor the folder of a server"},
		{"import redis://" + s.Addr().String(), 2, "", "to dir"},
		{"import --dir " + dir, 2, "", "too few arguments: name the server to copy"},
		{"serve --check --dir " + dir, 0, dir + ": in order: 2 keys, ", ""},
		{"serve --maxmemory 1.5gb --check --dir " + dir, 0, "in order", ""},
		{"serve --maxmemory lots --dir " + dir, 2, "", `everbloom: --maxmemory: "lots": must be a number of bytes, such as 100mb or 4GiB`},
		{"serve --check", 2, "", "no data folder: name one with --dir"},
		{"token", 2, "", "too few arguments: name the user"},
		{"serve --check --dir " + dir + "x", 2, "", "is not the folder of a server"},
	} {
		status, stdout, stderr := tool(t, strings.NewReader(""), strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%s: %d\n%s%s", c.args, status, stdout, stderr)
		}
	}
	packs, _ := filepath.Glob(filepath.Join(dir, "jetstream", "*", "*", "streams", "*", "msgs", "*.blk"))
	if len(packs) != 1 {
		t.Fatal(packs)
	}
	b, err := os.ReadFile(packs[0])
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(packs[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
	if status, stdout, stderr := tool(t, strings.NewReader(""), "serve", "--check", "--dir", dir); status != 2 || !strings.Contains(stderr, "restore a copy") {
		t.Errorf("damage: %d\n%s%s", status, stdout, stderr)
	}
	if _, err := os.Stat(dir + "x"); err == nil {
		t.Error("a check makes a folder")
	}
}
