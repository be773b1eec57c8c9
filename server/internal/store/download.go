package store

import (
	"bytes"
	"errors"
	"io"

	"github.com/everbloom-go/everbloom/internal/frame"
)

// Download is File for a set that changes meanwhile: changes do not wait while memory for a
// large copy is taken. A kind that can be captured part by part is copied inside of calls of
// exclusive, as by Stream, before Download returns. Of other kinds, but for those that are
// concurrent, the words are copied at once.
func (e *Entry) Download(exclusive func(func()) bool) (io.WriterTo, error) {
	if e.Concurrent() || e.Bytes() < streamed {
		return e.File()
	}
	switch f := e.filter.(type) {
	case interface {
		Stream(exclusive func(func()) bool) io.WriterTo
	}:
		return e.copyParts(f.Stream, exclusive)
	case interface{ Image() io.WriterTo }:
		return e.copyWords(f.Image)
	}
	return e.File()
}

var errEnded = errors.New("store: the server ends")

// copyParts returns a copy of the file of a filter that can be captured part by part.
func (e *Entry) copyParts(stream func(func(func()) bool) io.WriterTo, exclusive func(func()) bool) (io.WriterTo, error) {
	var w io.WriterTo
	if !exclusive(func() { w = stream(exclusive) }) {
		return nil, errEnded
	}
	w, err := e.stamped(w)
	if err != nil {
		return nil, err
	}
	content := bytes.NewBuffer(make([]byte, 0, e.Bytes()+e.Bytes()/16))
	if _, err := w.WriteTo(content); err != nil {
		return nil, err
	}
	return content, nil
}

// copyWords returns a copy of the file of a filter that is stored as words.
func (e *Entry) copyWords(image func() io.WriterTo) (io.WriterTo, error) {
	e.mu.RLock()
	now, ok := image().(*frame.Image)
	e.mu.RUnlock()
	if !ok || !now.IsWords() {
		return e.File()
	}
	room, err := now.Room()
	if err != nil {
		return nil, err
	}
	e.mu.RLock()
	now, _ = image().(*frame.Image)
	copied := now.CopiedTo(room)
	e.mu.RUnlock()
	return e.stamped(copied)
}
