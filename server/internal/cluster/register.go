package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// A register keeps one value for each key, and changes it only from what the writer knows.
type register struct {
	cluster *Cluster
	stream  jetstream.Stream
	prefix  string // of subjects
}

// ErrStale is matched when another node has changed what a change was based on.
var ErrStale = errors.New("another node has changed it")

// openRegister opens the register, or makes it.
func openRegister(ctx context.Context, c *Cluster) (*register, error) {
	prefix := c.config.Namespace + ".register."
	stream, err := c.openStream(ctx, jetstream.StreamConfig{
		Name: c.config.Namespace + "-register", Subjects: []string{prefix + ">"},
		Storage: jetstream.FileStorage, Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardOld, MaxMsgsPerSubject: 1,
		DenyDelete: true, DenyPurge: true, Replicas: c.config.Replicas,
	})
	if err != nil {
		return nil, err
	}
	return &register{cluster: c, stream: stream, prefix: prefix}, nil
}

// get returns a value and its revision; 0 if there is none. It asks the leader: the stream
// allows no direct gets.
func (r *register) get(ctx context.Context, key string) (value []byte, revision uint64, err error) {
	err = again(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, requestTime)
		defer cancel()
		m, err := r.stream.GetLastMsgForSubject(ctx, r.prefix+key)
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound):
			value, revision = nil, 0
			return nil
		case err != nil:
			return err
		}
		value, revision = m.Data, m.Sequence
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("cluster: reading %s: %w", key, err)
	}
	return value, revision, nil
}

// put changes a value that has a revision, and returns the new one. It tries until ctx ends.
// A value that is there already counts as put.
func (r *register) put(ctx context.Context, key string, value []byte, revision uint64) (now uint64, err error) {
	err = again(ctx, func() error {
		now, err = r.tryPut(ctx, key, value, revision)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("cluster: writing %s: %w", key, err)
	}
	return now, nil
}

func (r *register) tryPut(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	try, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	ack, err := r.cluster.js.Publish(try, r.prefix+key, value, jetstream.WithExpectLastSequencePerSubject(revision), jetstream.WithRetryAttempts(0))
	if err == nil {
		return ack.Sequence, nil
	}
	var api *jetstream.APIError
	if !errors.As(err, &api) || api.ErrorCode != codeWrongSequence {
		return 0, err
	}
	is, now, err := r.get(ctx, key)
	switch {
	case err != nil:
		return 0, err
	case now == revision:
		return 0, errors.New("another change is on its way")
	case !bytes.Equal(is, value):
		return 0, fatalError{ErrStale}
	}
	return now, nil
}

// Agree returns the value that the first node gave to a name. If there is none, value is it
// from now on, for all nodes.
func (c *Cluster) Agree(ctx context.Context, name string, value []byte) ([]byte, error) {
	if !validName.MatchString(name) {
		return nil, fmt.Errorf("cluster: %q is no name of a value that nodes agree on", name)
	}
	key := "settled." + name
	for {
		is, revision, err := c.register.get(ctx, key)
		if err != nil || revision != 0 {
			return is, err
		}
		if _, err := c.register.put(ctx, key, value, 0); err == nil {
			return value, nil
		} else if !errors.Is(err, ErrStale) {
			return nil, err
		}
	}
}
