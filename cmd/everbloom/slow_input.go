package main

import (
	"context"
	"io"
)

// slowInput reads an input that may wait. It calls idle before it does, and ends with the
// context while it waits.
type slowInput struct {
	ctx    context.Context
	chunks chan chunk
	free   chan []byte
	idle   func()
	now    chunk
	rest   []byte // of the present chunk
}

// A chunk is what one Read returned.
type chunk struct {
	data []byte
	err  error
}

// newSlowInput begins to read. The goroutine that does ends with the input, or stays with a
// Read that never returns until the process ends.
func newSlowInput(ctx context.Context, r io.Reader, idle func()) *slowInput {
	const size, buffers = 1 << 16, 2
	p := &slowInput{ctx: ctx, chunks: make(chan chunk, buffers), free: make(chan []byte, buffers), idle: idle}
	for range buffers {
		p.free <- make([]byte, size)
	}
	go func() {
		for {
			var b []byte
			select {
			case b = <-p.free:
			case <-ctx.Done():
				return
			}
			n, err := r.Read(b)
			p.chunks <- chunk{b[:n], err} // there are as many places as buffers
			if err != nil {
				return
			}
		}
	}()
	return p
}

// Read returns what there is, and waits only if there is nothing.
func (p *slowInput) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.now.err != nil {
			return 0, p.now.err
		}
		if p.now.data != nil {
			p.free <- p.now.data[:cap(p.now.data)]
		}
		if err := p.next(); err != nil {
			return 0, err
		}
		p.rest = p.now.data
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func (p *slowInput) next() error {
	select {
	case p.now = <-p.chunks:
		return nil
	default:
	}
	p.idle()
	select {
	case p.now = <-p.chunks:
		return nil
	case <-p.ctx.Done():
		p.now = chunk{err: p.ctx.Err()}
		return p.ctx.Err()
	}
}
