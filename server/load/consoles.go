package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// consolePages are the pages that open consoles show, in turns.
func consolePages() []string { return []string{"", "sets", "commands"} }

// OpenConsoles opens as many pages of the console at an address of HTTP as browsers would, and
// takes what is sent. It returns when each page has been sent once.
func OpenConsoles(ctx context.Context, addr string, n int) (closeAll func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	transport := &http.Transport{MaxConnsPerHost: 0, DisableKeepAlives: true}
	client := &http.Client{Transport: transport}
	var wg sync.WaitGroup
	closeAll = func() {
		cancel()
		wg.Wait()
		transport.CloseIdleConnections()
	}
	opened := make(chan error, n)
	for i := range n {
		page := consolePages()[i%len(consolePages())]
		wg.Go(func() { watchConsole(ctx, client, "http://"+addr+"/console/live/"+page, opened) })
	}
	late := time.After(consoleTime)
	for range n {
		select {
		case err = <-opened:
		case <-late:
			err = fmt.Errorf("load: the consoles at %s sent nothing for %v", addr, consoleTime)
		}
		if err != nil {
			closeAll()
			return nil, err
		}
	}
	return closeAll, nil
}

// consoleTime is how long all consoles may take to open.
const consoleTime = time.Minute

// watchConsole takes the events of a page until ctx ends, and says when the first one came.
func watchConsole(ctx context.Context, client *http.Client, address string, opened chan<- error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		opened <- err
		return
	}
	answer, err := client.Do(r)
	if err != nil {
		opened <- err
		return
	}
	defer func() { _ = answer.Body.Close() }() // nothing more is read
	if kind := answer.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		opened <- fmt.Errorf("load: %s answers with %s, not with events", address, answer.Status)
		return
	}
	events := bufio.NewReaderSize(answer.Body, 16<<10)
	for first := true; ; {
		line, err := events.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && first:
			opened <- err
			return
		case err != nil:
			return
		case first && len(line) == 1: // the end of an event
			opened <- nil
			first = false
		}
	}
}

// Idle returns the share of a processor that the server of a target takes while nothing is
// sent to it but what its open consoles ask for.
func Idle(ctx context.Context, t Target, lasts time.Duration) (share float64, err error) {
	closeAll, err := t.open(ctx)
	if err != nil {
		return 0, err
	}
	defer closeAll()
	before, err := cpu(t)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(lasts):
	}
	after, err := cpu(t)
	return (after - before).Seconds() / time.Since(began).Seconds(), err
}

// open opens the consoles of a target.
func (t Target) open(ctx context.Context) (closeAll func(), err error) {
	if t.Consoles == 0 {
		return func() {}, nil
	}
	return OpenConsoles(ctx, t.Web, t.Consoles)
}
