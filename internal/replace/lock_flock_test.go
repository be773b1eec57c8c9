//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package replace

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, path, text string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Errorf("%s holds %q, want %q: %v", filepath.Base(path), got, text, err)
	}
}

func wantOnly(t *testing.T, folder string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	names = slices.Sorted(slices.Values(names))
	if !slices.Equal(got, names) {
		t.Errorf("the folder has %q, want %q", got, names)
	}
}

// text is what File takes to write s.
func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func acquire(t *testing.T, path string) *Lock {
	t.Helper()
	l, err := Acquire(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Release)
	return l
}

// withFlock puts another system call in place of flock.
func withFlock(t *testing.T, other func(fd, how int) error) {
	t.Helper()
	flock = other
	t.Cleanup(func() { flock = syscall.Flock })
}

// endWhenHeld returns a context that ends when a lock turns out to be held: what
// returns with its error has waited.
func endWhenHeld(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	withFlock(t, func(fd, how int) error {
		err := syscall.Flock(fd, how)
		if err != nil {
			cancel()
		}
		return err
	})
	return ctx
}

// TestALockIsOfTheFileThatHasTheName replaces the file twice between open and
// lock. A lock on the first file would keep no other writer away.
func TestALockIsOfTheFileThatHasTheName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "first")
	rest := []string{"second", "third"}
	withFlock(t, func(fd, how int) error {
		if len(rest) > 0 {
			write(t, path+".new", rest[0])
			if err := os.Rename(path+".new", path); err != nil {
				t.Error(err)
			}
			rest = rest[1:]
		}
		return syscall.Flock(fd, how)
	})
	l := acquire(t, path)
	if got, err := io.ReadAll(l.Reader()); err != nil || string(got) != "third" {
		t.Errorf("the locked file holds %q: %v", got, err)
	}
	if _, err := Acquire(endWhenHeld(t), path); !errors.Is(err, context.Canceled) {
		t.Errorf("a second lock on the file: %v", err)
	}
}

func TestWritersWaitForALock(t *testing.T) {
	folder := t.TempDir()
	path, link := filepath.Join(folder, "file"), filepath.Join(folder, "link")
	write(t, path, "old")
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	l := acquire(t, link)
	if err := File(endWhenHeld(t), path, false, text("saved")); !errors.Is(err, context.Canceled) {
		t.Errorf("the file was replaced: %v", err)
	}
	want(t, path, "old")
	if err := l.Replace(false, text("changed")); err != nil {
		t.Fatal(err)
	}
	want(t, path, "changed")
	l.Release()
	acquire(t, path).Release()
	if err := File(t.Context(), path, false, text("saved")); err != nil {
		t.Error(err)
	}
	want(t, path, "saved")
	wantOnly(t, folder, "file", "link")
}

