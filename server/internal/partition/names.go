package partition

import (
	"math"

	"github.com/everbloom-go/everbloom/server/internal/record"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// Find returns the entry of a name, nil if there is none. An entry that has ended is
// dropped.
func (t *Tx) Find(name []byte) *store.Entry {
	var e *store.Entry
	decided := t.flushed
	if len(t.names) > 0 {
		if one, ok := t.names[string(name)]; ok {
			e, decided = one, true
		}
	}
	if !decided {
		e = t.finder.Lookup(name, 0)
	}
	if e == nil || e.Ahead.Gone {
		return nil
	}
	if end := e.Ahead.Expiry; end != 0 && end <= t.now {
		if t.refuse == nil {
			t.drop(e, record.ByTime)
		}
		return nil
	}
	return e
}

// Names calls do with every name and its entry, as they will be, without hidden parts.
func (t *Tx) Names(do func(name string, e *store.Entry)) {
	if !t.flushed {
		t.p.store.Scan(0, math.MaxInt, t.now, func(name string, e *store.Entry) {
			if _, decided := t.names[name]; !decided {
				do(name, e)
			}
		})
	}
	for name, e := range t.names {
		if e != nil && !e.Ahead.Gone && !e.Spec().Part.Hidden() {
			do(name, e)
		}
	}
}

// Version returns what changes whenever the entry of a name does.
func (t *Tx) Version(name []byte) (number, version uint64) {
	e := t.Find(name)
	if e == nil {
		return 0, 0
	}
	if e.Ahead.Changed {
		return e.Number(), t.p.chain.Number + 1
	}
	return e.Number(), e.Version()
}
