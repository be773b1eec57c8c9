package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/everbloom-go/everbloom/server/internal/log"
)

const (
	heartbeat  = 500 * time.Millisecond
	silence    = 3 * heartbeat      // after which a consumer is made anew
	forgotten  = 10 * time.Second   // after which the engine removes a consumer without a reader
	aheadLimit = 15 * time.Second   // that the log may end before the reader: longer than an election
	statusText = "100"              // of messages that are not entries
	lastStream = "Nats-Last-Stream" // header of heartbeats: the last entry that was sent
	stalled    = "Nats-Consumer-Stalled"
)

// A reader hands the entries of a log on, in order.
type reader struct {
	*entries
	after uint64
	do    func(at uint64, b []byte) error
	ahead time.Time // since when the log ends before after; zero if it does not
}

// A final error ends a reader; after others it goes on with another consumer.
type final struct{ error }

func (e final) Unwrap() error { return e.error }

var errFollowed = errors.New("cluster: everything was read")

// Follow hands the entries behind after to do, up to the last one that is there.
func (l *entries) Follow(ctx context.Context, after uint64, do func(at uint64, b []byte) error) error {
	last, err := l.Last(ctx)
	switch {
	case err != nil:
		return err
	case after > last:
		return fmt.Errorf("cluster: %s ends with entry %d, %d is wanted: %w", l.name, last, after+1, log.ErrGap)
	case after == last:
		return nil
	}
	err = l.Watch(ctx, after, func(at uint64, b []byte) error {
		if err := do(at, b); err != nil {
			return err
		}
		if at >= last {
			return errFollowed
		}
		return nil
	})
	if errors.Is(err, errFollowed) {
		return nil
	}
	return err
}

// Watch hands the entries behind after to do, and goes on with those that come.
func (l *entries) Watch(ctx context.Context, after uint64, do func(at uint64, b []byte) error) error {
	r := &reader{entries: l, after: after, do: do}
	for {
		err := r.session(ctx)
		var end final
		switch {
		case errors.As(err, &end):
			return end.error
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case l.cluster.ctx.Err() != nil:
			return fmt.Errorf("cluster: closed: %w", l.cluster.ctx.Err())
		}
		l.cluster.config.Logger.Debug("a reader of the log begins again", "log", l.name, "after", r.after, "error", err)
		_ = pause(ctx, tryAgain/5) // the end of ctx is seen above
	}
}

// session reads by one consumer until there is a doubt about it.
func (r *reader) session(ctx context.Context) error {
	if err := r.place(ctx); err != nil {
		return err
	}
	inbox := r.cluster.conn.NewInbox()
	sub, err := r.cluster.conn.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }() // the engine removes the consumer
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() })() // which ends the wait
	created, cancel := context.WithTimeout(ctx, 2*requestTime)
	defer cancel()
	consumer, err := r.stream.CreatePushConsumer(created, jetstream.ConsumerConfig{
		DeliverSubject: inbox, AckPolicy: jetstream.AckNonePolicy, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: r.after + 1,
		MemoryStorage: true, Replicas: 1, IdleHeartbeat: heartbeat, FlowControl: true, InactiveThreshold: forgotten,
	})
	if err != nil {
		return err
	}
	defer r.remove(consumer.CachedInfo().Name)
	for {
		m, err := sub.NextMsg(silence)
		if err == nil {
			err = r.take(ctx, m)
		}
		if err != nil {
			return err
		}
	}
}

// remove removes a consumer. If that fails it is forgotten by itself.
func (r *reader) remove(consumer string) {
	_ = r.cluster.conn.Publish("$JS.API.CONSUMER.DELETE."+r.name+"."+consumer, nil) // no answer is needed
}

// place finds out whether the log can be read from here. A log that ends before the reader
// may be seen by a leader that was cut off.
func (r *reader) place(ctx context.Context) error {
	info, err := r.cluster.leaderInfo(ctx, r.name)
	if err != nil {
		return err
	}
	first, last := info.State.FirstSeq, info.State.LastSeq
	switch {
	case r.after < last && r.after+1 < first:
		return final{fmt.Errorf("cluster: entries %d to %d of %s are there, %d is wanted: %w", first, last, r.name, r.after+1, log.ErrGap)}
	case r.after <= last:
		r.ahead = time.Time{}
		return nil
	case r.ahead.IsZero():
		r.ahead = time.Now()
	case time.Since(r.ahead) > aheadLimit:
		return final{fmt.Errorf("cluster: %s ends with entry %d, but entry %d was read from it: %w", r.name, last, r.after, log.ErrGap)}
	}
	return fmt.Errorf("cluster: %s ends with entry %d, %d is wanted", r.name, last, r.after+1)
}

// take takes a message of the consumer.
func (r *reader) take(ctx context.Context, m *nats.Msg) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(m.Data) == 0 && m.Header.Get("Status") != "" {
		return r.status(m)
	}
	meta, err := m.Metadata()
	if err != nil {
		return err
	}
	at := meta.Sequence.Stream
	if at <= r.after {
		return fmt.Errorf("cluster: entry %d of %s comes again", at, r.name)
	}
	for r.after+1 < at {
		if err := r.fill(ctx); err != nil {
			return err
		}
	}
	return r.hand(m.Data)
}

// hand hands the next entry on.
func (r *reader) hand(b []byte) error {
	if err := r.do(r.after+1, b); err != nil {
		return final{err}
	}
	r.after++
	return nil
}

// fill reads an entry that a consumer has skipped: it was lost on the way, or the copy
// that the consumer reads is damaged.
func (r *reader) fill(ctx context.Context) error {
	at := r.after + 1
	b, err := r.cluster.leaderGet(ctx, r.name, at)
	if errors.Is(err, errNoEntry) {
		b, err = r.fromCopies(ctx, at)
	}
	switch {
	case errors.Is(err, log.ErrGap):
		return final{err}
	case err != nil:
		return err
	}
	r.cluster.config.Logger.Warn("an entry was skipped and read from another copy", "log", r.name, "entry", at)
	return r.hand(b)
}

// status answers a flow control, or looks at a heartbeat.
func (r *reader) status(m *nats.Msg) error {
	if status := m.Header.Get("Status"); status != statusText {
		return fmt.Errorf("cluster: consumer of %s: status %s %s", r.name, status, m.Header.Get("Description"))
	}
	if m.Reply != "" {
		return m.Respond(nil)
	}
	if to := m.Header.Get(stalled); to != "" {
		return r.cluster.conn.Publish(to, nil)
	}
	if sent, err := strconv.ParseUint(m.Header.Get(lastStream), 10, 64); err == nil && sent > r.after {
		return fmt.Errorf("cluster: entries %d to %d of %s were lost on the way", r.after+1, sent, r.name)
	}
	return nil
}
