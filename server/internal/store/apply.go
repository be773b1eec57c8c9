package store

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/server/internal/rebloom"
	"github.com/everbloom-go/everbloom/server/internal/record"
)

type filterShape = frame.Shape

// An Outcome is what became of one key of a keyed effect.
type Outcome uint32

// The outcomes. That of Ask is a number of copies.
const (
	Not  Outcome = 0           // it was not there, or was there already
	Done Outcome = 1           // as the effect says
	Full Outcome = ^Outcome(0) // there is no room
)

// Apply does what a record says. It appends the outcomes of keyed effects, key by key, to
// outcomes. An error means that memory is not what the log says: the store is of no use any
// more. The partition calls it.
func (s *Store) Apply(number uint64, effects record.Effects, outcomes []Outcome) ([]Outcome, error) {
	defer s.hideDropped()
	for {
		x, ok, err := effects.Next()
		if err == nil && ok {
			outcomes, err = s.apply(number, &x, outcomes)
		}
		if err != nil {
			return outcomes, fmt.Errorf("store: record %d: %w", number, err)
		}
		if !ok {
			return outcomes, nil
		}
	}
}

func (s *Store) apply(number uint64, x *record.Effect, outcomes []Outcome) ([]Outcome, error) {
	switch x.Code {
	case record.Create, record.Adopt:
		return outcomes, s.create(number, x)
	case record.Flush:
		s.flush(number)
		return outcomes, nil
	case record.Hash:
		return outcomes, s.hash.UnmarshalBinary(x.Data)
	}
	if x.Code.Cluster() {
		return outcomes, nil // the partition's
	}
	if x.Code == record.Piece {
		s.last = max(s.last, x.Entry) // also if the rest never comes: the number is taken
		s.pieces[x.Entry] = append(s.pieces[x.Entry], x.Data...)
		return outcomes, nil
	}
	e := s.byNum[x.Entry]
	switch {
	case e == nil && s.gone[x.Entry] >= number:
		return outcomes, nil
	case e == nil:
		return outcomes, fmt.Errorf("effect %d on entry %d, which is not there: %w", x.Code, x.Entry, record.ErrDamaged)
	case e.imaged >= number:
		return outcomes, nil // it is in the image
	}
	e.version.Store(number)
	switch x.Code {
	case record.Drop:
		s.remove(e)
	case record.Rename:
		s.hide(e)
		e.name = string(x.Name)
		s.publish(e)
	case record.Expire:
		if len(x.Data) != 8 {
			return outcomes, errSpec
		}
		s.setExpiry(e, int64(binary.LittleEndian.Uint64(x.Data)))
	case record.Copies:
		return s.applyCopies(e, x, outcomes)
	default:
		return s.applyKeys(e, x, outcomes)
	}
	return outcomes, nil
}

// create makes an entry, or publishes the one that was made when it was decided.
func (s *Store) create(number uint64, x *record.Effect) error {
	if old := s.byNum[x.Entry]; old != nil {
		if old.imaged >= number {
			return nil
		}
		return fmt.Errorf("entry %d is created twice: %w", x.Entry, record.ErrDamaged)
	}
	defer delete(s.pieces, x.Entry)
	if s.gone[x.Entry] >= number {
		return nil
	}
	e := s.pending[x.Entry]
	if e == nil {
		var err error
		if e, err = s.decode(x); err != nil {
			return err
		}
		e.imaged = 0
	}
	delete(s.pending, x.Entry)
	e.version.Store(number)
	s.insert(e)
	return nil
}

// decode makes the entry of a Create or an Adopt.
func (s *Store) decode(x *record.Effect) (*Entry, error) {
	spec, content, err := ReadSpec(x.Data)
	if err != nil {
		return nil, err
	}
	if x.Code == record.Create {
		return s.NewEntry(x.Entry, string(x.Name), spec, nil)
	}
	return s.Adopt(x.Entry, string(x.Name), spec, append(s.pieces[x.Entry], content...))
}

