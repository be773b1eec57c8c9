package everbloom

import (
	"cmp"
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/sizing"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// Needs says what a set has to do. The zero Needs is a set of a million keys
// with one false positive in a thousand that is only added to and asked.
//
// The kind that [New] takes follows from Delete, KnownDeletes, Grow, Merge, Spare and
// SlowFile, never from Items or FPR, so that what a small set promises in a test, a large one
// promises in production:
//
//	Delete, KnownDeletes, no Merge   perennial
//	Delete otherwise, or SlowFile    evergreen
//	Grow, Spare is TotalMemory       scalable
//	Grow otherwise, or with Merge    evergreen
//	none of these, Spare is Time     blocked
//	none of these, otherwise         bloom
//
// Where that kind cannot be made for the numbers, as evergreen for rates below 1e-9, the
// next one is taken that keeps the same promises. [Plan] shows it first.
type Needs struct {
	// Items is the number of keys expected; 0 means 1,000,000. For sets that delete or
	// grow it is where they begin; others take more keys too, at a higher rate.
	Items uint64

	// FPR is the wanted rate of false positives, between 0 and 1; 0 means 0.001.
	FPR float64

	// Delete says that keys will be deleted. At every size and rate, adding a key twice
	// and deleting it once takes it out; deleting a key that is not in the set is refused
	// with filter.ErrNotFound and changes nothing, also if the set may seem to contain it;
	// and the set is never full. Kinds that promise less, such as dleft in a quarter of
	// the memory, are taken only if Kind names them or KnownDeletes is set. Keys with
	// equal hashes are one key: see Untrusted.
	Delete bool

	// KnownDeletes is a promise of the program: it deletes only keys that are in the set,
	// each at most as often as it added it. With it, a set that deletes takes a fifth of
	// the memory, 16 bits per key at 1 % in place of 80, because it need not tell keys
	// apart that look alike. Adds are counted then: a key that was added twice is in the
	// set until it was deleted twice. Nothing checks the promise: deleting a key that is
	// not in the set is refused as a rule, but at the rate of false positives it takes out
	// another key, which is then reported absent. Leave it false where keys to be deleted
	// come from outside, or may come twice. It needs Delete, and with Merge or SlowFile it
	// changes nothing.
	KnownDeletes bool

	// Grow says that the number of keys is unknown. The set is never full, and keeps the
	// rate however many keys come.
	Grow bool

	// Merge says that the set will be united or intersected with others.
	Merge bool

	// Untrusted says that keys may be chosen by others, such as names in requests,
	// addresses or uploads, and that finding keys with equal hashes, forging false
	// positives or filling one place must be impossible. The hash is then SipHash with a
	// secret, new for each set and stored in its file; adding and asking take some
	// nanoseconds longer. Such sets merge only with sets that share the secret: give each
	// the Hash of the first.
	Untrusted bool

	// Spare is what to save first when several kinds would do.
	Spare Resource

	// Kind names the kind to take. It must be able to do what is needed, and may promise
	// less: [Choice] says what.
	Kind string

	// Shards splits the keys over so many independent filters, each with its own
	// lock, so that several goroutines can write at the same time; 0 means 1, at
	// most 1024. Only sets with equal Shards can be merged.
	Shards int

	// SlowFile is the path of a file for slow memory, the part of a filter that queries
	// never read: evergreen and elastic have one, other kinds refuse it. The file is
	// scratch space and is mapped. New makes it and Close removes it, as does the
	// collector when the set is forgotten; what is to last is saved by Save. A file that
	// a killed process left is taken over; one that is in use, or is anything else, is
	// refused. With Shards above 1 each has its own, SlowFile.0, SlowFile.1 and so on.
	SlowFile string

	// Hash turns the caller's keys into filter.Keys. The zero value is XXH3, or a new
	// secret SipHash if the keys are Untrusted.
	Hash filter.Hash
}

// A Resource is something a filter consumes.
type Resource uint8

// The resources that Spare names.
const (
	Time        Resource = iota // time per query: the default
	FastMemory                  // memory that queries read
	TotalMemory                 // memory of all kinds
)

var resourceNames = [...]string{Time: "time", FastMemory: "fast", TotalMemory: "total"}

// String returns "time", "fast" or "total".
func (r Resource) String() string {
	if int(r) < len(resourceNames) {
		return resourceNames[r]
	}
	return fmt.Sprintf("Resource(%d)", uint8(r))
}

// ParseResource is the reverse of String.
func ParseResource(name string) (Resource, error) {
	for r, n := range resourceNames {
		if n == name {
			return Resource(r), nil
		}
	}
	return 0, fault.In("everbloom", "spare: %q is unknown: take time, fast or total", name)
}

const maxShards = 1024

// withDefaults fills in what was left open and reports everything that is wrong.
func (n Needs) withDefaults() (Needs, error) {
	n.Items = cmp.Or(n.Items, sizing.Items)
	n.FPR = cmp.Or(n.FPR, sizing.FPR)
	n.Shards = cmp.Or(n.Shards, 1)
	p := sizing.In("everbloom")
	p.Rate(n.FPR, n.Items, 0)
	sizing.Between(&p, "Shards", n.Shards, 1, maxShards)
	if int(n.Spare) >= len(resourceNames) {
		p.Addf("Spare: %d is unknown", n.Spare)
	}
	if n.KnownDeletes && !n.Delete {
		p.Addf("KnownDeletes: needs Delete")
	}
	if n.Untrusted && n.Hash != (filter.Hash{}) && !n.Hash.Secret() {
		p.Addf("Hash: %s has no secret, Untrusted keys need one: leave Hash empty or take filter.NewSipHash", n.Hash)
	}
	return n, p.Err()
}
