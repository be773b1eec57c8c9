package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/server/internal/cluster"
	"github.com/everbloom-go/everbloom/server/internal/cluster/clustertest"
	"github.com/everbloom-go/everbloom/server/internal/image"
	"github.com/everbloom-go/everbloom/server/internal/log"
)

// A writer appends entries of its own, in a race with others.
type writer struct {
	l     log.Shared
	name  string
	acked map[uint64]string // by position
}

// write appends until ctx ends. An entry is tried again at another place only if it is
// certain that it was not stored.
func (w *writer) write(ctx, until context.Context) error {
	after, err := w.l.Last(ctx)
	for i := 0; err == nil && until.Err() == nil; i++ {
		entry := fmt.Sprintf("%s %d", w.name, i)
		at := uint64(0)
		for at == 0 && err == nil {
			at, err = w.l.Append(ctx, after, []byte(entry))
			if errors.Is(err, log.ErrMoved) {
				after, err = w.l.Last(ctx)
			}
		}
		if err == nil {
			w.acked[at], after = entry, at
		}
	}
	return err
}

// all returns the entries of a log.
func all(t *testing.T, l log.Log, after uint64) map[uint64]string {
	t.Helper()
	got := make(map[uint64]string)
	err := l.Follow(testContext(t), after, func(at uint64, b []byte) error {
		if after++; at != after {
			return fmt.Errorf("entry %d follows %d", at, after-1)
		}
		got[at] = string(b)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestKill kills the leader of a stream while four writers append and a reader watches.
// Then the member comes back with an empty disk.
func TestKill(t *testing.T) {
	effort.LongOnly(t)
	t.Parallel()
	w := clustertest.New(t, 3)
	w.StartAll()
	ctx := testContext(t)
	if f, err := image.Open(openImages(t, w.Node(0), 0)); err != nil || writeImages(f, "before") != nil {
		t.Fatal("images:", err)
	}
	openLog(t, w.Node(0), 0)
	draw(t, w.Node(0), 0)
	until, stop := context.WithCancel(ctx)
	var wait sync.WaitGroup
	writers := make([]*writer, 4)
	for i := range writers {
		writers[i] = &writer{l: openLog(t, w.Node(1+i%2), 0), name: fmt.Sprint("writer ", i), acked: make(map[uint64]string)}
		wait.Go(func() {
			if err := writers[i].write(ctx, until); err != nil {
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	seen := make(chan uint64, 1<<16)
	watched := make(map[uint64]string)
	wait.Go(func() {
		err := openLog(t, w.Node(2), 0).Watch(until, 0, func(at uint64, b []byte) error {
			watched[at] = string(b)
			seen <- at
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Error("reader:", err)
		}
	})
	wantMore(t, seen, 50)
	started := time.Now()
	w.Kill(0)
	for len(seen) > 0 {
		<-seen
	}
	wantMore(t, seen, 50)
	t.Log("read again after", time.Since(started).Round(time.Millisecond))
	w.Wipe(0)
	w.Start(0)
	wantMore(t, seen, 50)
	stop()
	wait.Wait()

	stored := all(t, openLog(t, w.Node(1), 0), 0)
	if values := slices.Sorted(maps.Values(stored)); len(slices.Compact(values)) != len(stored) {
		t.Error("an entry is stored twice")
	}
	acked := 0
	for _, wr := range writers {
		acked += len(wr.acked)
		for at, entry := range wr.acked {
			if stored[at] != entry {
				t.Errorf("entry %d is %q, acknowledged was %q", at, stored[at], entry)
			}
		}
	}
	if acked != len(stored) {
		t.Errorf("%d entries are stored, %d acknowledged", len(stored), acked)
	}
	for at, entry := range watched {
		if stored[at] != entry {
			t.Errorf("entry %d is %q, read was %q", at, stored[at], entry)
		}
	}
	t.Run("wiped", func(t *testing.T) { testWiped(t, w, stored) })
}

// testWiped lets the member whose disk was wiped take the lead of the stream, and read
// everything.
func testWiped(t *testing.T, w *clustertest.Net, stored map[uint64]string) {
	t.Helper()
	draw(t, w.Node(0), 0)
	if got := all(t, openLog(t, w.Node(0), 0), 0); !maps.Equal(got, stored) {
		t.Errorf("%d entries of %d", len(got), len(stored))
	}
	wantImages(t, openImages(t, w.Node(0), 0), "before")
}

// wantMore waits until entries were read.
func wantMore(t *testing.T, seen <-chan uint64, n int) {
	t.Helper()
	for range n {
		select {
		case <-seen:
		case <-time.After(time.Minute):
			t.Fatal("nothing is read")
		}
	}
}

// TestCut cuts the leader of a stream off. It does not append, the others do, and the entry
// that waited is refused when the network is back.
func TestCut(t *testing.T) {
	effort.LongOnly(t)
	t.Parallel()
	w := clustertest.New(t, 3)
	w.StartAll()
	ctx := testContext(t)
	cut, other := openLog(t, w.Node(0), 0), openLog(t, w.Node(1), 0)
	if _, err := cut.Append(ctx, 0, []byte("first")); err != nil {
		t.Fatal(err)
	}
	draw(t, w.Node(0), 0)
	w.SetAll(0, clustertest.Silent)
	brief, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err := cut.Append(brief, 1, []byte("mine")); err == nil || errors.Is(err, log.ErrMoved) || errors.Is(err, log.ErrFull) {
		t.Error("cut off:", err)
	}
	waits := make(chan error, 1)
	go func() {
		_, err := cut.Append(ctx, 1, []byte("mine"))
		waits <- err
	}()
	if at, err := other.Append(ctx, 1, []byte("theirs")); at != 2 || err != nil {
		t.Fatal(at, err)
	}
	select {
	case err := <-waits:
		t.Error("the network is still cut:", err)
	default:
	}
	w.SetAll(0, clustertest.Open)
	if err := <-waits; !errors.Is(err, log.ErrMoved) {
		t.Error("back again:", err)
	}
	if got := all(t, cut, 0); len(got) != 2 || got[2] != "theirs" {
		t.Errorf("%v", got)
	}
}

// TestLostAck loses the answer to an entry that was stored. The servers are an
// operator's.
func TestLostAck(t *testing.T) {
	effort.LongOnly(t)
	t.Parallel()
	proxy := clustertest.NewProxy(t, operator(t, engine(t, 8<<20)))
	c, err := cluster.Connect(testContext(t), cluster.Config{Name: "n1", Namespace: "other", Replicas: 1, URLs: "nats://" + proxy.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l := openLog(t, c, 0)
	for i := range uint64(3) {
		proxy.Set(clustertest.Deaf)
		done := make(chan error, 1)
		go func() {
			at, err := l.Append(testContext(t), i, fmt.Appendf(nil, "entry %d", i))
			if at != i+1 {
				err = fmt.Errorf("at %d: %w", at, err)
			}
			done <- err
		}()
		if i != 1 {
			time.Sleep(100 * time.Millisecond) // until it is stored; nothing depends on it
		}
		proxy.Set(clustertest.Cut)
		proxy.Set(clustertest.Open)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got := all(t, l, 0); len(got) != 3 {
		t.Errorf("%v", got)
	}
}

// TestFlippedBit damages an older block of one member while it does not run. The engine
// takes the copy for complete, and skips the entry without a word. All readers get what was
// written, also when the damaged copy leads.
func TestFlippedBit(t *testing.T) {
	effort.LongOnly(t)
	t.Parallel()
	w := clustertest.Direct(t, 3)
	w.StartAll()
	ctx := testContext(t)
	config := w.Config(1)
	config.LogBytes = 1 << 20 // so that blocks are small
	l := openLog(t, cluster.Sibling(w.Node(1), config), 0)
	want := make(map[uint64]string)
	for i := range uint64(40) {
		entry := fmt.Sprintf("entry %d %s", i+1, strings.Repeat("x", 12<<10))
		if _, err := l.Append(ctx, i, []byte(entry)); err != nil {
			t.Fatal(err)
		}
		want[i+1] = entry
	}
	w.Stop(0)
	flip(t, filepath.Join(w.Dir(0), "jetstream"), "entry 5 ")
	w.Start(0)
	draw(t, w.Node(0), 0)
	if b, err := cluster.LeaderGet(ctx, w.Node(0), 0, 5); !errors.Is(err, cluster.ErrNoEntry) {
		t.Errorf("the damaged entry: %.20q, %v", b, err)
	}
	for i := range 3 { // the consumer is at any of the members
		if got := all(t, openLog(t, w.Node(i), 0), 0); !maps.Equal(got, want) {
			t.Errorf("node %d: %d entries", i, len(got))
		}
	}
	if at, err := l.Append(ctx, 40, []byte("more")); at != 41 || err != nil {
		t.Error(at, err)
	}
	if _, err := l.Append(ctx, 4, []byte("other")); !errors.Is(err, log.ErrMoved) {
		t.Error("behind an entry whose next is damaged:", err)
	}
}

// flip flips a bit of a text in the files of a stream.
func flip(t *testing.T, dir, text string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "jetstream", "*", "streams", "everbloom-log-0", "msgs", "*"))
	if err != nil {
		t.Fatal(err)
	}
	flipped := false
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if i := bytes.Index(b, []byte(text)); i >= 0 && strings.HasSuffix(path, ".blk") {
			b[i] ^= 1
			flipped = true
			err = os.WriteFile(path, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !flipped {
		t.Fatalf("%q is in none of %q", text, files)
	}
}
