package gate

import (
	"cmp"
	"errors"
	"net/netip"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/gate/pattern"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// Config is what a gate is made for. The zero Config makes one for 100,000 users, with
// no patterns and empty lists.
type Config struct {
	// Users is how many addresses are expected to be tracked; 0 means 100,000. More are
	// served as well: see Memory.
	Users uint64

	// Banned is how many addresses are expected to be banned, those of the black list
	// included; 0 means as many as the black list has and a quarter of Users.
	Banned uint64

	// Kind names the kind of filter that backs the tracked set and the banned set: see
	// [Kinds]. Empty means evergreen.
	Kind string

	// BitsPerUser is the memory of each of the two sets per address expected in it.
	// 0 means 64 for counting, 32 for deletable and dleft, 12,000 for elastic, and for
	// evergreen what a rate of 0.1 % needs, about 100.
	BitsPerUser float64

	// FPR is the false-positive rate of each of the two sets with as many addresses as
	// expected. 0 means what BitsPerUser or Memory allow.
	FPR float64

	// Memory is the limit in bytes for the sets and the users' states together, which
	// is never exceeded. A quarter of what the parts of fixed size leave is for
	// states. 0 means no limit: states grow as users come, and so do sets of evergreen.
	// They begin with what BitsPerUser or FPR come to, and the states of half the users.
	Memory uint64

	// Patterns are what users must not send; nil means that nothing is looked for.
	Patterns *pattern.Automaton

	// Blacklist has addresses and networks whose packets are rejected from the start.
	Blacklist []netip.Prefix

	// Whitelist has addresses and networks whose packets pass, whatever they are.
	Whitelist []netip.Prefix

	// Strikes is how many completed patterns ban a user, 1 to 100; 0 means 3.
	Strikes int

	// Window is how long a strike counts, before and after; 0 means for ever. Packets
	// without a time count as of any.
	Window time.Duration

	// DropFlagged holds back the packets that complete a pattern.
	DropFlagged bool

	// Confirm says whether every hit of the banned set is looked up exactly, so that no
	// false positive locks a user out. The zero value confirms where that takes no
	// memory: see [ConfirmFree].
	Confirm Confirmation

	// IPv6Prefix is how many leading bits of an IPv6 address make a user, 1 to 128;
	// 0 means 64. A sender with one address usually has the 2^64 of its network.
	IPv6Prefix int

	// Hash makes keys of addresses. The zero value means [filter.NewSipHash]: senders
	// choose their addresses, and must not know which of them share a place. Without a
	// secret [filter.XXH3] is faster, with any seed but 0.
	Hash filter.Hash
}

// Confirmation says which hits of the banned set are looked up exactly.
type Confirmation uint8

// The choices.
const (
	// ConfirmFree confirms if the kind stores its keys, as evergreen and elastic do:
	// that takes no memory. Other kinds do not confirm.
	ConfirmFree Confirmation = iota

	// ConfirmAlways confirms with every kind. A kind that does not store its keys gets
	// a table of 11 bytes for each address expected in the banned set, within Memory.
	ConfirmAlways

	// ConfirmNever lets false positives of the banned set reject.
	ConfirmNever
)

const (
	defaultUsers   = 100_000
	defaultRate    = 0.001 // of [Sum]; lower ones take more lines of memory, and hits are confirmed
	defaultStrikes = 3
	maxStrikes     = 100
	maxUsers       = 1 << 36
)

// withDefaults fills in what was left open and reports everything that is wrong.
func (c Config) withDefaults() (Config, error) {
	c.Users = cmp.Or(c.Users, defaultUsers)
	c.Banned = cmp.Or(c.Banned, uint64(len(c.Blacklist))+max(1, c.Users/4))
	c.Kind = cmp.Or(c.Kind, backings[0].name)
	c.Strikes = cmp.Or(c.Strikes, defaultStrikes)
	c.IPv6Prefix = cmp.Or(c.IPv6Prefix, 64)
	c.Hash = cmp.Or(c.Hash, filter.NewSipHash())
	if c.Patterns == nil {
		c.Patterns, _ = pattern.Compile(nil)
	}
	b, err := backingOf(c.Kind)
	switch {
	case err != nil || c.FPR > 0:
	case b.grows && c.BitsPerUser == 0 && c.Memory == 0:
		c.FPR = defaultRate
	default:
		c.BitsPerUser = cmp.Or(c.BitsPerUser, b.bits)
	}
	switch {
	case c.Confirm == ConfirmFree && b.exact:
		c.Confirm = ConfirmAlways
	case c.Confirm == ConfirmFree:
		c.Confirm = ConfirmNever
	}
	return c, errors.Join(c.check(), err)
}

func (c Config) check() error {
	var errs []error
	if c.Users > maxUsers || c.Banned > maxUsers {
		errs = append(errs, fault.Field("gate", "Users, Banned", "%d and %d, each at most %d", c.Users, c.Banned, uint64(maxUsers)))
	}
	if !(c.BitsPerUser >= 0 && c.BitsPerUser < 1e6) {
		errs = append(errs, fault.Field("gate", "BitsPerUser", "%g, must be 0 to a million", c.BitsPerUser))
	}
	if !(c.FPR >= 0 && c.FPR <= highestRate) {
		errs = append(errs, fault.Field("gate", "FPR", "%g, must be 0 to %g", c.FPR, highestRate))
	}
	if c.FPR > 0 && (c.BitsPerUser > 0 || c.Memory > 0) {
		errs = append(errs, fault.Field("gate", "FPR", "not together with BitsPerUser or Memory, which the rate follows from"))
	}
	if c.Strikes < 1 || c.Strikes > maxStrikes {
		errs = append(errs, fault.Field("gate", "Strikes", "%d, must be 1 to %d", c.Strikes, maxStrikes))
	}
	if c.Window < 0 {
		errs = append(errs, fault.Field("gate", "Window", "%v, must not be negative", c.Window))
	}
	if c.IPv6Prefix < 1 || c.IPv6Prefix > 128 {
		errs = append(errs, fault.Field("gate", "IPv6Prefix", "%d, must be 1 to 128", c.IPv6Prefix))
	}
	if c.Confirm > ConfirmNever {
		errs = append(errs, fault.Field("gate", "Confirm", "%d, must be %d to %d", c.Confirm, ConfirmFree, ConfirmNever))
	}
	return errors.Join(append(errs, checkPrefixes("Blacklist", c.Blacklist), checkPrefixes("Whitelist", c.Whitelist))...)
}

func checkPrefixes(list string, prefixes []netip.Prefix) error {
	for i, p := range prefixes {
		if !p.IsValid() {
			return fault.Field("gate", list, "entry %d is not valid", i+1)
		}
	}
	return nil
}

// keptTimes returns how many times of strikes are kept for a user.
func (c Config) keptTimes() int {
	if c.Window == 0 {
		return 0
	}
	return c.Strikes - 1
}
