package console

import (
	"io"
	"iter"
	"time"

	"github.com/everbloom-go/everbloom/filter"
)

// A Source is the server that a console shows. It is safe for use by many goroutines.
type Source interface {
	// Login returns the user of a name and a token. A wrong token takes a while.
	Login(name, token string) (User, bool)

	// Default returns the user of a server that needs no login, and false if it needs one.
	Default() (User, bool)

	// Do runs a command as a user and returns the reply, line by line, in version 2 of the
	// protocol. An error means that the outcome is unknown.
	Do(u User, from string, words ...string) ([]string, error)

	Numbers() Numbers                   // what the server has done and has
	Sets() iter.Seq2[string, Set]       // all sets by name, in no order
	Set(name string) Set                // nil if there is none
	Commands() iter.Seq2[string, int64] // how often each command ran
	Clients() []Client
	Slow() []Slow // the newest first

	// Sample returns a sample of the commands that ran since the last call, and how many
	// these were. They are watched from now on, or not any more.
	Sample(watch bool) (sample []Ran, of int64)

	Kinds() []string

	// Cluster returns what is known of the servers of a cluster; nil if the server is alone.
	Cluster() *Cluster
}

// A User is what the console may show and do.
type User struct {
	Name   string
	Prefix string // of the sets that it may see
	Admin  bool   // it may change sets
}

// A Set is one set of the server.
type Set interface {
	Number() uint64 // it has for life
	KindName() string
	Items() uint64
	Deletes() uint64
	Bytes() int64
	Version() uint64 // changes whenever the set does
	Expiry() int64   // milliseconds since 1970; 0 means never
	Asked() (capacity uint64, fpr float64)
	CanDelete() bool
	HashName() string
	Info() filter.Info
	File() (io.WriterTo, error)

	// Fills returns how full at most n parts of it are, none if it has no parts.
	Fills(n int) []float64
}

// Numbers are the figures of a server at one moment. Those in the second group only grow.
type Numbers struct {
	Started          time.Time
	Version          string
	Sets, Expiring   int64
	SetBytes         int64
	MaxMemory        int64
	Resident         uint64
	Connections      int
	DiskFree, Disk   uint64 // bytes; 0 if unknown
	Refused          string // why changes are refused; empty if they are not
	Images           time.Time
	ImagesFailed     bool
	ImagesAreWritten bool // at the moment

	Commands, Accepted, Rejected int64
	Records, LogBytes, Effects   uint64
	Waited                       time.Duration // for the log
}

// A Client is a connection.
type Client struct {
	Addr, Name, User, Command string
	Since                     time.Time
}

// A Slow is a command that took long.
type Slow struct {
	At    time.Time
	Took  time.Duration
	Words []string
	Addr  string
}

// A Ran is a command that ran.
type Ran struct {
	At         time.Time
	Words      []string
	Addr, User string
}
