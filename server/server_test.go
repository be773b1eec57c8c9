package server

import (
	"context"
	"log/slog"
	"testing"
	"time"
)

// start runs a server on some port until the test ends. Settings are pairs of name and
// value.
func start(t *testing.T, settings ...string) *Server {
	t.Helper()
	s, stop := run(t, settings...)
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// run runs a server on some port until stop is called.
func run(t *testing.T, settings ...string) (s *Server, stop func() error) {
	t.Helper()
	s, err := open(t, settings...)
	if err != nil {
		t.Fatal(err)
	}
	return s, serve(s)
}

// serve runs a server until the function that it returns is called.
func serve(s *Server) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	return func() error {
		cancel()
		return <-done
	}
}

// open opens a server on some port.
func open(tb testing.TB, settings ...string) (*Server, error) {
	tb.Helper()
	return Open(context.Background(), settingsOf(tb, settings), slog.New(slog.DiscardHandler))
}

// impatient opens a server that waits for logins only for a while.
func impatient(t *testing.T, wait time.Duration, settings ...string) *Server {
	t.Helper()
	s := newServer(settingsOf(t, settings), slog.New(slog.DiscardHandler))
	s.loginTime = wait
	if err := s.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// settingsOf returns settings of pairs of name and value, for a server on some port.
func settingsOf(tb testing.TB, settings []string) *Settings {
	tb.Helper()
	values := NewSettings()
	for i := 0; i < len(settings); i += 2 {
		if err := values.Set(settings[i], settings[i+1]); err != nil {
			tb.Fatal(err)
		}
	}
	for name, value := range map[string]string{"addr": "127.0.0.1:0", "http": "off"} {
		if values.Get(name) == NewSettings().Get(name) {
			if err := values.Set(name, value); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return values
}
