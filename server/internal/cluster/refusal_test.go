package cluster_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/everbloom-go/everbloom/server/internal/cluster"
)

// engine returns the configuration of an operator's server.
func engine(t *testing.T, payload int32) *server.Options {
	t.Helper()
	return &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir(), MaxPayload: payload}
}

// operator runs a NATS server as an operator does, and returns its address.
func operator(t *testing.T, o *server.Options) string {
	t.Helper()
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	return s.Addr().String()
}

// TestWaitingIsTold has servers that may yet come, or be configured: it says what it waits for.
func TestWaitingIsTold(t *testing.T) {
	t.Parallel()
	without := engine(t, 8<<20)
	without.JetStream = false
	for url, want := range map[string]string{"nats://127.0.0.1:1": "NATS cannot be reached", "nats://" + operator(t, without): "JetStream does not answer: "} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		var said atomic.Bool
		log := slog.New(slog.NewTextHandler(ear(func(b []byte) {
			if strings.Contains(string(b), want) {
				said.Store(true)
				cancel()
			}
		}), nil))
		if _, err := cluster.Connect(ctx, cluster.Config{Name: "n1", URLs: url, Logger: log}); err == nil {
			t.Error(url, "there is none")
		}
		if !said.Load() {
			t.Errorf("%s: nothing is said", url)
		}
		cancel()
	}
}

type ear func(b []byte)

func (w ear) Write(b []byte) (int, error) {
	w(b)
	return len(b), nil
}

// TestRefusals has configurations and servers that cannot work.
func TestRefusals(t *testing.T) {
	t.Parallel()
	small, one := "nats://"+operator(t, engine(t, 1<<20)), "nats://"+operator(t, engine(t, 8<<20))
	locked := engine(t, 8<<20)
	locked.Username, locked.Password = "user", "right"
	closed := "nats://user:right@" + operator(t, locked)
	damaged := t.TempDir()
	block := filepath.Join(damaged, "jetstream", "$G", "streams", "everbloom-log-3", "msgs", "1.blk")
	if err := errors.Join(os.MkdirAll(filepath.Dir(block), 0o700), os.WriteFile(block, []byte(strings.Repeat("damage ", 9)), 0o600)); err != nil {
		t.Fatal(err)
	}
	two := []cluster.Peer{{Name: "n1", Addr: "127.0.0.1:15001"}, {Name: "n2", Addr: "127.0.0.1:15002"}}
	for _, c := range []struct {
		start  bool
		config cluster.Config
		want   string
	}{
		{false, cluster.Config{Name: "n1"}, "no URL"},
		{false, cluster.Config{Name: "a b", URLs: one}, "letters"},
		{false, cluster.Config{Name: "n1", Namespace: "a.b", URLs: one}, "letters"},
		{false, cluster.Config{Name: "n1", URLs: small}, "max_payload: 8MB"},
		{false, cluster.Config{Name: "n1", URLs: one}, "run three servers as a cluster"},
		{false, cluster.Config{Name: "n1", URLs: one, Credentials: filepath.Join(damaged, "none")}, "credentials for NATS"},
		{false, cluster.Config{Name: "n1", URLs: strings.Replace(closed, "user:right", "user:wrong", 1)}, "--nats-creds"},
		{false, cluster.Config{Name: "n1", Replicas: 7, URLs: one}, "1 to 5"},
		{true, cluster.Config{Name: "n3", Dir: t.TempDir(), Secret: "s", Peers: two}, "n3 is not one of the members"},
		{true, cluster.Config{Name: "n1", Secret: "s", Peers: two}, "needs a folder"},
		{true, cluster.Config{Name: "n1", Dir: t.TempDir(), Peers: two}, "need a secret"},
		{true, cluster.Config{Name: "n1", Dir: t.TempDir(), Secret: "s", Peers: two[:1]}, "at least two"},
		{true, cluster.Config{Name: "n1", Dir: t.TempDir(), Secret: "s", Peers: append(two[:1:1], two[0])}, "no other has"},
		{true, cluster.Config{Name: "n1", Dir: damaged, Secret: "s", Peers: two}, "remove " + damaged},
	} {
		open := cluster.Connect
		if c.start {
			open = cluster.Start
		}
		if _, err := open(testContext(t), c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.want, err)
		}
	}
}
