package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/server/internal/cluster"
	"github.com/everbloom-go/everbloom/server/internal/cluster/clustertest"
	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/log/logtest"
)

// testContext ends long after everything should have happened.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// openLog opens the log of a partition at a node.
func openLog(t *testing.T, c *cluster.Cluster, partition int) log.Shared {
	t.Helper()
	l, err := c.Log(testContext(t), partition)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestHealthy tries what needs no failure, with one cluster.
func TestHealthy(t *testing.T) {
	effort.LongOnly(t)
	t.Parallel()
	w := clustertest.Direct(t, 3)
	w.StartAll()
	t.Run("contract", func(t *testing.T) {
		logtest.Run(t, func(t *testing.T) log.Log { t.Helper(); return openLog(t, w.Node(0), 0) })
	})
	t.Run("fence", func(t *testing.T) { testFence(t, w) })
	t.Run("watch", func(t *testing.T) { testWatch(t, w) })
	t.Run("full", func(t *testing.T) { testFull(t, w) })
	t.Run("agree", func(t *testing.T) { testAgree(t, w) })
	t.Run("images", func(t *testing.T) { testImages(t, w) })
	t.Run("lost objects", func(t *testing.T) { testLostObjects(t, w) })
	t.Run("moves", func(t *testing.T) { testMoves(t, w) })
	t.Run("draw", func(t *testing.T) { testDraw(t, w) })
	t.Run("announce", func(t *testing.T) { testAnnounce(t, w) })
}

// testFence has two writers. The one that has not read what the other wrote is refused, and
// an entry that is sent again stays one.
func testFence(t *testing.T, w *clustertest.Net) {
	t.Helper()
	ctx := testContext(t)
	a, b := openLog(t, w.Node(0), 1), openLog(t, w.Node(1), 1)
	for range 2 {
		if at, err := a.Append(ctx, 0, []byte("a")); at != 1 || err != nil {
			t.Fatal(at, err)
		}
	}
	if _, err := b.Append(ctx, 0, []byte("b")); !errors.Is(err, log.ErrMoved) {
		t.Error("behind the wrong entry:", err)
	}
	if at, err := b.Append(ctx, 1, []byte("b")); at != 2 || err != nil {
		t.Error(at, err)
	}
	if _, err := a.Append(ctx, 1, []byte("a")); !errors.Is(err, log.ErrMoved) {
		t.Error("the old writer:", err)
	}
	if last, err := a.Last(ctx); last != 2 || err != nil {
		t.Error("last", last, err)
	}
	if err := a.Trim(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Append(ctx, 0, []byte("c")); !errors.Is(err, log.ErrMoved) {
		t.Error("behind what was trimmed:", err)
	}
}

// testWatch reads entries as they come, ends with the context, and tells a reader that has
// fallen behind a trim.
func testWatch(t *testing.T, w *clustertest.Net) {
	t.Helper()
	ctx := testContext(t)
	writer, reader := openLog(t, w.Node(0), 2), openLog(t, w.Node(2), 2)
	const n = 100
	large := bytes.Repeat([]byte("x"), 300<<10)
	entry := func(i uint64) []byte {
		if i%20 == 0 {
			return large
		}
		return fmt.Appendf(nil, "entry %d", i)
	}
	ended := make(chan error, 1)
	watched, stop := context.WithCancel(ctx)
	go func() {
		next := uint64(1)
		ended <- reader.Watch(watched, 0, func(at uint64, b []byte) error {
			if at != next || !bytes.Equal(b, entry(at)) {
				return fmt.Errorf("entry %d: %.20q instead of %d", at, b, next)
			}
			if next++; at == n {
				stop()
			}
			return nil
		})
	}()
	for i := range uint64(n) {
		if _, err := writer.Append(ctx, i, entry(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-ended; !errors.Is(err, context.Canceled) || watched.Err() == nil {
		t.Fatal("reader:", err)
	}
	if err := writer.Trim(ctx, n-10); err != nil {
		t.Fatal(err)
	}
	for _, read := range []func(context.Context, uint64, func(uint64, []byte) error) error{reader.Watch, reader.Follow} {
		if err := read(ctx, 50, func(uint64, []byte) error { return nil }); !errors.Is(err, log.ErrGap) {
			t.Error("behind a trim:", err)
		}
	}
	brief, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	nothing := func(uint64, []byte) error { return nil }
	if err := reader.Watch(brief, n+1, nothing); !errors.Is(err, context.DeadlineExceeded) {
		t.Error("the log ends before its reader, for a moment:", err)
	}
	cluster.SetPatience(reader, 0)
	if err := reader.Watch(ctx, n+1, nothing); !errors.Is(err, log.ErrGap) {
		t.Error("the log ends before its reader:", err)
	}
	failure := errors.New("enough")
	if err := reader.Watch(ctx, n-1, func(uint64, []byte) error { return failure }); !errors.Is(err, failure) {
		t.Error("the error of do:", err)
	}
}

// testFull fills a log up to its limit. What is refused is not stored, and there is room
// again behind a trim.
func testFull(t *testing.T, w *clustertest.Net) {
	t.Helper()
	ctx := testContext(t)
	config := w.Config(0)
	config.LogBytes = 1 << 20
	l := openLog(t, cluster.Sibling(w.Node(0), config), 3)
	b := make([]byte, 200<<10)
	at, err := uint64(0), error(nil)
	for err == nil && at < 10 {
		var stored uint64
		if stored, err = l.Append(ctx, at, b); err == nil {
			at = stored
		}
	}
	if !errors.Is(err, log.ErrFull) || at < 3 {
		t.Fatalf("%d entries, then %v", at, err)
	}
	room := l.(log.Watcher)
	if err := room.Room(); !errors.Is(err, log.ErrLong) {
		t.Error("room in a full log:", err)
	}
	if last, err := l.Last(ctx); last != at || err != nil {
		t.Error("last", last, err)
	}
	if err := l.Trim(ctx, at-1); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(ctx, at, b); err != nil {
		t.Error("behind the trim:", err)
	}
	if err := room.Probe(); err != nil {
		t.Error("room behind the trim:", err)
	}
	testReserve(ctx, t, l, openLog(t, cluster.Sibling(w.Node(0), config), 3), at+1)
	if _, err := l.Append(ctx, 0, make([]byte, 9<<20)); !errors.Is(err, log.ErrFull) {
		t.Error("larger than a message:", err)
	}
}

// testReserve fills a log up to nine tenths, by two writers. There is room for small entries, and
// both know that there is none for others.
func testReserve(ctx context.Context, t *testing.T, one, two log.Shared, at uint64) {
	t.Helper()
	for _, l := range []log.Shared{one, two} {
		if err := l.(log.Watcher).Room(); err != nil {
			t.Error("room in a log that has two entries:", err)
		}
	}
	for l := one; ; l = two {
		var err error
		if at, err = l.Append(ctx, at, make([]byte, 100<<10)); err != nil {
			t.Fatal("an entry before there is no room:", err)
		}
		if err := l.(log.Watcher).Room(); err != nil {
			if !errors.Is(err, log.ErrLong) {
				t.Error(err)
			}
			break
		}
	}
	if _, err := one.Append(ctx, at, []byte("small")); err != nil {
		t.Error("a small entry:", err)
	}
	if err := one.(log.Watcher).Room(); !errors.Is(err, log.ErrLong) {
		t.Error("room, by the writer that appended first:", err)
	}
}

// testAgree lets all nodes agree on values at once.
func testAgree(t *testing.T, w *clustertest.Net) {
	t.Helper()
	ctx := testContext(t)
	var wait sync.WaitGroup
	for round := range 5 {
		values := make([]string, 3)
		for i := range values {
			wait.Go(func() {
				v, err := w.Node(i).Agree(ctx, fmt.Sprintf("round-%d", round), fmt.Appendf(nil, "value of %d", i))
				if err != nil {
					t.Error(err)
				}
				values[i] = string(v)
			})
		}
		wait.Wait()
		if !strings.HasPrefix(values[0], "value of ") || values[0] != values[1] || values[1] != values[2] {
			t.Errorf("%q", values)
		}
		if v, err := w.Node(0).Agree(ctx, fmt.Sprintf("round-%d", round), []byte("later")); string(v) != values[0] || err != nil {
			t.Errorf("later: %q, %v", v, err)
		}
	}
}

// testDraw moves the leader of a stream to each node, and goes on to write.
func testDraw(t *testing.T, w *clustertest.Net) {
	t.Helper()
	ctx := testContext(t)
	l := openLog(t, w.Node(0), 4)
	for i := range 6 {
		node := w.Node(i % 3)
		draw(t, node, 4)
		if s, err := node.State(ctx, 4); err != nil || s.Leader != clustertest.Name(i%3) {
			t.Errorf("%s leads, %v", s.Leader, err)
		}
		if at, err := l.Append(ctx, uint64(i), []byte{byte(i)}); at != uint64(i+1) || err != nil {
			t.Error(at, err)
		}
	}
	s, err := w.Node(0).State(ctx, 4)
	if err != nil || s.Last != 6 || len(s.Copies) != 2 {
		t.Errorf("%+v, %v", s, err)
	}
}

// draw moves the leader of a stream to a node. A copy that is not up to date yet is waited for.
func draw(t *testing.T, c *cluster.Cluster, partition int) {
	t.Helper()
	waitFor(t, "the leader moves", func() bool {
		err := c.Draw(testContext(t), partition)
		if err != nil {
			t.Log(err)
			time.Sleep(time.Second)
		}
		return err == nil
	})
}

// waitFor waits until something holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("this does not happen: ", what)
		}
	}
}

// testAnnounce has each node tell its name in other words, which change.
func testAnnounce(t *testing.T, w *clustertest.Net) {
	t.Helper()
	var mu sync.Mutex
	word := "first"
	for i := range 3 {
		err := w.Node(i).Announce(func() []byte {
			mu.Lock()
			defer mu.Unlock()
			return fmt.Appendf(nil, "%s of %d", word, i)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	heard := func(list []cluster.Node) (about []string) {
		for _, n := range list {
			about = append(about, n.Name+" "+string(n.About))
		}
		return about
	}
	want := []string{"n1 first of 0", "n2 first of 1", "n3 first of 2"}
	waitFor(t, "all are heard", func() bool { return slices.Equal(heard(w.Node(1).Members()), want) })
	mu.Lock()
	word = "second"
	mu.Unlock()
	list, err := w.Node(2).Ask(testContext(t))
	if got := heard(list); err != nil || !slices.Equal(got, []string{"n1 second of 0", "n2 second of 1", "n3 second of 2"}) {
		t.Errorf("asked: %q, %v", got, err)
	}
}
