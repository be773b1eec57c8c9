package jetstream

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/everbloom-go/everbloom/server/internal/log"
)

// Follow hands the entries behind after to do.
func (l *Log) Follow(ctx context.Context, after uint64, do func(at uint64, b []byte) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.ready(); err != nil {
		return err
	}
	info, err := l.stream.Info(ctx)
	if err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	first, last := info.State.FirstSeq, info.State.LastSeq
	switch {
	case after > last || after < last && after+1 < first:
		return fmt.Errorf("jetstream: entries %d to %d are there, %d is wanted: %w", first, last, after+1, log.ErrGap)
	case after == last:
		return nil
	}
	consumer, err := l.stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		AckPolicy: jetstream.AckNonePolicy, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: after + 1,
		MemoryStorage: true, InactiveThreshold: time.Minute,
	})
	if err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	defer func() { _ = l.stream.DeleteConsumer(context.WithoutCancel(ctx), consumer.CachedInfo().Name) }() // it ends by itself
	for after < last {
		if after, err = fetch(ctx, consumer, after, last, do); err != nil {
			return err
		}
	}
	return nil
}

// fetch hands some entries behind after to do, and returns the position of the last of
// them.
func fetch(ctx context.Context, c jetstream.Consumer, after, last uint64, do func(at uint64, b []byte) error) (uint64, error) {
	batch, err := c.Fetch(int(min(fetchSize, last-after)), jetstream.FetchMaxWait(appendTime))
	if err != nil {
		return after, fmt.Errorf("jetstream: %w", err)
	}
	before := after
	for m := range batch.Messages() {
		meta, err := m.Metadata()
		if err == nil && meta.Sequence.Stream != after+1 {
			err = fmt.Errorf("jetstream: entry %d follows %d: %w", meta.Sequence.Stream, after, log.ErrGap)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = do(after+1, m.Data())
		}
		if err != nil {
			return after, err
		}
		after++
	}
	if err := batch.Error(); err != nil {
		return after, fmt.Errorf("jetstream: %w", err)
	}
	if after == before {
		return after, fmt.Errorf("jetstream: entry %d does not come: %w", after+1, log.ErrGap)
	}
	return after, nil
}
