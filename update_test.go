package everbloom

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
)

func TestUpdatesOfManyGoroutinesAreAllKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "set")
	if err := mustNew(t, Needs{Items: 100}).Save(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("set", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	names := []string{path, filepath.Join(dir, "link")}
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			for j := range 5 {
				word := 5*i + j
				err := Update(t.Context(), names[i%2], func(s *Set) error {
					addWords(t, s, word, word+1)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	wantWords(t, s, 0, 100)
	wantOnly(t, dir, "set", "link")
}

func TestAFailedUpdateChangesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "set")
	old := filled(t, Needs{Items: 10}, 0, 5)
	if err := old.Save(path); err != nil {
		t.Fatal(err)
	}
	cause := errors.New("the caller gives up")
	err := Update(t.Context(), path, func(s *Set) error {
		addWords(t, s, 5, 10)
		return cause
	})
	wantError(t, err, cause)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	unused := func(*Set) error { t.Error("change was called"); return nil }
	wantError(t, Update(ended, path, unused), context.Canceled, "everbloom: update")
	missing := filepath.Join(dir, "missing")
	wantError(t, Update(t.Context(), missing, unused), fs.ErrNotExist, "everbloom: update", missing)
	wantError(t, Update(t.Context(), dir, unused), nil, "everbloom: update", dir, "not a regular file")
	wantContent(t, path, stored(t, old))

	if err := os.Truncate(path, 50); err != nil {
		t.Fatal(err)
	}
	wantError(t, Update(t.Context(), path, unused), filter.ErrCorrupt, "everbloom: open", path)
	wantOnly(t, dir, "set")
	wantUnlocked(t, path)
}

// wantUnlocked checks that nothing holds the lock of a file.
func wantUnlocked(t *testing.T, path string) {
	t.Helper()
	if err := mustNew(t, Needs{Items: 10}).Save(path); err != nil { // would wait for ever
		t.Error(err)
	}
}

func TestAnUpdateThatPanicsGivesUpTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "set")
	old := filled(t, Needs{Items: 10}, 0, 5)
	if err := old.Save(path); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = Update(t.Context(), path, func(*Set) error { panic("change fails") })
	}()
	wantContent(t, path, stored(t, old))
	wantUnlocked(t, path)
}

// TestSaveWaitsForAnUpdate begins to save in the middle of an update. The later
// one replaces the outcome of the other as a whole.
func TestSaveWaitsForAnUpdate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "set")
	other := filled(t, Needs{Items: 20}, 10, 20)
	for _, ended := range []bool{false, true} {
		if err := filled(t, Needs{Items: 10}, 0, 5).Save(path); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		saved := make(chan error, 1)
		var updated []byte
		err := Update(t.Context(), path, func(s *Set) error {
			go func() { saved <- other.SaveContext(ctx, path) }()
			for temp := []string(nil); len(temp) == 0 && len(saved) == 0; time.Sleep(time.Millisecond) {
				temp, _ = filepath.Glob(path + ".*.tmp")
			}
			if ended {
				cancel()
				wantError(t, <-saved, context.Canceled, "everbloom: save")
			}
			addWords(t, s, 5, 6)
			updated = stored(t, s)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if ended {
			wantContent(t, path, updated)
		} else {
			if err := <-saved; err != nil {
				t.Error(err)
			}
			wantContent(t, path, stored(t, other))
		}
		cancel()
		wantOnly(t, dir, "set")
	}
}

func TestSavingInsideAnUpdate(t *testing.T) {
	dir := t.TempDir()
	path, elsewhere := filepath.Join(dir, "set"), filepath.Join(dir, "copy")
	if err := filled(t, Needs{Items: 10}, 0, 5).Save(path); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	var kept *Set
	err := Update(t.Context(), path, func(s *Set) error {
		kept = s
		wantError(t, s.Save("set"), errInUpdate, "everbloom: save set", "return nil")
		return s.Save(elsewhere)
	})
	if err != nil {
		t.Error(err)
	}
	wantContent(t, elsewhere, stored(t, kept))
	if err := kept.Save(path); err != nil {
		t.Errorf("after the update: %v", err)
	}
}
