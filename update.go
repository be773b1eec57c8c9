package everbloom

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/internal/replace"
)

// Update changes the set in the named file: it opens the set, calls change with
// it, and saves it. From before it opens until after it has saved it holds a lock
// on the file, so that updates by other processes and goroutines come one after
// the other and none is lost. Update waits for the lock until ctx ends. If change
// returns an error, nothing is saved and Update returns that error.
//
// Programs that only open the file neither wait nor are waited for: they find the
// set as it was before the update or as it is after. A Save onto the file waits for
// the update and then replaces its outcome.
//
// change must not update or save the same file: both would wait for each other for
// ever. Saving the set itself there, the most likely slip, is an error.
//
// The lock is an advisory one (flock) on the file itself and ends with the
// process. A file system that has no such locks is an error. Windows and the few
// other systems without flock have locks between goroutines only: there, a program
// must not update a file that another program may change.
func Update(ctx context.Context, path string, change func(*Set) error) error {
	lock, err := replace.Acquire(ctx, path)
	if err != nil {
		return fmt.Errorf("everbloom: update: %w", err)
	}
	defer lock.Release()
	hash, filters, err := read(frame.Parts(lock.Reader()), "")
	if err != nil {
		return fmt.Errorf("everbloom: open %s: %w", path, err)
	}
	s := newSet(hash, filters)
	updated.Store(s, path)
	err = func() error {
		defer updated.Delete(s)
		return change(s)
	}()
	if err != nil {
		return err
	}
	return lock.Replace(s.hash.Secret(), s.shards.saver(s.hash))
}

// updated has the sets whose change is running, with the names of their files.
var updated sync.Map

// errInUpdate is returned by a Save that would wait for the Update it is part of.
var errInUpdate = errors.New("the set is being changed by Update, which saves it: return nil from change instead")

// SaveContext is Save that gives up when ctx ends while it waits for an Update of
// the file.
func (s *Set) SaveContext(ctx context.Context, path string) error {
	if own, ok := updated.Load(s); ok && sameFile(own.(string), path) {
		return fmt.Errorf("everbloom: save %s: %w", path, errInUpdate)
	}
	return replace.File(ctx, path, s.hash.Secret(), s.shards.saver(s.hash))
}

// sameFile reports whether both paths lead to one file.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
