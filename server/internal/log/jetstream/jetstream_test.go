package jetstream

import (
	"errors"
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
