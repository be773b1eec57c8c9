package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/everbloom-go/everbloom/server/internal/log"
)

const (
	codeNoSuchMessage = 10037
	codeReplicas      = 10074
	codeNoPeers       = 10005
)

// openStream opens a stream, or makes it.
func (c *Cluster) openStream(ctx context.Context, config jetstream.StreamConfig) (stream jetstream.Stream, err error) {
	err = again(ctx, c.saying("a stream cannot be opened: trying again", func() error {
		ctx, cancel := context.WithTimeout(ctx, 5*requestTime)
		defer cancel()
		stream, err = c.js.Stream(ctx, config.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			stream, err = c.js.CreateStream(ctx, config)
		}
		return c.explain(err)
	}))
	if err != nil {
		return nil, fmt.Errorf("cluster: stream %s: %w", config.Name, err)
	}
	if err := sameStream(stream.CachedInfo().Config, config); err != nil {
		return nil, fmt.Errorf("cluster: stream %s: %w: remove it, or use another namespace", config.Name, err)
	}
	return stream, nil
}

// explain says what to do about an error of the engine, and which of them stay.
func (c *Cluster) explain(err error) error {
	var refused *jetstream.APIError
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.ErrorCode {
	case codeReplicas:
		return fatalError{fmt.Errorf("%w: NATS is no cluster: there are %d copies of each log: run three servers as a cluster", err, c.config.Replicas)}
	case codeNoPeers:
		return fmt.Errorf("%w: there are not enough servers for %d copies, or they have not enough room", err, c.config.Replicas)
	case codeStorage, codeAccount:
		return fatalError{fmt.Errorf("%w: allow the account more room, or give each partition less than %d bytes of log", err, c.config.LogBytes)}
	}
	return err
}

// sameStream returns what a stream lacks of what is needed.
func sameStream(is, want jetstream.StreamConfig) error {
	switch {
	case is.Storage != want.Storage:
		return errors.New("it is in memory, not in files")
	case is.Discard != want.Discard || is.MaxAge != 0 || is.MaxMsgs > 0 || is.Retention != want.Retention:
		return errors.New("it forgets entries by itself")
	case len(is.Subjects) != 1 || is.Subjects[0] != want.Subjects[0]:
		return errors.New("it has other subjects")
	}
	return nil
}

// logConfig returns the stream of the log of a partition.
func (c *Cluster) logConfig(partition int) jetstream.StreamConfig {
	name := fmt.Sprintf("%s-log-%d", c.config.Namespace, partition)
	return jetstream.StreamConfig{
		Name: name, Subjects: []string{fmt.Sprintf("%s.log.%d", c.config.Namespace, partition)},
		Storage: jetstream.FileStorage, Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, MaxBytes: c.config.LogBytes,
		DenyDelete: true, AllowDirect: true, Replicas: c.config.Replicas,
	}
}

// leaderInfo returns the state of a stream as its leader knows it.
func (c *Cluster) leaderInfo(ctx context.Context, stream string) (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	s, err := c.js.Stream(ctx, stream)
	if err != nil {
		return nil, err
	}
	return s.CachedInfo(), nil
}

// errNoEntry says that the leader of a stream does not have an entry.
var errNoEntry = errors.New("cluster: there is no such entry")

// leaderGet reads an entry through the leader of a stream. A direct get may come from a copy
// that is behind.
func (c *Cluster) leaderGet(ctx context.Context, stream string, at uint64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	m, err := c.conn.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+stream, fmt.Appendf(nil, `{"seq":%d}`, at))
	if err != nil {
		return nil, err
	}
	var answer struct {
		Error   *jetstream.APIError
		Message struct {
			Seq  uint64
			Data []byte
		}
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		return nil, fmt.Errorf("cluster: entry %d of %s: %w", at, stream, err)
	}
	switch {
	case answer.Error != nil && answer.Error.ErrorCode == codeNoSuchMessage:
		return nil, errNoEntry
	case answer.Error != nil:
		return nil, answer.Error
	case answer.Message.Seq != at:
		return nil, fmt.Errorf("cluster: entry %d of %s came instead of %d", answer.Message.Seq, stream, at)
	}
	return answer.Message.Data, nil
}

// A StreamState says where the copies of a partition's log are.
type StreamState struct {
	Leader      string // server; empty if there is none
	Copies      []Copy // the others
	First, Last uint64 // entries
	Bytes       uint64
}

// A Copy is a copy of a log.
type Copy struct {
	Server  string
	Current bool
	Offline bool
	Behind  uint64        // operations
	Heard   time.Duration // since it was heard last
}

// State returns the state of a partition's log.
func (c *Cluster) State(ctx context.Context, partition int) (StreamState, error) {
	info, err := c.leaderInfo(ctx, c.logConfig(partition).Name)
	if err != nil {
		return StreamState{}, fmt.Errorf("cluster: state of partition %d: %w", partition, err)
	}
	s := StreamState{First: info.State.FirstSeq, Last: info.State.LastSeq, Bytes: info.State.Bytes}
	if info.Cluster != nil {
		s.Leader = info.Cluster.Leader
		for _, p := range info.Cluster.Replicas {
			s.Copies = append(s.Copies, Copy{Server: p.Name, Current: p.Current, Offline: p.Offline, Behind: p.Lag, Heard: p.Active})
		}
	}
	return s, nil
}

// drawTime is how long a leader may take to move.
const drawTime = 5 * time.Second

// Draw moves the leader of a partition's stream to the server that this node is connected to,
// so that an append takes one way less, and waits for it. The leader of the partition calls it
// once: writes pause meanwhile, and a copy that is behind cannot lead.
func (c *Cluster) Draw(ctx context.Context, partition int) error {
	to := c.Server()
	s, err := c.State(ctx, partition)
	if err != nil || s.Leader == to || len(s.Copies) == 0 {
		return err
	}
	if !slices.ContainsFunc(s.Copies, func(p Copy) bool { return p.Server == to && p.Current && p.Behind == 0 }) {
		return fmt.Errorf("cluster: moving the leader of partition %d: %s has no copy that is up to date", partition, to)
	}
	if err := c.stepDown(ctx, partition, to); err != nil {
		return fmt.Errorf("cluster: moving the leader of partition %d to %s: %w", partition, to, err)
	}
	ctx, cancel := context.WithTimeout(ctx, drawTime)
	defer cancel()
	return again(ctx, func() error {
		s, err := c.State(ctx, partition)
		if err == nil && s.Leader != to {
			err = fmt.Errorf("cluster: the leader of partition %d is %s instead of %s", partition, s.Leader, to)
		}
		return err
	})
}

// stepDown asks the leader of a partition's stream to give its place to another server.
func (c *Cluster) stepDown(ctx context.Context, partition int, to string) error {
	request, err := json.Marshal(map[string]any{"placement": map[string]string{"preferred": to}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, drawTime)
	defer cancel()
	m, err := c.conn.RequestWithContext(ctx, "$JS.API.STREAM.LEADER.STEPDOWN."+c.logConfig(partition).Name, request)
	if err != nil {
		return err
	}
	var answer struct{ Error *jetstream.APIError }
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		return err
	}
	if answer.Error != nil {
		return answer.Error
	}
	return nil
}

// Log opens the log of a partition, which is made if it is missing.
func (c *Cluster) Log(ctx context.Context, partition int) (log.Shared, error) {
	config := c.logConfig(partition)
	stream, err := c.openStream(ctx, config)
	if err != nil {
		return nil, err
	}
	return &entries{cluster: c, stream: stream, name: config.Name, subject: config.Subjects[0], patience: aheadLimit}, nil
}
