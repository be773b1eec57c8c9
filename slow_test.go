//go:build unix

package everbloom

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
)

// slowKinds are the kinds that can keep slow memory in a file.
var slowKinds = []string{"evergreen", "elastic"}

// slowSet returns a set with slow files and 3,000 keys.
func slowSet(t *testing.T, n Needs) *Set {
	t.Helper()
	n.Items = 1000
	s, err := New(n)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(3000) {
		if _, err := s.AddUint64(i); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// wantSlow checks the keys that are left of a slowSet after the first thousand went.
func wantSlow(t *testing.T, when string, s *Set) {
	t.Helper()
	for i := range uint64(3000) {
		if has := s.MayContainUint64(i); i >= 1000 && !has {
			t.Fatalf("%s: key %d is a false negative", when, i)
		}
	}
	if n := s.Info().Keys; n != 2000 {
		t.Errorf("%s: %d keys, want 2000", when, n)
	}
}

func TestSlowMemoryLiesInFiles(t *testing.T) {
	for _, kind := range slowKinds {
		for shards, names := range map[int][]string{1: {""}, 3: {".0", ".1", ".2"}} {
			dir := t.TempDir()
			path := filepath.Join(dir, "slow")
			s := slowSet(t, Needs{Kind: kind, SlowFile: path, Shards: shards})
			for i := range uint64(1000) {
				if err := s.DeleteUint64(i); err != nil {
					t.Fatal(err)
				}
			}
			wantSlow(t, kind, s)
			inFiles := int64(0)
			for _, name := range names {
				info, err := os.Stat(path + name)
				if err != nil {
					t.Fatal(err)
				}
				inFiles += info.Size()
			}
			if slow := s.Info().SlowBits / 8; uint64(inFiles) < slow {
				t.Errorf("%s: %d bytes of slow memory, %d in files", kind, slow, inFiles)
			}
			saved := filepath.Join(dir, "saved")
			if err := errors.Join(s.Save(saved), s.Close()); err != nil {
				t.Fatal(err)
			}
			s, err := OpenSlow(saved, path)
			if err != nil {
				t.Fatal(err)
			}
			wantSlow(t, kind+" read into files", s)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if left, _ := filepath.Glob(path + "*"); len(left) > 0 {
				t.Errorf("%s: closed, and %q are left", kind, left)
			}
		}
	}
}

func TestSlowFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "slow")
	if _, err := New(Needs{Kind: "bloom", SlowFile: path}); !errors.Is(err, errors.ErrUnsupported) ||
		!strings.Contains(err.Error(), "kind bloom cannot keep slow memory in a file") {
		t.Errorf("a kind without slow memory: %v", err)
	}
	saved := filepath.Join(dir, "saved")
	plain, err := New(Needs{Items: 10})
	if err != nil {
		t.Fatal(err)
	}
	if err := plain.Save(saved); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenSlow(saved, path); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a file of such a kind: %v", err)
	}
	for _, kind := range slowKinds {
		if err := os.WriteFile(path+".2", []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := New(Needs{Kind: kind, SlowFile: path, Shards: 3})
		left, _ := filepath.Glob(path + "*")
		if !errors.Is(err, filter.ErrStorage) || !errors.Is(err, fs.ErrExist) || len(left) != 1 {
			t.Errorf("a file that is something else: %v, %q are left", err, left)
		}
	}
}

func TestSlowFilesOfForgottenSetsGo(t *testing.T) {
	for _, kind := range slowKinds {
		path := filepath.Join(t.TempDir(), "slow")
		slowSet(t, Needs{Kind: kind, SlowFile: path})
		for gone := 0; ; gone++ {
			runtime.GC()
			if _, err := os.Stat(path); err != nil {
				break
			}
			if gone == 1000 {
				t.Fatalf("%s: the file is left", kind)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// TestSlowFilesOfKilledProcessesAreTakenOver has a process that is killed, and then
// another set with the same file.
func TestSlowFilesOfKilledProcessesAreTakenOver(t *testing.T) {
	const variable = "EVERBLOOM_SLOW_FILE"
	if path := os.Getenv(variable); path != "" {
		slowSet(t, Needs{SlowFile: path})
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	path := filepath.Join(t.TempDir(), "slow")
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), variable+"="+path)
	if err := child.Run(); err == nil {
		t.Fatal("the process was not killed")
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("nothing was left: %v", err)
	}
	if err := slowSet(t, Needs{SlowFile: path}).Close(); err != nil {
		t.Error(err)
	}
}
