package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/mem"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// openFilter loads the filter in a file, or from the standard input if the name
// is "-".
func (e *env) openFilter(name string) (*everbloom.Set, error) {
	load := everbloom.Open
	if name == lines.Stdin {
		if err := e.takeStdin(); err != nil {
			return nil, err
		}
		load = e.readFilter
	}
	set, err := load(name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	return set, nil
}

// readFilter reads a filter from the standard input, which holds nothing else: of
// two filters one behind the other, the keys of the second would be absent.
func (e *env) readFilter(string) (*everbloom.Set, error) {
	r := bufio.NewReader(e.stdin)
	set := new(everbloom.Set)
	n, err := set.ReadFrom(r)
	if err != nil {
		return nil, err
	}
	switch _, err := r.ReadByte(); err {
	case io.EOF:
		return set, nil
	case nil:
		return nil, &filter.FormatError{Field: "more than one filter", Offset: uint64(n), Err: filter.ErrCorrupt}
	default:
		return nil, err
	}
}

// takeStdin refuses to read the standard input a second time.
func (e *env) takeStdin() error {
	if e.taken {
		return within(lines.Stdin, "the standard input is named twice: name it once")
	}
	e.taken = true
	return nil
}

// newSet makes an empty set, or says what to ask for instead.
func newSet(n everbloom.Needs) (*everbloom.Set, error) {
	set, err := everbloom.New(n)
	if errors.Is(err, filter.ErrStorage) {
		reason := fault.Text(fault.From(err, "mem"))
		if n.SlowFile != "" && !errors.Is(err, mem.ErrMemory) {
			return nil, fmt.Errorf("--slow-file: %s", reason)
		}
		return nil, fmt.Errorf("the filter does not fit: %s: ask for fewer --items or a higher --fpr", reason)
	}
	return set, err
}
