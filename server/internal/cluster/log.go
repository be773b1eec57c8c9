package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/everbloom-go/everbloom/server/internal/log"
)

const (
	codeWrongSequence = 10071
	codeStoreFailed   = 10077
	codeAccount       = 10002
	codeInsufficient  = 10023
	codeStorage       = 10047
	codeTooLarge      = 10054
	codeTooMany       = 10167

	fullText    = "maximum bytes exceeded"
	otherCopies = 12 // direct gets: each is answered by any of the copies
)

// entries is the log of a partition.
type entries struct {
	cluster *Cluster
	stream  jetstream.Stream
	name    string
	subject string

	patience time.Duration // with a log that ends before its reader
	budget   budget
}

var (
	_ log.Shared  = (*entries)(nil)
	_ log.Watcher = (*entries)(nil)
)

// errAgain is matched by errors after which an entry is published again.
var errAgain = errors.New("not certain yet")

// Append stores an entry, and counts its bytes.
func (l *entries) Append(ctx context.Context, after uint64, b []byte) (uint64, error) {
	at, err := l.insist(ctx, after, b)
	if err != nil {
		l.budget.left = 0
		return at, err
	}
	l.budget.spend(at, len(b))
	return at, nil
}

// insist publishes an entry until it is known what became of it, or ctx ends. Every try has the
// same bytes and the same position.
func (l *entries) insist(ctx context.Context, after uint64, b []byte) (uint64, error) {
	doubt := false // an earlier try may have stored it
	for patience := firstTry; ; patience = min(2*patience, requestTime) {
		err := l.publish(ctx, after, b, patience)
		if err == nil {
			return after + 1, nil
		}
		at, err := l.judge(ctx, after, b, err, doubt)
		if !errors.Is(err, errAgain) {
			return at, err
		}
		doubt = doubt || !refused(err)
		if pause(ctx, tryAgain/5) != nil || l.cluster.ctx.Err() != nil {
			return 0, fmt.Errorf("cluster: it is unknown whether entry %d of %s is stored: %w", after+1, l.name, errors.Join(context.Cause(ctx), err))
		}
	}
}

// firstTry is how long the first try may take. An entry that was sent to a server that ends is
// lost; it costs little to try again.
const firstTry = 250 * time.Millisecond

// publish sends an entry once.
func (l *entries) publish(ctx context.Context, after uint64, b []byte, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ack, err := l.cluster.js.Publish(ctx, l.subject, b, jetstream.WithExpectLastSequence(after), jetstream.WithRetryAttempts(0))
	if err == nil && (ack.Sequence != after+1 || ack.Stream != l.name) {
		return fmt.Errorf("cluster: stored at %d of %s instead of %d of %s", ack.Sequence, ack.Stream, after+1, l.name)
	}
	return err
}

// judge says what an error of publish means.
func (l *entries) judge(ctx context.Context, after uint64, b []byte, cause error, doubt bool) (uint64, error) {
	var api *jetstream.APIError
	if errors.As(cause, &api) && api.ErrorCode == codeWrongSequence {
		return l.compare(ctx, after, b, doubt)
	}
	if !doubt && full(cause) {
		return 0, fmt.Errorf("cluster: %s: %w: %w", l.name, log.ErrFull, cause)
	}
	return 0, fmt.Errorf("%w: %w", errAgain, cause)
}

// full reports whether an error says that an entry was refused for want of room, by a
// server that has not begun to store it. Other failures to store are those of one copy.
func full(err error) bool {
	if errors.Is(err, nats.ErrMaxPayload) {
		return true
	}
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return false
	}
	switch api.ErrorCode {
	case codeAccount, codeInsufficient, codeStorage, codeTooLarge:
		return true
	case codeStoreFailed:
		return strings.Contains(api.Description, fullText)
	}
	return false
}

// refused reports whether an error says that no server took the entry.
func refused(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, nats.ErrReconnectBufExceeded) ||
		errors.As(err, &api) && (api.ErrorCode == codeTooMany || full(err))
}

// compare finds out whether the entry behind after is b: an earlier try may have stored it.
func (l *entries) compare(ctx context.Context, after uint64, b []byte, doubt bool) (uint64, error) {
	found, err := l.cluster.leaderGet(ctx, l.name, after+1)
	if errors.Is(err, errNoEntry) {
		if found, err = l.missing(ctx, after, doubt); err != nil {
			return 0, err
		}
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("%w: %w", errAgain, err)
	case !bytes.Equal(found, b):
		return 0, fmt.Errorf("cluster: another entry is at %d of %s: %w", after+1, l.name, log.ErrMoved)
	}
	return after + 1, nil
}

// missing says why the entry behind after, which is not the next one, cannot be read, or
// reads it from another copy. If no try is in doubt, it cannot be what the caller appends.
func (l *entries) missing(ctx context.Context, after uint64, doubt bool) ([]byte, error) {
	info, err := l.cluster.leaderInfo(ctx, l.name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errAgain, err)
	}
	first, last := info.State.FirstSeq, info.State.LastSeq
	switch {
	case last == after || doubt && last < after: // the next one is on its way, or the leader is behind
		return nil, fmt.Errorf("%w: entry %d is not stored", errAgain, after+1)
	case !doubt:
		return nil, fmt.Errorf("cluster: entries %d to %d of %s are there, %d is not the last: %w", first, last, l.name, after, log.ErrMoved)
	}
	b, err := l.fromCopies(ctx, after+1)
	if err != nil {
		return nil, fmt.Errorf("cluster: it is unknown whether entry %d of %s was stored, it is not there any more: %w", after+1, l.name, err)
	}
	return b, nil
}

// fromCopies reads an entry that the leader of the stream does not have: its files may be
// damaged. ErrGap: no copy has it.
func (l *entries) fromCopies(ctx context.Context, at uint64) ([]byte, error) {
	var failed error
	for range otherCopies {
		ctx, cancel := context.WithTimeout(ctx, requestTime)
		m, err := l.stream.GetMsg(ctx, at)
		cancel()
		if err == nil {
			return m.Data, nil
		}
		if !errors.Is(err, jetstream.ErrMsgNotFound) {
			failed = err
		}
	}
	if failed != nil {
		return nil, failed
	}
	return nil, fmt.Errorf("cluster: no copy of %s has entry %d: %w", l.name, at, log.ErrGap)
}

// Trim forgets the entries through a position.
func (l *entries) Trim(ctx context.Context, through uint64) error {
	if err := l.stream.Purge(ctx, jetstream.WithPurgeSequence(through+1)); err != nil {
		return fmt.Errorf("cluster: trimming %s: %w", l.name, err)
	}
	return nil
}

// Last returns the position of the last entry.
func (l *entries) Last(ctx context.Context) (last uint64, err error) {
	err = again(ctx, func() error {
		info, err := l.cluster.leaderInfo(ctx, l.name)
		if err == nil {
			last = info.State.LastSeq
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("cluster: the end of %s: %w", l.name, err)
	}
	return last, nil
}

// Close does nothing: the connection is the cluster's.
func (l *entries) Close() error { return nil }
