package elastic

import (
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
)

// Close gives the slow memory back and removes its file. After it the filter only
// answers queries. Filters without a SlowFile need not be closed.
func (f *Filter) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	f.slow.blocks, f.slow.used = nil, 0
	return f.discard()
}

// discard removes the file of the slow memory, if there is one.
func (f *Filter) discard() error {
	if f.file == nil {
		return nil
	}
	if err := f.file.Discard(); err != nil {
		return fmt.Errorf("elastic: SlowFile: %w: %w", filter.ErrStorage, err)
	}
	return nil
}
