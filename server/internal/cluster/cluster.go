package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	requestTime = 2 * time.Second // after which a request is sent again
	tryAgain    = 250 * time.Millisecond
	pingEvery   = 2 * time.Second
)

// A Cluster is a connection to the servers that hold what nodes share. Its methods may be
// called by several goroutines.
type Cluster struct {
	config   Config
	instance string // differs for each Cluster
	engine   *server.Server
	conn     *nats.Conn
	js       jetstream.JetStream
	register *register
	nodes    nodes

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	close  sync.Once
}

// Connect connects to the JetStream servers of an operator. It tries until ctx ends.
func Connect(ctx context.Context, config Config) (*Cluster, error) {
	if err := config.common(); err != nil {
		return nil, err
	}
	if config.URLs == "" {
		return nil, errors.New("cluster: there is no URL of a NATS server")
	}
	if config.Replicas == 0 {
		config.Replicas = defaultReplicas
	}
	c := newCluster(config)
	options := c.options()
	if config.Credentials != "" {
		if _, err := os.Stat(config.Credentials); err != nil {
			return nil, fmt.Errorf("cluster: credentials for NATS: %w", err)
		}
		options = append(options, nats.UserCredentials(config.Credentials))
	}
	if config.TLS != nil {
		options = append(options, nats.Secure(config.TLS))
	}
	if err := c.open(ctx, config.URLs, options); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func newCluster(config Config) *Cluster {
	c := &Cluster{config: config, instance: rand.Text()}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// options returns what counts for all connections. Nothing is kept to be sent after a
// reconnect: what waits for an answer is sent again by this package.
func (c *Cluster) options() []nats.Option {
	return []nats.Option{
		nats.Name(c.config.Namespace + " " + c.config.Name), nats.MaxReconnects(-1), nats.ReconnectWait(tryAgain), nats.ReconnectBufSize(-1),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2), nats.Timeout(requestTime),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if c.ctx.Err() == nil {
				c.config.Logger.Warn("the connection to NATS is lost", "error", err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			c.config.Logger.Info("the connection to NATS is back", "server", nc.ConnectedServerName())
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			c.config.Logger.Warn("NATS reports an error", "error", err)
		}),
	}
}

// open connects, and waits until JetStream answers.
func (c *Cluster) open(ctx context.Context, urls string, options []nats.Option) (err error) {
	err = again(ctx, c.saying("NATS cannot be reached: trying again", func() error {
		c.conn, err = nats.Connect(urls, options...)
		if errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) {
			return fatalError{fmt.Errorf("%w: name a file with credentials of these servers with --nats-creds", err)}
		}
		return err
	}))
	if err != nil {
		return fmt.Errorf("cluster: connecting to NATS: %w", err)
	}
	if size := c.conn.MaxPayload(); size < leastPayload {
		return fmt.Errorf("cluster: NATS allows messages of %d bytes, records have up to %d: set max_payload: 8MB in the configuration of its servers", size, leastPayload)
	}
	if c.js, err = jetstream.New(c.conn, jetstream.WithPublishAsyncTimeout(chunkTime)); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	err = again(ctx, c.saying(noJetStream+": trying again", func() error {
		ctx, cancel := context.WithTimeout(ctx, requestTime)
		defer cancel()
		_, err := c.js.AccountInfo(ctx)
		if errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
			return fatalError{err}
		}
		return err
	}))
	if err != nil {
		return fmt.Errorf("cluster: %s: %w", noJetStream, err)
	}
	if c.register, err = openRegister(ctx, c); err != nil {
		return err
	}
	return c.listen()
}

const noJetStream = "JetStream does not answer: at the first start all members must run, later most of them; servers of NATS must have it enabled"

const (
	sayAfter = 2 * time.Second // it may take a moment
	sayEvery = 10 * time.Second
)

// saying returns do, and a warning now and then while it fails.
func (c *Cluster) saying(text string, do func() error) func() error {
	next := time.Now().Add(sayAfter)
	return func() error {
		err := do()
		var fatal fatalError
		if err != nil && !errors.As(err, &fatal) && time.Now().After(next) {
			next = time.Now().Add(sayEvery)
			c.config.Logger.Warn(text, "error", err)
		}
		return err
	}
}

// A fatalError is not tried again.
type fatalError struct{ error }

func (e fatalError) Unwrap() error { return e.error }

// again calls do until it succeeds, fails for good or ctx ends.
func again(ctx context.Context, do func() error) error {
	for {
		err := do()
		var fatal fatalError
		if err == nil || errors.As(err, &fatal) {
			return err
		}
		if pause(ctx, tryAgain) != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Close ends the connection, and the member if there is one.
func (c *Cluster) Close() error {
	c.close.Do(func() {
		c.cancel()
		c.nodes.wait.Wait()
		if c.conn != nil {
			c.conn.Close()
		}
		if c.engine != nil {
			c.engine.Shutdown()
			c.engine.WaitForShutdown()
		}
	})
	return nil
}

// Server returns the name of the server that the connection goes to.
func (c *Cluster) Server() string { return c.conn.ConnectedServerName() }
