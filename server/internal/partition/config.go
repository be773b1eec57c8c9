package partition

import (
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/record"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// Config is what a partition works with.
type Config struct {
	Store *store.Store
	Log   log.Log
	Hash  filter.Hash // of items, for a log that is empty

	// Tail is told the place behind each record that is on disk; it may be nil.
	Tail func(record.Chain)

	// Check is asked about the end of the log before anything is written to it; it may be
	// nil.
	Check func(record.Chain) error

	// Fatal is called when memory is not what the log says any more, so that the process
	// must end; it may be nil.
	Fatal func(error)

	// Report is told about what an operator must know; it may be nil.
	Report func(text string, err error)

	// After is where the log goes on: the last record that is in the store already, and its
	// position in the log.
	After    record.Chain
	Position uint64

	// Clock is the clock; nil means that of the system.
	Clock Clock

	// Node is the name of this node, if others share the log, which is a log.Shared then. Empty
	// means that the node is alone and leads always. What follows is for nodes with a name.
	Node string

	// Address is where others send commands for the leader.
	Address string

	// Lease is how long a record of the leader lets it lead; 0 means DefaultLease. Milliseconds.
	Lease time.Duration

	// Highest is the highest level of records that this node reads; 0 means [record.Highest].
	Highest uint8

	// Prefer returns how much longer than others this node waits before it claims the lead; it
	// may be nil.
	Prefer func() time.Duration

	// Ended is called once, in a goroutine of its own, if the partition ends by itself because
	// it cannot follow the log: a gap, damage, a record of a newer release. It does not lead
	// any more. Another one is to be opened with a fresh store from images, and this one closed. It
	// may be nil.
	Ended func(error)
}