// TestAFileThatAppearsMeanwhileIsNotReplacedUnlocked lets another writer make and
// lock the file while the first one still writes.
func TestAFileThatAppearsMeanwhileIsNotReplacedUnlocked(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	err := File(endWhenHeld(t), path, false, func(io.Writer) error {
		write(t, path, "other")
		acquire(t, path)
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it did not wait: %v", err)
	}
	want(t, path, "other")
	if err := placeFirst(path, path); !errors.Is(err, os.ErrExist) {
		t.Errorf("an existing file was replaced: %v", err)
	}
	wantOnly(t, folder, "file")
}

func TestALockedFileThatWasReplacedStays(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	write(t, path, "old")
	l := acquire(t, path)
	write(t, path+".new", "by a program without locks")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	if err := l.Replace(false, text("changed")); err == nil || !errors.Is(err, errReplaced) {
		t.Errorf("it was replaced: %v", err)
	}
	want(t, path, "by a program without locks")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := l.Replace(false, text("changed")); err == nil {
		t.Error("a file that was removed is back")
	}
	wantOnly(t, folder)
}

func TestFileSystemsWithoutLocks(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	for _, code := range []error{syscall.ENOTSUP, syscall.ENOSYS, syscall.ENOLCK, syscall.EINVAL} {
		withFlock(t, func(int, int) error { return code })
		write(t, path, "old")
		write(t, path+".00000000.tmp", "perhaps another writer's")
		if _, err := Acquire(t.Context(), path); !errors.Is(err, ErrNoLocks) || !errors.Is(err, code) || !strings.Contains(err.Error(), path) {
			t.Errorf("%v: %v", code, err)
		}
		if err := File(t.Context(), path, false, text("saved")); err != nil {
			t.Error(err)
		}
		want(t, path, "saved")
		wantOnly(t, folder, "file", "file.00000000.tmp")
	}
	withFlock(t, func(int, int) error { return syscall.EIO })
	if err := File(t.Context(), path, false, text("new")); !errors.Is(err, syscall.EIO) {
		t.Errorf("replaced without knowing about other writers: %v", err)
	}
	want(t, path, "saved")
}

func TestLeftoversAreRemovedUnlessHeld(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	keep := []string{
		"file.0123abcd.tmp.tmp", "file.0123ABCD.tmp", "file.0123abc.tmp", "file.0123abcde.tmp", "file.0123abcd",
		"afile.0123abcd.tmp", "file0.0123abcd.tmp", "file.x.0123abcd.tmp",
	}
	for _, name := range append(keep, "file.0123abcd.tmp", "file.ffffffff.tmp", "file.11111111.tmp") {
		write(t, filepath.Join(folder, name), "")
	}
	if err := os.Mkdir(path+".22222222.tmp", 0o700); err != nil {
		t.Fatal(err)
	}
	keep = append(keep, "file.22222222.tmp")
	held := acquire(t, path+".11111111.tmp")
	for range 2 { // the first makes the file, the second replaces it
		if err := File(t.Context(), path, false, text("new")); err != nil {
			t.Fatal(err)
		}
		wantOnly(t, folder, append(keep, "file", "file.11111111.tmp")...)
		want(t, path, "new")
	}
	held.Release()
	if err := acquire(t, path).Replace(false, text("newer")); err != nil {
		t.Fatal(err)
	}
	wantOnly(t, folder, append(keep, "file")...)
}

// TestATemporaryFileIsHeld looks at it while it is written, and lets another
// writer remove the first one before it is locked.
func TestCreateLeavesAFileThatIsThere(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	for _, content := range []string{"first", "second"} {
		if err := Create(path, false, text(content)); err != nil {
			t.Fatal(err)
		}
		want(t, path, "first")
		wantOnly(t, folder, "file")
	}
}

func TestATemporaryFileIsHeld(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	remove := true
	withFlock(t, func(fd, how int) error {
		if remove {
			remove = false
			removeLeftovers(path)
			wantOnly(t, folder)
		}
		return syscall.Flock(fd, how)
	})
	err := File(t.Context(), path, false, func(w io.Writer) error {
		removeLeftovers(path)
		return text("new")(w)
	})
	if err != nil {
		t.Error(err)
	}
	want(t, path, "new")
	wantOnly(t, folder, "file")
}

// TestOpenFilesAreNotReplaced names an open file in all ways that Linux has.
func TestOpenFilesAreNotReplaced(t *testing.T) {
	folder := t.TempDir()
	log := filepath.Join(folder, "log")
	write(t, log, "precious")
	file, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	number := strconv.Itoa(int(file.Fd()))
	if _, err := os.Stat("/proc/thread-self/fd/" + number); err != nil {
		t.Skip(err)
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink("/dev/fd/"+number, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/dev/stdout", "/dev/fd/" + number, "/proc/self/fd/" + number, "/proc/thread-self/fd/" + number, "/dev/../dev/fd/" + number, link} {
		if err := File(t.Context(), name, false, text("new")); err == nil || !strings.Contains(err.Error(), name+": names an open file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Chdir(folder)
	if err := File(t.Context(), "/proc/self/cwd/file", false, text("new")); err != nil {
		t.Errorf("a file in a folder that a process has open: %v", err)
	}
	want(t, log, "precious")
	want(t, filepath.Join(folder, "file"), "new")
}
