//go:build unix

package everbloom

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// withUmask runs the rest of the test with another umask. Tests here do not run
// in parallel.
func withUmask(t *testing.T, mask int) {
	t.Helper()
	old := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(old) })
}

func wantMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode(); got != want {
		t.Errorf("%s has mode %v, want %v", filepath.Base(path), got, want)
	}
}

func TestPermissionsOfFiles(t *testing.T) {
	dir := t.TempDir()
	open := filled(t, Needs{Items: 10}, 0, 10)
	private := filled(t, Needs{Items: 10, Hash: filter.SipHash(secret)}, 0, 10)
	for _, c := range []struct {
		name string
		set  *Set
		mask int
		old  fs.FileMode // 0: there is no file
		want fs.FileMode
	}{
		{"new", open, 0o022, 0, 0o644},
		{"new, with another umask", open, 0o077, 0, 0o600},
		{"new with a secret", private, 0o022, 0, 0o600},
		{"private stays so", open, 0o022, 0o600, 0o600},
		{"group may write, whatever the umask", open, 0o022, 0o664, 0o664},
		{"all may write", open, 0o022, 0o666, 0o666},
		{"read only", open, 0o022, 0o444, 0o444},
		{"a secret closes an open file", private, 0o022, 0o644, 0o600},
		{"a secret closes a wide open file", private, 0o022, 0o777, 0o600},
	} {
		withUmask(t, c.mask)
		path := filepath.Join(dir, c.name)
		if c.old != 0 {
			if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.old); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.set.Save(path); err != nil {
			t.Fatal(err)
		}
		wantMode(t, path, c.want)
		wantContent(t, path, stored(t, c.set))
	}
}

// TestSecretsAreNeverReadableByOthers looks at the temporary file while it is
// being written.
func TestSecretsAreNeverReadableByOthers(t *testing.T) {
	withUmask(t, 0)
	dir := t.TempDir()
	path := filepath.Join(dir, "set")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	seen := 0
	s := NewSet(peeking{func() {
		files, _ := filepath.Glob(filepath.Join(dir, "*.tmp"))
		for _, f := range files {
			seen++
			wantMode(t, f, 0o600)
		}
	}}, filter.SipHash(secret))
	if err := s.Save(path); err == nil || seen != 1 {
		t.Errorf("%d temporary files were seen: %v", seen, err)
	}
}

// peeking is a filter that looks around while it is written, and then fails.
type peeking struct{ look func() }

func (peeking) Add(filter.Key) (bool, error) { return false, nil }
func (peeking) MayContain(filter.Key) bool   { return true }

func (p peeking) Info() filter.Info {
	p.look()
	return filter.Info{Kind: "peeking"}
}

// mustLink makes links in a folder, and the folders that they lie in.
func mustLink(t *testing.T, dir string, links map[string]string) {
	t.Helper()
	for from, to := range links {
		from = filepath.Join(dir, from)
		if err := errors.Join(os.MkdirAll(filepath.Dir(from), 0o755), os.Symlink(to, from)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLinksStayLinks saves through links to a file, to links, and through folders that
// are links, in which ".." leads elsewhere than beside them.
func TestLinksStayLinks(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "real", "set")
	links := map[string]string{
		"links/absolute":   target,
		"links/relative":   "../real/set",
		"links/indirect":   "relative",
		"links/roundabout": "../real/back/../real/set", // the last ".." leads out of links
		"real/inner/up":    "../set",
	}
	mustLink(t, dir, links)
	mustLink(t, dir, map[string]string{"real/back": "../links", "folder": "real/inner"})
	links["folder/up"] = "../set"
	s := filled(t, Needs{Items: 10}, 0, 5)
	for name, to := range links {
		for _, when := range []string{"the target is missing", "the target is there"} {
			link := filepath.Join(dir, name)
			if err := s.Save(link); err != nil {
				t.Fatal(err)
			}
			if got, err := os.Readlink(link); err != nil || got != to {
				t.Errorf("%s, %s: it is no link any more: %v", name, when, err)
			}
			wantContent(t, target, stored(t, s))
			wantOnly(t, filepath.Join(dir, "real"), "set", "back", "inner")
		}
		if err := os.Remove(target); err != nil {
			t.Fatal(err)
		}
	}
	wantOnly(t, dir, "links", "real", "folder")
	wantOnly(t, filepath.Join(dir, "links"), "absolute", "relative", "indirect", "roundabout")

	mustLink(t, dir, map[string]string{"circle/a": "b", "circle/b": "a"})
	wantError(t, s.Save(filepath.Join(dir, "circle", "a")), nil, "everbloom: save")
	wantOnly(t, filepath.Join(dir, "circle"), "a", "b")
	t.Chdir(dir)
	if err := s.Save("here"); err != nil {
		t.Fatal(err)
	}
	wantContent(t, filepath.Join(dir, "here"), stored(t, s))
}

// TestOnlyFilesAreReplaced would turn a device or a pipe into a file.
func TestOnlyFilesAreReplaced(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no pipe can be made: %v", err)
	}
	for _, hash := range []filter.Hash{{}, filter.SipHash(secret)} {
		wantError(t, mustNew(t, Needs{Items: 10, Hash: hash}).Save(pipe), nil, pipe, "not a regular file")
	}
	wantMode(t, pipe, fs.ModeNamedPipe|0o600)
	wantOnly(t, dir, "pipe")
}

// TestFoldersWithoutPermissionAreErrors covers a folder that may not be written,
// and one that may not be read and thus not be synced: nothing changes in both.
func TestFoldersWithoutPermissionAreErrors(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	for _, mode := range []fs.FileMode{0o500, 0o300} {
		dir := t.TempDir()
		path := filepath.Join(dir, "set")
		old := filled(t, Needs{Items: 10}, 0, 10)
		if err := old.Save(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		err := filled(t, Needs{Items: 20}, 0, 20).Save(path)
		wantContent(t, path, stored(t, old))
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		wantError(t, err, fs.ErrPermission, "everbloom: save")
		wantOnly(t, dir, "set")
	}
}
