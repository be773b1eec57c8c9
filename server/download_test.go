package server

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/everbloom-go/everbloom"
)

// TestDownloadsWhileSetsChange downloads large sets of all ways to be copied while keys are added
// and images are written. Each file can be read, and has the keys that were there before.
func TestDownloadsWhileSetsChange(t *testing.T) {
	s := start(t, "dir", t.TempDir(), "log", "file", "http", "127.0.0.1:0")
	c := dial(t, s.Addr().String())
	for _, kind := range []string{"perennial", "scalable", "counting", "dleft", "evergreen"} {
		if got := c.do("EB.CREATE", kind, "ITEMS", "4000000", "FPR", "0.01", "KIND", kind); got != "+OK" {
			t.Fatal(kind, got)
		}
		c.do(append([]string{"EB.ADD", kind}, numbers(0, 1000)...)...)
		var stop atomic.Bool
		var wg sync.WaitGroup
		adder, saver := dial(t, s.Addr().String()), dial(t, s.Addr().String())
		wg.Go(func() {
			for i := 1000; !stop.Load(); i += 100 {
				adder.do(append([]string{"EB.ADD", kind}, numbers(i, i+100)...)...)
			}
		})
		wg.Go(func() {
			for !stop.Load() {
				if got := saver.do("SAVE"); got != "+OK" && !strings.Contains(got, "already in progress") {
					t.Error("SAVE", got)
				}
			}
		})
		for range 3 {
			file := download(t, s, kind)
			set, err := everbloom.Read(bytes.NewReader(file))
			if err != nil {
				t.Errorf("%s: %v", kind, err)
				continue
			}
			for i := range 1000 {
				if !set.MayContainString(strconv.Itoa(i)) {
					t.Fatalf("%s: the file has no %d", kind, i)
				}
			}
		}
		stop.Store(true)
		wg.Wait()
		c.do("DEL", kind)
	}
}

func numbers(from, to int) (out []string) {
	for i := from; i < to; i++ {
		out = append(out, strconv.Itoa(i))
	}
	return out
}

// download returns the file of a set.
func download(t *testing.T, s *Server, name string) []byte {
	t.Helper()
	r, err := http.Get(fmt.Sprintf("http://%s/console/file?name=%s", s.WebAddr(), name))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	file, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatal(r.Status, err)
	}
	return file
}
