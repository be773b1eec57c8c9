package demo

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/internal/gate/control"
	"github.com/everbloom-go/everbloom/server"
)

// start runs a server in memory until the test ends.
func start(t *testing.T) *server.Server {
	t.Helper()
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
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestLifeGoesOn lives two minutes of the demo at once: no command is refused, sets of all
// kinds are there, and sessions come and go.
func TestLifeGoesOn(t *testing.T) {
	s := start(t)
	c, err := dial(t.Context(), s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.conn.Close()
	l := &life{client: c, rng: newRand()}
	l.create()
	most, least := 0, sessionsMost
	for range 2 * sessionsWave {
		l.live(time.Now())
		if err := l.flush(); err != nil {
			t.Fatal(err)
		}
		most = max(most, len(l.sessions))
		if l.ticks > sessionsWave {
			least = min(least, len(l.sessions))
		}
	}
	if most < sessionsMost-1000 || least > sessionsLeast+1500 {
		t.Errorf("%d to %d sessions", least, most)
	}
	for _, set := range []string{"sessions", "blocklist", "crawler:seen", "shop:coupons", "shop:views", "mail:seen", "dictionary", "shop:carts", "user:07:likes"} {
		c.buffer = append(c.buffer, "EXISTS "+set+"\r\n"...)
		if _, err := c.conn.Write(c.buffer); err != nil {
			t.Fatal(err)
		}
		c.buffer = c.buffer[:0]
		if line, err := c.r.ReadString('\n'); err != nil || line != ":1\r\n" {
			t.Error(set, line, err)
		}
	}
}

// TestRunEnds with its context, and with the server.
func TestRunEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := Run(ctx, start(t).Addr().String()); err != nil {
		t.Error(err)
	}
	if err := Run(t.Context(), "127.0.0.1:1"); err == nil {
		t.Error("there is no server")
	}
}

// TestGateBans sees bans at the socket.
func TestGateBans(t *testing.T) {
	folder, err := os.MkdirTemp("", "gate") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	path := filepath.Join(folder, "s")
	go func() { done <- Gate(ctx, path) }()
	var text strings.Builder
	for !strings.Contains(text.String(), `"event":"ban"`) {
		select {
		case err := <-done:
			t.Fatal("the gate ended:", err)
		case <-t.Context().Done():
			t.Fatal("no ban")
		case <-time.After(100 * time.Millisecond):
		}
		some, stop := context.WithTimeout(ctx, time.Second)
		_ = control.NewClient(path).Events(some, &text) // until the second is over
		stop()
	}
	var e struct{ Pattern, Input string }
	lines := bufio.NewScanner(strings.NewReader(text.String()))
	if lines.Scan(); json.Unmarshal(lines.Bytes(), &e) != nil || !strings.HasPrefix(e.Pattern, "pattern ") || e.Input != "demo" {
		t.Error(text.String())
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestBlockListFollowsARealOne as long as there is a history, and goes on by itself.
func TestBlockListFollowsARealOne(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("EVERBLOOM_DATA", folder)
	path := filepath.Join(folder, historyFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := z.Write([]byte("+early\n@ 1 a\n+x\n+y\n@ 2 b\n-x\n+z\n")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	c := readChanges()
	for _, want := range []string{"[x y] []", "[z] [x]"} {
		added, gone := c.next(newRand())
		if got := fmt.Sprint(added, gone); got != want {
			t.Error(got, want)
		}
	}
	if added, gone := c.next(newRand()); len(added) != madeStep || len(gone) != 0 {
		t.Error(len(added), gone)
	}
}
