package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/everbloom-go/everbloom/server/internal/log/jetstream"
)

const (
	startTime   = 30 * time.Second
	memberUser  = "everbloom"
	unlimited   = 1 << 55
	maxPending  = 64 << 20
	authSeconds = 5
	tellSeldom  = 60 // attempts to reach another member
)

// Start runs a member inside of the process and connects to it. It waits until most members
// run, or ctx ends. The caller sees to it that no other process uses the folder.
func Start(ctx context.Context, config Config) (*Cluster, error) {
	if err := config.member(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(config.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	if err := jetstream.Scan(config.Dir); err != nil {
		return nil, fmt.Errorf("cluster: %w: or remove %s while all other members run: this one gets everything from them", err, config.Dir)
	}
	if err := config.checkAddress(ctx); err != nil {
		return nil, err
	}
	c := newCluster(config)
	password := rand.Text()
	if err := c.startEngine(password); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	options := append(c.options(), nats.InProcessServer(c.engine), nats.UserInfo(memberUser, password))
	if err := c.open(ctx, "", options); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// startEngine starts the server. It listens for other members, and on a random port of the
// loopback for clients: without that, members do not find each other. No client knows the
// password.
func (c *Cluster) startEngine(password string) error {
	options, err := c.config.engineOptions()
	if err != nil {
		return err
	}
	options.Username, options.Password = memberUser, password
	if c.engine, err = server.NewServer(options); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	c.engine.SetLoggerV2(engineLogger{c.config.Logger}, false, false, false)
	c.engine.Start()
	if !c.engine.ReadyForConnections(startTime) {
		return fmt.Errorf("cluster: the member did not start within %v: is %s in use", startTime, c.config.Addr)
	}
	if js := c.engine.JetStreamConfig(); js == nil || !js.SyncAlways {
		return errors.New("cluster: the member does not sync every entry")
	}
	return nil
}

// engineOptions returns the options of the server.
func (c *Config) engineOptions() (*server.Options, error) {
	host, port, err := splitAddr(c.Addr)
	if err != nil {
		return nil, fmt.Errorf("cluster: address %s of the member: %w", c.Addr, err)
	}
	o := &server.Options{
		ServerName: c.Name, Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true,
		ReconnectErrorReports: tellSeldom, JetStream: true, StoreDir: c.Dir, SyncAlways: true,
		JetStreamMaxStore: unlimited, JetStreamMaxMemory: maxPending, MaxPayload: maxPayload, MaxPending: maxPending,
		Cluster: server.ClusterOpts{
			Name: c.Namespace, Host: host, Port: port, Advertise: c.Advertise,
			Username: memberUser, Password: c.Secret, AuthTimeout: authSeconds, TLSConfig: c.TLS, TLSTimeout: authSeconds,
		},
	}
	for _, p := range c.Peers {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats-route", Host: p.Addr, User: url.UserPassword(memberUser, c.Secret)})
	}
	return o, nil
}

// An engineLogger hands what the server says on.
type engineLogger struct{ *slog.Logger }

// Noticef logs what is normal.
func (l engineLogger) Noticef(format string, v ...any) { l.say(slog.LevelDebug, format, v) }

// Warnf logs what nothing can be done about, such as files that are read again after a crash.
func (l engineLogger) Warnf(format string, v ...any) { l.say(slog.LevelDebug, format, v) }

// Errorf logs an error.
func (l engineLogger) Errorf(format string, v ...any) { l.say(slog.LevelWarn, format, v) }

// Fatalf logs an error that the server does not survive.
func (l engineLogger) Fatalf(format string, v ...any) { l.say(slog.LevelError, format, v) }

// Debugf logs nothing.
func (engineLogger) Debugf(string, ...any) {}

// Tracef logs nothing.
func (engineLogger) Tracef(string, ...any) {}

func (l engineLogger) say(level slog.Level, format string, v []any) {
	l.Log(context.Background(), level, "JetStream: "+fmt.Sprintf(format, v...))
}
