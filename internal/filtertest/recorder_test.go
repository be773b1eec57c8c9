package filtertest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// A recorder is a TB that takes notes instead of failing the test.
type recorder struct {
	testing.TB
	mu    sync.Mutex
	notes []string
}

func (r *recorder) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, text)
}

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.notes) > 0
}

func (r *recorder) Helper()                           {}
func (r *recorder) Error(args ...any)                 { r.note(fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, args ...any) { r.note(fmt.Sprintf(format, args...)) }

func (r *recorder) Fatal(args ...any) {
	r.note(fmt.Sprint(args...))
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Fatal(fmt.Sprintf(format, args...))
}

// record runs f against a recorder, in a goroutine that a Fatal may end, and
// returns the notes. A panic becomes a note as well.
func record(t *testing.T, f func(tb *recorder)) string {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				r.note(fmt.Sprintf("panic: %v", p))
			}
		}()
		f(r)
	}()
	<-done
	return strings.Join(r.notes, "\n")
}

// engines are tried with faults as the checks are.
var engines = []check{
	{"Model", always, func(c checker) { Model(c.TB, c.s, 1, 20_000) }},
	{"AddAndDelete", deletes, func(c checker) {
		AddAndDelete(c.TB, c.make(20, 0.01).(filter.Deleter), func() error { return nil }, 20, 1, 2000)
	}},
}

// failures runs the named checks that apply to s and returns the notes of those that
// failed. The names are the words of a text.
func failures(t *testing.T, s Subject, names string) map[string]string {
	t.Helper()
	f, err := s.New(10, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string)
	for _, c := range slices.Concat(checks, engines) {
		if !slices.Contains(strings.Fields(names), c.name) || !c.applies(f) {
			continue
		}
		if notes := record(t, func(tb *recorder) { c.run(checker{tb, s}) }); notes != "" {
			out[c.name] = notes
		}
	}
	return out
}
