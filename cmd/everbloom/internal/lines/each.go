package lines

import (
	"context"
	"errors"
	"io"
	"runtime"
)

// maxWorkers bounds the goroutines that work on blocks: the one that reads and
// the one that uses the results cannot keep more of them busy.
const maxWorkers = 4

// slot is a block on its way, with what was made of it.
type slot[T any] struct {
	block  Block
	result T
	err    error
	done   chan struct{} // receives one value when the worker is through
}

// Each reads all of the input in blocks. It calls work for each of them, several
// at a time, and use with the same arguments one by one, in the order of the
// input. A result keeps its value, and so its memory, from one block to a later
// one. The first error ends it, as does the end of ctx, even while the input
// keeps the reader waiting.
func Each[T any](ctx context.Context, in *Input, work, use func(*Block, *T) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := min(maxWorkers, runtime.GOMAXPROCS(0))
	slots := 2*workers + 2
	// All channels have room for all slots: only the wait for a free one blocks.
	free, jobs, order := make(chan *slot[T], slots), make(chan *slot[T], slots), make(chan *slot[T], slots)
	for range slots {
		free <- &slot[T]{done: make(chan struct{}, 1)}
	}
	go readAll(ctx, in.Reader(), free, jobs, order)
	for range workers {
		go workAll(jobs, work)
	}
	return useAll(ctx, free, order, use)
}

// readAll fills free slots and passes them on until the input or ctx ends. The
// error of the input travels in the last slot.
func readAll[T any](ctx context.Context, r *Reader, free <-chan *slot[T], jobs, order chan<- *slot[T]) {
	defer close(order)
	defer close(jobs)
	for {
		var s *slot[T]
		select {
		case s = <-free:
		case <-ctx.Done():
			_ = r.Close() // the reason to stop is known
			return
		}
		err := r.Next(&s.block)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			_ = r.Close() // err says more
			s.err = err
			s.done <- struct{}{}
			order <- s
			return
		}
		order <- s
		jobs <- s
	}
}

func workAll[T any](jobs <-chan *slot[T], work func(*Block, *T) error) {
	for s := range jobs {
		s.err = work(&s.block, &s.result)
		s.done <- struct{}{}
	}
}

// useAll uses the slots in order and sets them free.
func useAll[T any](ctx context.Context, free chan<- *slot[T], order <-chan *slot[T], use func(*Block, *T) error) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case s, ok := <-order:
			if !ok {
				return ctx.Err() // nil unless reading ended early because of it
			}
			<-s.done
			if s.err != nil {
				return s.err
			}
			if err := use(&s.block, &s.result); err != nil {
				return err
			}
			free <- s
		}
	}
}
