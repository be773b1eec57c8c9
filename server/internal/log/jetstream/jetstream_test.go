package jetstream

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/log/logtest"
)

func TestLog(t *testing.T) {
	dir := t.TempDir()
	logtest.Run(t, func(t *testing.T) log.Log {
		t.Helper()
		l, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		return l
	})
}

// TestRetryStoresNothingTwice appends what an earlier try has stored without its caller
// knowing.
func TestRetryStoresNothingTwice(t *testing.T) {
	l, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 2 {
		if at, err := l.Append(t.Context(), 0, []byte("one")); at != 1 || err != nil {
			t.Fatal(at, err)
		}
	}
	if _, err := l.Append(t.Context(), 0, []byte("two")); !errors.Is(err, log.ErrMoved) {
		t.Error(err)
	}
	if last, _ := l.Last(t.Context()); last != 1 {
		t.Errorf("%d entries", last)
	}
}

// TestRecover ends the engine behind the log's back, before and after an entry was stored.
func TestRecover(t *testing.T) {
	l, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Append(t.Context(), 0, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if at, err := l.recover(t.Context(), 0, []byte("one"), errors.New("no answer")); at != 1 || err != nil {
		t.Error("stored:", at, err)
	}
	if _, err := l.recover(t.Context(), 1, []byte("two"), errors.New("no answer")); !errors.Is(err, log.ErrFull) {
		t.Error("not stored:", err)
	}
	l.conn.Close()
	l.engine.Shutdown()
	l.engine.WaitForShutdown()
	if _, err := l.Append(t.Context(), 1, []byte("two")); err != nil && !errors.Is(err, log.ErrFull) {
		t.Error("the engine was gone:", err)
	}
	last, _ := l.Last(t.Context())
	if at, err := l.Append(t.Context(), last, []byte("more")); at != last+1 || err != nil {
		t.Error("it does not go on:", at, err)
	}
}

// blocks returns the files that hold the entries.
func blocks(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "jetstream", "*", "streams", name, "msgs", "*.blk"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	return files
}

// filled returns a folder with ten entries.
func filled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	l, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(10) {
		if _, err := l.Append(t.Context(), i, fmt.Appendf(nil, "entry %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// count opens the log in a folder, counts its entries and appends one.
func count(t *testing.T, dir string) (n uint64, err error) {
	t.Helper()
	l, err := Open(dir)
	if err != nil {
		return 0, err
	}
	defer l.Close()
	if err := l.Follow(t.Context(), 0, func(uint64, []byte) error { n++; return nil }); err != nil {
		return n, err
	}
	_, err = l.Append(t.Context(), n, []byte("more"))
	return n, err
}

// TestPowerCuts has zeros behind the last entry, or the last entry cut short, with the index
// of the engine and without.
func TestPowerCuts(t *testing.T) {
	for _, c := range []struct {
		name  string
		bytes int64 // added, or cut
		index bool
		want  uint64
	}{
		{"zeros", 4096, true, 10},
		{"zeros, no index", 4096, false, 10},
		{"few zeros, no index", 3, false, 10},
		{"cut, no index", -5, false, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filled(t)
			files := blocks(t, dir)
			last := files[len(files)-1]
			info, err := os.Stat(last)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(last, info.Size()+c.bytes); err != nil {
				t.Fatal(err)
			}
			if !c.index {
				if err := Rebuild(dir); err != nil {
					t.Fatal(err)
				}
			}
			for n := range uint64(2) {
				if got, err := count(t, dir); got != c.want+n || err != nil {
					t.Fatalf("%d entries, want %d: %v", got, c.want+n, err)
				}
			}
		})
	}
	dir := filled(t)
	files := blocks(t, dir)
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	clear(whole[len(whole)/2 : len(whole)/2+64])
	if err := errors.Join(os.WriteFile(files[0], whole, 0o600), Rebuild(dir)); err != nil {
		t.Fatal(err)
	}
	if n, err := count(t, dir); err == nil && n == 10 {
		t.Error("zeros in the middle are not found")
	}
}
