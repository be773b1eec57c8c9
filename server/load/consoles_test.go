package load

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestConsoles opens pages until each has an event, takes what comes later, and closes them.
func TestConsoles(t *testing.T) {
	var open, sent atomic.Int64
	pages := make(chan string, 100)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		open.Add(1)
		defer open.Add(-1)
		pages <- r.URL.Path
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			fmt.Fprintf(w, "data: %s\n\n", strings.Repeat("x", 100_000)) // longer than what is read at once
			w.(http.Flusher).Flush()
			sent.Add(1)
			select {
			case <-r.Context().Done():
			case <-time.After(time.Millisecond):
			}
		}
	}))
	defer web.Close()
	addr := strings.TrimPrefix(web.URL, "http://")
	closeAll, err := OpenConsoles(t.Context(), addr, 7)
	if err != nil || open.Load() != 7 {
		t.Fatal(open.Load(), err)
	}
	seen := make(map[string]int)
	for range 7 {
		seen[<-pages]++
	}
	if seen["/console/live/"] != 3 || seen["/console/live/sets"] != 2 || seen["/console/live/commands"] != 2 {
		t.Error(seen)
	}
	for before := sent.Load(); sent.Load() < before+100; { // they are taken
		time.Sleep(time.Millisecond)
	}
	closeAll()
	for open.Load() > 0 {
		time.Sleep(time.Millisecond)
	}
	used := time.Duration(0)
	target := Target{Web: addr, Consoles: 3, CPU: func() (time.Duration, error) { used += time.Hour; return used, nil }}
	if share, err := Idle(t.Context(), target, time.Millisecond); err != nil || share < 1 {
		t.Error(share, err)
	}
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	if _, err := OpenConsoles(t.Context(), strings.TrimPrefix(other.URL, "http://"), 3); err == nil || !strings.Contains(err.Error(), "404") {
		t.Error("a page that is not there:", err)
	}
}
