package live

import (
	"errors"
	"net/netip"
	"time"

	"github.com/everbloom-go/everbloom/internal/capture"
)

// Options say how large things are. The zero value is the default.
type Options struct {
	IPv6Prefix int    // bits of an IPv6 address that make a user; 0 means 64
	Bans       int    // that XDP has room for; 0 means a million
	Ring       int    // bytes of the ring of XDP, a power of two; 0 means 16 MiB
	Generic    bool   // do not try XDP in the driver
	Table      string // of nftables; empty means TableName

	// Spare has XDP not send datagrams in which none of the Patterns begins to the gate, nor
	// acknowledgements of TCP without data. Patterns of less than four bytes prevent it.
	Spare    bool
	Patterns [][]byte // as bytes of payloads, each of them in either case

	// Watched are users of which every datagram goes to the gate from the beginning.
	Watched []netip.Prefix
}

// TableName is the name of the table of nftables unless another is asked for, and the
// beginning of all names.
const TableName = "everbloom"

// Clean is the name of the counter of frames that were spared.
const Clean = "clean, not to the gate"

// Frames are what comes in at an interface.
type Frames interface {
	// Read fills in the next frame. It waits until there is one, or until Close: then it
	// returns an error that is os.ErrClosed.
	Read(f *capture.Frame) error

	Close() error // may be called again
}

// An Enforcer makes bans hold in the kernel.
type Enforcer interface {
	Ban(user netip.Prefix, until time.Time) error // the zero time is for ever
	Unban(user netip.Prefix) error
	Except(user netip.Prefix) error          // from the black list, until Lists
	Lists(black, white []netip.Prefix) error // replaces what was there
	Name() string
	Close() error
}

// Live is an interface under guard.
type Live struct {
	Frames   Frames
	Enforcer Enforcer // nil if nothing is enforced
	Counters func() map[string]uint64
	Name     string // of what enforces
}

// Close ends all of it.
func (l *Live) Close() error {
	err := l.Frames.Close()
	if l.Enforcer != nil {
		err = errors.Join(err, l.Enforcer.Close())
	}
	return err
}

// Ways are the names of the ways to enforce that Open knows.
func Ways() []string { return []string{"auto", "xdp", "nft", "none"} }