// flush drops all entries but those that were made later.
func (s *Store) flush(number uint64) {
	for _, e := range s.byNum {
		if e.imaged < number {
			s.remove(e)
		}
	}
}

// applyKeys does what a keyed effect says.
func (s *Store) applyKeys(e *Entry, x *record.Effect, outcomes []Outcome) ([]Outcome, error) {
	if e.filter == nil {
		return outcomes, fmt.Errorf("effect %d on entry %d, a string: %w", x.Code, e.number, record.ErrDamaged)
	}
	s.keys = x.Keys.AppendTo(s.keys[:0])
	first := len(outcomes)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch x.Code {
	case record.Present, record.Add:
		outcomes = s.add(e, s.keys, outcomes)
	case record.AddNew:
		outcomes = s.addNew(e, s.keys, outcomes)
	case record.Absent, record.Remove:
		outcomes = s.removeKeys(e, s.keys, outcomes)
	case record.Ask:
		return s.ask(e, s.keys, outcomes), nil
	}
	done := uint64(0)
	for _, o := range outcomes[first:] {
		if o == Done {
			done++
		}
	}
	if x.Code == record.Absent || x.Code == record.Remove {
		e.deletes.Add(done)
		if !e.addsOnly {
			items := e.items.Load() // those of a dump may be too few
			e.items.Store(items - min(items, done))
		}
	} else {
		e.items.Add(done)
	}
	s.changed(e, len(s.keys))
	return outcomes, nil
}

// changed finds out how much memory an entry takes, after a sixteenth of its keys changed. One
// key may make a filter of RedisBloom many times as large.
func (s *Store) changed(e *Entry, keys int) {
	if e.fresh += uint64(keys); e.fresh*16 > e.items.Load()+64 || e.spec.Kind == rebloom.Kind {
		before := e.bytes.Load()
		e.measure()
		s.bytes.Add(e.bytes.Load() - before)
	}
}

// add adds keys. A key that there is no room for is passed over.
func (s *Store) add(e *Entry, keys []filter.Key, outcomes []Outcome) []Outcome {
	if cap(s.added) < len(keys) {
		s.added = make([]bool, len(keys))
	}
	for len(keys) > 0 {
		done, err := filter.AddEach(e.filter, keys, s.added[:len(keys)])
		for i := range done {
			o := Not
			if s.added[i] || e.counts {
				o = Done
			}
			outcomes = append(outcomes, o)
		}
		keys = keys[done:]
		if err != nil && len(keys) > 0 {
			outcomes = append(outcomes, Full)
			keys = keys[1:]
		}
	}
	return outcomes
}

// addNew adds keys one by one, unless they seem to be there.
func (s *Store) addNew(e *Entry, keys []filter.Key, outcomes []Outcome) []Outcome {
	for _, k := range keys {
		if e.filter.MayContain(k) {
			outcomes = append(outcomes, Not)
			continue
		}
		if _, err := e.filter.Add(k); err != nil {
			outcomes = append(outcomes, Full)
			continue
		}
		outcomes = append(outcomes, Done)
	}
	return outcomes
}

// removeKeys deletes keys. Those that are absent or pinned stay.
func (s *Store) removeKeys(e *Entry, keys []filter.Key, outcomes []Outcome) []Outcome {
	for _, k := range keys {
		if n := e.copies[k]; n > 0 {
			delete(e.copies, k)
			e.items.Add(-uint64(n))
		}
		switch err := filter.Delete(e.filter, k); {
		case err == nil:
			outcomes = append(outcomes, Done)
		case errors.Is(err, filter.ErrStorage):
			outcomes = append(outcomes, Full)
		default:
			outcomes = append(outcomes, Not)
		}
	}
	return outcomes
}

// ask returns how often keys are there.
func (s *Store) ask(e *Entry, keys []filter.Key, outcomes []Outcome) []Outcome {
	for _, k := range keys {
		outcomes = append(outcomes, Outcome(min(e.count(k), 1<<31)))
	}
	return outcomes
}
