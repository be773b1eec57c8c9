package log_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/log/logtest"
)

func TestMemory(t *testing.T) {
	m := new(log.Memory)
	logtest.Run(t, func(*testing.T) log.Log { return m })
}

func TestShared(t *testing.T) {
	var m, n log.Memory
	logtest.RunShared(t, &m, &m)
	logtest.RunShared(t, n.Node(), n.Node())
}

// TestNodeIsCutOff has a node whose answers are lost, and that is cut off: it stores once what it
// stores, and hears nothing.
func TestNodeIsCutOff(t *testing.T) {
	var m log.Memory
	n := m.Node()
	faults := []log.Fault{log.LostUnknown, log.StoredUnknown, log.None}
	n.Fault(func() (f log.Fault) { f, faults = faults[0], faults[1:]; return f })
	if at, err := n.Append(t.Context(), 0, []byte("one")); at != 1 || err != nil || len(faults) != 0 {
		t.Errorf("lost answers: %d, %v, %d faults are left", at, err, len(faults))
	}
	n.Fault(nil)
	n.Cut()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := n.Append(ctx, 1, []byte("two")); !errors.Is(err, context.DeadlineExceeded) {
		t.Error("an append while cut off:", err)
	}
	if err := n.Watch(ctx, 0, func(uint64, []byte) error { t.Error("an entry is heard"); return nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Error("Watch while cut off:", err)
	}
	time.AfterFunc(10*time.Millisecond, n.Heal)
	if at, err := n.Append(t.Context(), 1, []byte("three")); at != 2 || err != nil {
		t.Errorf("after the cut: %d, %v", at, err)
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	logtest.Run(t, func(t *testing.T) log.Log {
		t.Helper()
		l, err := log.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return l
	})
}

// TestFileForgetsWhatIsNotComplete cuts the file at each byte.
func TestFileForgetsWhatIsNotComplete(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, err := log.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ends := []int64{0}
	for i := range uint64(3) {
		if _, err := l.Append(t.Context(), i, fmt.Appendf(nil, "entry %d", i)); err != nil {
			t.Fatal(err)
		}
		info, _ := os.Stat(path)
		ends = append(ends, info.Size())
	}
	l.Close()
	whole, _ := os.ReadFile(path)
	for n := range whole {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := log.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		last, _ := l.Last(t.Context())
		if int64(n) < ends[last] || int(last)+1 < len(ends) && int64(n) >= ends[last+1] {
			t.Errorf("cut to %d: %d entries", n, last)
		}
		l.Close()
	}
}

func TestFaults(t *testing.T) {
	fault := log.None
	m := &log.Memory{Fault: func(uint64) log.Fault { return fault }}
	for _, c := range []struct {
		fault  log.Fault
		stored uint64
		is     error
	}{
		{log.Full, 0, log.ErrFull},
		{log.LostUnknown, 0, nil},
		{log.Moved, 0, log.ErrMoved},
		{log.StoredUnknown, 1, nil},
	} {
		fault = c.fault
		_, err := m.Append(t.Context(), 0, []byte("x"))
		known := errors.Is(err, log.ErrFull) || errors.Is(err, log.ErrMoved)
		if err == nil || known != (c.is != nil) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("fault %d: %v", c.fault, err)
		}
		if last, _ := m.Last(t.Context()); last != c.stored {
			t.Errorf("fault %d: %d entries", c.fault, last)
		}
	}
}
