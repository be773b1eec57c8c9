package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
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

// TestMissesDoNotReachTheStore closes the store: whoever looks into it gets another
// error than the one of the filter.
func TestMissesDoNotReachTheStore(t *testing.T) {
	const keys, strangers = 2_000, 20_000
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
	// At a thousandth 1 and 20 are expected; these are five standard deviations more.
	if n := reached("key", keys/2); n > 6 {
		t.Errorf("%d of %d deleted keys reached the store", n, keys/2)
	}
	if n := reached("stranger", strangers); n > 42 {
		t.Errorf("%d of %d strangers reached the store", n, strangers)
	}
	if n := reached("key", keys); n < keys/2 {
		t.Errorf("only %d of %d stored keys reached the store", n, keys/2)
	}
}

// TestAFailedPutDeniesNothing has the key in the filter and no file.
func TestAFailedPutDeniesNothing(t *testing.T) {
	g := filled(t, 0)
	if err := g.put("a/b", "1"); err == nil {
		t.Fatal("a file in a folder that is not there was written")
	}
	if _, err := g.get("a/b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// TestStoredKeysAreNeverMissed has goroutines put, get and remove keys of their own,
// while others get keys that nobody removes.
func TestStoredKeysAreNeverMissed(t *testing.T) {
	const steady, writers, readers, rounds = 50, 4, 4, 150
	g := filled(t, steady)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(13, uint64(w)))
			stored := map[string]string{}
			for i := range rounds {
				key, value := fmt.Sprint("of", w, "-", rng.IntN(8)), fmt.Sprint(i)
				if stored[key] != "" && rng.IntN(2) == 0 {
					expect(t, g.remove(key))
					delete(stored, key)
				} else {
					expect(t, g.put(key, value))
					stored[key] = value
				}
				got, err := g.get(key)
				if got != stored[key] || (err != nil) != (stored[key] == "") {
					t.Errorf("%s: got %q, %v, want %q", key, got, err, stored[key])
				}
			}
		})
	}
	for r := range readers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(14, uint64(r)))
			for range 4 * rounds {
				key := fmt.Sprint("key", rng.IntN(steady))
				if value, err := g.get(key); err != nil || value != "value of "+key {
					t.Errorf("%s: %q, %v", key, value, err)
				}
			}
		})
	}
	// Keys that come and go once. A file that is there before and after must not be denied
	// in between.
	var last atomic.Int64
	wg.Go(func() {
		for i := range int64(rounds) {
			last.Store(i)
			expect(t, g.put(fmt.Sprint("once", i), "x"))
			expect(t, g.remove(fmt.Sprint("once", i)))
		}
		last.Store(rounds)
	})
	wg.Go(func() {
		for last.Load() < rounds {
			key := fmt.Sprint("once", last.Load())
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

// TestPutAndRemoveOfOneKeyDoNotCross looks, after each race of the two, whether the
// store has what the filter denies.
func TestPutAndRemoveOfOneKeyDoNotCross(t *testing.T) {
	g := filled(t, 0)
	for range 1000 {
		var wg sync.WaitGroup
		wg.Go(func() { expect(t, g.put("key", "x")) })
		wg.Go(func() {
			if err := g.remove("key"); !errors.Is(err, fs.ErrNotExist) {
				expect(t, err)
			}
		})
		wg.Wait()
		if _, err := g.files.Stat("key"); err == nil && !g.keys.MayContainString("key") {
			t.Fatal("a stored key is denied")
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
