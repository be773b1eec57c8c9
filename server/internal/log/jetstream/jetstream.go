// Package jetstream is a log in NATS JetStream, inside of the process.
//
// The engine is one server without a listener and one stream in files. Every entry is
// synced before it is acknowledged, and is appended with the position that it must have, so
// a retry stores nothing twice and a second writer is found out.
//
// What the engine does not tell, this package finds out. A disk that is full makes
// publishing time out without an error, and freeing space does not heal it: then the engine
// is ended and started again in the process, and the end of the stream says what was
// stored. Damaged entries disappear in silence: the caller chains its records and compares
// the end of the log with what it knows. A sequence that is damaged takes all memory: files
// are looked at before the engine is started.
package jetstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/everbloom-go/everbloom/server/internal/log"
)

const (
	name       = "everbloom" // of the stream and its subject
	maxPayload = 8 << 20
	startTime  = 30 * time.Second
	appendTime = 10 * time.Second // after which the engine is taken to be stuck
	fetchSize  = 64

	codeWrongSequence = 10071
)

// A Log is a stream of an embedded server.
type Log struct {
	dir string

	mu     sync.Mutex
	engine *server.Server
	conn   *nats.Conn
	stream jetstream.Stream
	js     jetstream.JetStream
	closed bool
}

// Open starts the engine in a folder, which it makes if it is missing. The caller sees to
// it that no other process uses the folder: the engine does not.
func Open(dir string) (*Log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	l := &Log{dir: dir}
	if err := l.start(); err != nil {
		l.end()
		return nil, err
	}
	return l, nil
}

// Rebuild removes the engine's index of its files, so that the next Open takes what the files
// hold for the log, also if the index knows of more.
func Rebuild(dir string) error {
	found, err := filepath.Glob(filepath.Join(dir, "jetstream", "*", "streams", name, "msgs", "index.db"))
	for _, path := range found {
		err = errors.Join(err, os.Remove(path))
	}
	if err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	return nil
}

// start starts the engine. The caller has the lock, or nothing else has l.
func (l *Log) start() error {
	if err := Scan(l.dir); err != nil {
		return err
	}
	room := diskRoom(l.dir)
	engine, err := server.NewServer(&server.Options{
		ServerName: name, DontListen: true, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: l.dir, SyncAlways: true,
		JetStreamMaxStore: 1 << 55, JetStreamMaxMemory: 64 << 20, MaxPayload: maxPayload, MaxPending: 64 << 20,
	})
	if err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	l.engine = engine
	engine.Start()
	if !engine.ReadyForConnections(startTime) {
		return fmt.Errorf("jetstream: the engine did not start within %v", startTime)
	}
	config := engine.JetStreamConfig()
	if config == nil || !config.SyncAlways {
		return errors.New("jetstream: the engine does not sync every entry")
	}
	if l.conn, err = nats.Connect("", nats.InProcessServer(engine), nats.MaxReconnects(0)); err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	if l.js, err = jetstream.New(l.conn); err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	return l.openStream(room)
}

// openStream opens the stream, or makes it. A limit that cannot be changed, because the disk
// is full, stays as it is: what is there must be readable all the same.
func (l *Log) openStream(room int64) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	config := jetstream.StreamConfig{
		Name: name, Subjects: []string{name}, Storage: jetstream.FileStorage, Retention: jetstream.LimitsPolicy,
		Discard: jetstream.DiscardNew, MaxBytes: room, DenyDelete: true, AllowDirect: true, Replicas: 1,
	}
	l.stream, err = l.js.Stream(ctx, name)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		l.stream, err = l.js.CreateStream(ctx, config)
	case err == nil:
		if updated, err := l.js.UpdateStream(ctx, config); err == nil {
			l.stream = updated
		}
	}
	if err != nil {
		return fmt.Errorf("jetstream: stream: %w", err)
	}
	return nil
}

// end ends the engine and waits for it.
func (l *Log) end() {
	if l.conn != nil {
		l.conn.Close()
	}
	if l.engine != nil {
		l.engine.Shutdown()
		l.engine.WaitForShutdown()
	}
	l.conn, l.engine, l.stream, l.js = nil, nil, nil, nil
}

// Close ends the engine.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.end()
	return nil
}

var errClosed = errors.New("jetstream: closed")

// ready starts the engine again if it could not be started before.
func (l *Log) ready() error {
	switch {
	case l.closed:
		return errClosed
	case l.stream != nil:
		return nil
	}
	l.end()
	return l.start()
}

// Append stores an entry and returns when it is on disk.
func (l *Log) Append(ctx context.Context, after uint64, b []byte) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.ready(); err != nil {
		return 0, err
	}
	at, err := l.publish(ctx, after, b)
	var refused *jetstream.APIError
	switch {
	case err == nil:
		return at, nil
	case errors.As(err, &refused) && refused.ErrorCode == codeWrongSequence:
		return l.compare(ctx, after, b)
	case errors.As(err, &refused):
		return 0, fmt.Errorf("jetstream: %w: %w", log.ErrFull, err)
	}
	return l.recover(ctx, after, b, err)
}

// publish sends an entry once.
func (l *Log) publish(ctx context.Context, after uint64, b []byte) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, appendTime)
	defer cancel()
	ack, err := l.js.Publish(ctx, name, b, jetstream.WithExpectLastSequence(after), jetstream.WithRetryAttempts(0))
	if err != nil {
		return 0, err
	}
	if ack.Sequence != after+1 {
		return 0, fmt.Errorf("jetstream: stored at %d instead of %d", ack.Sequence, after+1)
	}
	return ack.Sequence, nil
}

// compare finds out whether the entry behind after is b: an earlier try may have stored it.
func (l *Log) compare(ctx context.Context, after uint64, b []byte) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, appendTime)
	defer cancel()
	m, err := l.stream.GetMsg(ctx, after+1)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return 0, fmt.Errorf("jetstream: there is no entry %d: %w", after+1, log.ErrMoved)
	case err != nil:
		return 0, err
	case !bytes.Equal(m.Data, b):
		return 0, fmt.Errorf("jetstream: another entry is at %d: %w", after+1, log.ErrMoved)
	}
	return after + 1, nil
}

// recover starts the engine again after a publish without an answer, and finds out whether
// it was stored.
func (l *Log) recover(ctx context.Context, after uint64, b []byte, cause error) (uint64, error) {
	l.end()
	if err := l.start(); err != nil {
		l.end()
		return 0, errors.Join(cause, err)
	}
	last, err := l.last(ctx)
	switch {
	case err != nil:
		return 0, errors.Join(cause, err)
	case last == after:
		return 0, fmt.Errorf("jetstream: %w: %w", log.ErrFull, cause)
	}
	return l.compare(ctx, after, b)
}

// last returns the position of the last entry.
func (l *Log) last(ctx context.Context) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, appendTime)
	defer cancel()
	info, err := l.stream.Info(ctx)
	if err != nil {
		return 0, err
	}
	return info.State.LastSeq, nil
}

// Last returns the position of the last entry.
func (l *Log) Last(ctx context.Context) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.ready(); err != nil {
		return 0, err
	}
	return l.last(ctx)
}

// Trim forgets the entries through a position.
func (l *Log) Trim(ctx context.Context, through uint64) error {
	l.mu.Lock()
	stream := l.stream
	l.mu.Unlock()
	if stream == nil {
		return errClosed
	}
	return stream.Purge(ctx, jetstream.WithPurgeSequence(through+1))
}
