package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/gate/event"
	"github.com/everbloom-go/everbloom/internal/gate/keeper"
)

// serve starts a gate behind a socket.
func serve(t *testing.T) (*Server, *Client, string) {
	t.Helper()
	k, err := keeper.Open(keeper.Config{BanFor: time.Hour}, gate.Config{Users: 1000, Blacklist: []netip.Prefix{netip.MustParsePrefix("7.0.0.0/8")}})
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "gate") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	path := filepath.Join(folder, "s")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Keeper: k, Version: "v", Source: "test", Enforcer: "none", Done: t.Context().Done(), Kernel: func() map[string]uint64 { return map[string]uint64{"dropped": 5} }}
	h := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: time.Minute}
	go func() { _ = h.Serve(l) }()
	t.Cleanup(func() { _ = h.Close() })
	return s, NewClient(path), path
}

func of(addr string, more ...string) url.Values {
	v := url.Values{"addr": {addr}}
	for i := 0; i+1 < len(more); i += 2 {
		v.Set(more[i], more[i+1])
	}
	return v
}

// users returns what is banned.
func users(bans []keeper.Ban) (out []netip.Prefix) {
	for _, b := range bans {
		out = append(out, b.User)
	}
	return out
}

func TestGatesAreControlled(t *testing.T) {
	s, c, path := serve(t)
	ctx := t.Context()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	var b keeper.Ban
	if err := c.Do(ctx, "POST", "ban", of("1.2.3.4"), &b); err != nil || b.Until == nil || b.Until.Sub(b.Since) != time.Hour || b.Reason != "by hand" {
		t.Errorf("%+v, %v", b, err)
	}
	if err := c.Do(ctx, "POST", "ban", of("1.2.3.5", "for", "ever", "reason", "x"), &b); err != nil || b.Reason != "x" {
		t.Errorf("%+v, %v", b, err)
	}
	var a Answer
	for src, want := range map[string]gate.Standing{"1.2.3.4": gate.Bad, "7.1.1.1": gate.Bad, "9.9.9.9": gate.None} {
		var raw struct{ Standing string }
		if err := c.Do(ctx, "GET", "query", of(src), &raw); err != nil || raw.Standing != want.String() {
			t.Errorf("%s: %+v, %v, want %v", src, raw, err, want)
		}
	}
	if a.Answer, a.Ban = s.Keeper.Query(netip.MustParseAddr("1.2.3.5")); a.Ban == nil || a.Ban.Until != nil {
		t.Errorf("%+v", a.Ban)
	}
	if err := c.Do(ctx, "POST", "unban", of("1.2.3.4"), nil); err != nil {
		t.Error(err)
	}
	var bans []keeper.Ban
	if err := c.Do(ctx, "GET", "bans", nil, &bans); err != nil || len(bans) != 1 || bans[0].User.String() != "1.2.3.5/32" {
		t.Errorf("%v, %v", bans, err)
	}
	for _, addr := range []string{"1.2.3.9", "1.2.3.6", "1.2.3.7"} {
		if err := c.Do(ctx, "POST", "ban", of(addr), nil); err != nil {
			t.Error(err)
		}
	}
	all := s.Keeper.Bans()
	for n, want := range map[string]int{"0": 0, "1": 1, "3": 3, "99": 4} {
		bans = nil
		if err := c.Do(ctx, "GET", "bans", url.Values{"newest": {n}}, &bans); err != nil || len(bans) != want || !reflect.DeepEqual(users(bans), users(all[4-want:])) {
			t.Errorf("the newest %s: %v, %v, want those of %v", n, bans, err, all)
		}
	}
	for problem, do := range map[string]func() error{
		"must be a number of bans":    func() error { return c.Do(ctx, "GET", "bans", url.Values{"newest": {"-1"}}, nil) },
		"not an IPv4 or IPv6 address": func() error { return c.Do(ctx, "POST", "ban", of("x"), nil) },
		"must be a duration":          func() error { return c.Do(ctx, "POST", "ban", of("1.1.1.1", "for", "-5m"), nil) },
		"not found":                   func() error { return c.Do(ctx, "POST", "unban", of("1.1.1.1"), nil) },
		"nothing to reload":           func() error { return c.Do(ctx, "POST", "reload", nil, nil) },
		"404":                         func() error { return c.Do(ctx, "GET", "nothing", nil, nil) },
		"no gate answers":             func() error { return NewClient(path+"x").Do(ctx, "GET", "status", nil, nil) },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%v, want %q", err, problem)
		}
	}
	if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), "another gate answers") {
		t.Errorf("%v", err)
	}
}

func TestStatusAndMetrics(t *testing.T) {
	s, c, _ := serve(t)
	s.Reload = func() error { return errors.New("bad list") }
	s.Keeper.Ban(netip.MustParseAddr("1.2.3.4"), 0, "x")
	var raw map[string]any
	if err := c.Do(t.Context(), "GET", "status", nil, &raw); err != nil || raw["bans"] != 1.0 || raw["source"] != "test" || raw["gate"].(map[string]any)["packets"] != 0.0 {
		t.Errorf("%v, %v", raw, err)
	}
	text := string(metrics(s.Status()))
	for _, want := range []string{"everbloom_gate_bans 1\n", `everbloom_gate_packets_total{verdict="pass"} 0`, `everbloom_gate_kernel_total{what="dropped"} 5`, "# TYPE everbloom_gate_states gauge\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if err := c.Do(t.Context(), "POST", "reload", nil, nil); err == nil || err.Error() != "bad list" {
		t.Errorf("%v", err)
	}
}

// lines is a writer that hands over what it gets.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// TestEventsAreStreamed has a listener from before the first event, until it goes.
func TestEventsAreStreamed(t *testing.T) {
	s, c, _ := serve(t)
	ctx, cancel := context.WithCancel(t.Context())
	got, ended := make(lines, 10), make(chan error)
	go func() { ended <- c.Events(ctx, got) }()
	var text string
	for text == "" { // until it listens
		s.Keeper.Ban(netip.MustParseAddr("2001:db8::7"), time.Hour, "x")
		select {
		case text = <-got:
		case <-time.After(10 * time.Millisecond):
		}
	}
	first, _, _ := bytes.Cut([]byte(text), []byte("\n"))
	var e event.Event
	if err := json.Unmarshal(first, &e); err != nil || e.Kind != event.Ban || e.User != "2001:db8::/64" || e.Until == nil || e.Time == nil {
		t.Errorf("%s: %v", text, err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
