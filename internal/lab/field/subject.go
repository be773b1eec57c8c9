package field

import (
	"errors"
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

// rate is what filters are asked for where an experiment does not say.
const rate = 0.01

// kindDim varies the kind.
func kindDim(list []kinds.Kind) lab.Dim {
	return lab.AmongAll("kind", list, func(k kinds.Kind) string { return k.Name })
}

// subject is a filter with what it answered. Present are the keys from first to before
// next that it took.
type subject struct {
	filter.Filter
	keys                      walk.Keys
	first, next, asked        int
	out                       map[int]bool // keys that were refused
	refused, pinned, notFound int
}

// newSubject makes a filter of a kind for n keys.
func newSubject(name string, n int, fpr float64, keys walk.Keys) (*subject, error) {
	k, err := kinds.ByName(name)
	if err != nil {
		return nil, err
	}
	f, err := k.New(kinds.Config{Items: uint64(n), FPR: fpr})
	return &subject{Filter: f, keys: keys, out: map[int]bool{}}, err
}

// add adds so many keys. That there is no room is an answer.
func (s *subject) add(count int) error {
	for range count {
		_, err := s.Add(s.keys.Present(s.next))
		if errors.Is(err, filter.ErrFull) {
			s.out[s.next] = true
			s.refused++
		} else if err != nil {
			return fmt.Errorf("key %d: %w", s.next, err)
		}
		s.next++
	}
	return nil
}

// delete deletes the oldest keys. That they are pinned, or not found, is an answer.
func (s *subject) delete(count int) error {
	for range count {
		if i := s.first; s.out[i] {
			delete(s.out, i)
		} else if _, err := s.remove(s.keys.Present(i)); err != nil {
			return fmt.Errorf("deleting key %d: %w", i, err)
		}
		s.first++
	}
	return nil
}

func (s *subject) remove(k filter.Key) (done bool, err error) {
	err = filter.Delete(s.Filter, k)
	switch {
	case errors.Is(err, filter.ErrPinned):
		s.pinned++
		return false, nil
	case errors.Is(err, filter.ErrNotFound):
		s.notFound++
		return false, nil
	}
	return err == nil, err
}

// denied counts the present keys that get a no.
func (s *subject) denied() (n float64) {
	for i := s.first; i < s.next; i++ {
		if !s.out[i] && !s.MayContain(s.keys.Present(i)) {
			n++
		}
	}
	return n
}

// yes is the share of so many absent keys that get one. Each is asked about once.
func (s *subject) yes(queries int) (share float64) {
	for range queries {
		share += lab.OneIf(s.MayContain(s.keys.Absent(s.asked))) / float64(queries)
		s.asked++
	}
	return share
}
