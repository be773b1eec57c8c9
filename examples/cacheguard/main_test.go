package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/everbloom-go/everbloom/internal/exampletest"
)

func TestMain(m *testing.M)    { exampletest.Main(m, main) }
func TestSamples(t *testing.T) { exampletest.Samples(t) }

func TestValuesAreKept(t *testing.T) {
	folder := t.TempDir()
	for _, c := range []struct{ in, want string }{
		{"a", "a none\n"},
		{"a=1\na", "a 1\n"},
		{"a", "a 1\n"}, // a new guard finds what the one before has left
		{"a=2\na", "a 2\n"},
		{"b=x=y z\nb", "b x=y z\n"},
		{"-a\na\nb", "a none\nb x=y z\n"},
		{"a=\na", "a \n"},
		{"", ""},
	} {
		var out strings.Builder
		if err := run(folder, strings.NewReader(c.in), &out); err != nil || out.String() != c.want {
			t.Errorf("%q: got %q, %v, want %q", c.in, out.String(), err, c.want)
		}
	}
}

func TestErrorsComeThrough(t *testing.T) {
	if err := run(t.TempDir()+"/missing", strings.NewReader("a"), io.Discard); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	for _, line := range []string{"-a", "../a=1", "a/b=1", "=1", "..=1"} {
		if err := run(t.TempDir(), strings.NewReader(line), io.Discard); err == nil {
			t.Errorf("%q was accepted", line)
		}
	}
	if err := run(t.TempDir(), strings.NewReader(strings.Repeat("a", 1<<17)), io.Discard); !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("an endless line: %v", err)
	}
}

// TestMissesDoNotReachTheStore closes the store, so that its error differs from that of
// the filter.
func TestMissesDoNotReachTheStore(t *testing.T) {
	const keys, absent = 400, 20_000
	g := filled(t, keys)
	for i := range keys / 2 {
		if err := g.remove(fmt.Sprint("key", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.files.Close(); err != nil {
		t.Fatal(err)
	}
	reached := func(name string, n int) (count int) {
		for i := range n {
			switch _, err := g.get(fmt.Sprint(name, i)); {
			case errors.Is(err, os.ErrClosed):
				count++
			case !errors.Is(err, fs.ErrNotExist):
				t.Fatal(err)
			}
		}
		return count
	}
	// At a thousandth 0.2 and 20 are expected; these are five standard deviations more.
	if n := reached("key", keys/2); n > 3 {
		t.Errorf("%d of %d deleted keys reached the store", n, keys/2)
	}
	if n := reached("absent", absent); n > 42 {
		t.Errorf("%d of %d absent keys reached the store", n, absent)
	}
	if n := reached("key", keys); n < keys/2 {
		t.Errorf("only %d of %d stored keys reached the store", n, keys/2)
	}
}

// TestAFailedPutIsHarmless has the key in the filter and no file.
func TestAFailedPutIsHarmless(t *testing.T) {
	g := filled(t, 0)
	if err := g.put("a/b", "1"); err == nil {
		t.Fatal("a file in a folder that is not there was written")
	}
	if _, err := g.get("a/b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// TestStoredKeysAreNeverMissed gets keys while they come and go. A file that is there
// before and after must be found in between.
func TestStoredKeysAreNeverMissed(t *testing.T) {
	const keys = 200
	g := filled(t, 0)
	var last atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range int64(keys) {
			last.Store(i)
			expect(t, g.put(fmt.Sprint(i), "x"))
			expect(t, g.remove(fmt.Sprint(i)))
		}
		last.Store(keys)
	})
	wg.Go(func() {
		for last.Load() < keys {
			key := fmt.Sprint(last.Load())
			_, before := g.files.Stat(key)
			_, err := g.get(key)
			_, after := g.files.Stat(key)
			if before == nil && after == nil && err != nil {
				t.Errorf("%s is there: %v", key, err)
			}
		}
	})
	wg.Wait()
}

// TestPutAndRemoveOfOneKeyDoNotCross compares store and filter after each race of the
// two.
func TestPutAndRemoveOfOneKeyDoNotCross(t *testing.T) {
	g := filled(t, 0)
	for range 300 {
		var wg sync.WaitGroup
		wg.Go(func() { expect(t, g.put("key", "x")) })
		wg.Go(func() {
			if err := g.remove("key"); !errors.Is(err, fs.ErrNotExist) {
				expect(t, err)
			}
		})
		wg.Wait()
		if _, err := g.files.Stat("key"); err == nil && !g.keys.MayContainString("key") {
			t.Fatal("a stored key is a false negative")
		}
	}
}

func expect(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// filled returns a guard of an own folder with so many keys.
func filled(t *testing.T, keys int) *guard {
	t.Helper()
	g, err := open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.files.Close() })
	for i := range keys {
		key := fmt.Sprint("key", i)
		if err := g.put(key, "value of "+key); err != nil {
			t.Fatal(err)
		}
	}
	return g
}
