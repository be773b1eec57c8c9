//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
)

// success runs the tool with an input and returns what it printed.
func success(t *testing.T, folder, stdin string, args ...string) string {
	t.Helper()
	c := command(t, folder, args...)
	c.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%q: %v: %s", args, err, stderr.String())
	}
	return string(out)
}

// TestChangesAtTheSameTimeAreAllKept is about the one thing that a filter
// promises: a key whose add was acknowledged is there.
func TestChangesAtTheSameTimeAreAllKept(t *testing.T) {
	const writers = 20
	for range effort.Pick(1, 5) {
		folder := t.TempDir()
		success(t, folder, "", "build", "--quiet", "--delete", "--items", "100", "-o", "f")
		var (
			keys    string
			running []*exec.Cmd
		)
		for i := range writers {
			key := fmt.Sprintf("key %d\n", i)
			keys += key
			args, input := []string{"add", "--quiet", "f"}, key
			if i%2 == 1 {
				args, input = []string{"apply", "--quiet", "f"}, "+"+key
			}
			c := command(t, folder, args...)
			c.Stdin, c.Stderr = strings.NewReader(input), os.Stderr
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			running = append(running, c)
		}
		for _, c := range running {
			if err := c.Wait(); err != nil {
				t.Errorf("%q: %v", c.Args[1:], err)
			}
		}
		if got := success(t, folder, keys, "query", "-c", "f"); got != fmt.Sprintln(writers) {
			t.Errorf("%s of %d keys are there", strings.TrimSpace(got), writers)
		}
		if names(t, folder) != "f" {
			t.Errorf("the folder has %s", names(t, folder))
		}
	}
}

// held starts an add to f that has loaded f and waits for the rest of its input.
func held(t *testing.T, folder string) *child {
	t.Helper()
	success(t, folder, "alice\n", "build", "--quiet", "--items", "5000", "-o", "f")
	c := start(t, folder, "add", "--quiet", "f")
	c.write(strings.Repeat(strings.Repeat("x", 1000)+"\n", 4000)) // more than a pipe holds: it is reading, so it has loaded f
	return c
}

// waiting starts the tool and returns when it says that it waits for f.
func waiting(t *testing.T, folder, stdin string, args ...string) *child {
	t.Helper()
	c := start(t, folder, args...)
	c.write(stdin)
	if err := c.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if line, err := c.errs.ReadString('\n'); err != nil || line != "everbloom: waiting for another change of f\n" {
		t.Fatalf("%q: %q, %v", args, line, err)
	}
	return c
}

// finish ends the input of a child, and children that wait for it, which must succeed.
func (c *child) finish(waiting ...*child) {
	c.t.Helper()
	if err := c.stdin.Close(); err != nil {
		c.t.Fatal(err)
	}
	for _, c := range append([]*child{c}, waiting...) {
		if messages, code, _ := c.end(); code != exitOK {
			c.t.Errorf("%q: status %d: %s", c.Args[1:], code, messages)
		}
	}
}

func TestWritersWaitForAChangeAndCanBeInterrupted(t *testing.T) {
	folder := t.TempDir()
	slow := held(t, folder)
	for _, args := range [][]string{{"add", "f"}, {"build", "-o", "f"}, {"union", "-o", "f", "f", "f"}} {
		c := waiting(t, folder, "mallory\n", args...)
		c.signal(os.Interrupt)
		if text, code, _ := c.end(); code != exitInterrupted || text != "everbloom: interrupted: nothing was changed\n" {
			t.Errorf("%q: status %d: %s", args, code, text)
		}
		if names(t, folder) != "f" {
			t.Errorf("%q: the folder has %s", args, names(t, folder))
		}
	}
	next := waiting(t, folder, "bob\n", "add", "--quiet", "f")
	if got := success(t, folder, "alice\nbob\n", "query", "f"); got != "alice\n" {
		t.Errorf("a query beside a change finds %q", got)
	}
	slow.finish(next)
	asked := "alice\nbob\n" + strings.Repeat("x", 1000) + "\n"
	if got := success(t, folder, asked+"mallory\n", "query", "f"); got != asked {
		t.Errorf("of all keys there are %q", got)
	}
}

func TestTheStandardOutputIsAppendedToAndNeverReplaced(t *testing.T) {
	folder := t.TempDir()
	success(t, folder, "alice\n", "build", "--quiet", "-o", "f")
	filter, want := content(t, folder, "f"), "precious\n"
	for _, name := range []string{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "-"} {
		put(t, folder, "log", "precious\n")
		log, err := os.OpenFile(filepath.Join(folder, "log"), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		c := command(t, folder, "build", "--quiet", "-o", name)
		c.Stdin, c.Stdout = strings.NewReader("alice\n"), log
		wantCode := exitError
		if name == "-" {
			wantCode, want = exitOK, want+filter
		}
		if code, _ := status(t, c.Run()); code != wantCode {
			t.Errorf("-o %s: status %d", name, code)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		if got := content(t, folder, "log"); got != want {
			t.Errorf("-o %s: the log holds %q", name, got)
		}
	}
}

func TestFiltersAreNotPrintedOnATerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	e := testEnv(nil, io.Discard, io.Discard)
	e.printed = true
	for _, c := range []struct {
		name        string
		force, fine bool
	}{{"-", false, false}, {"-", true, true}, {"f", false, true}} {
		if err := e.checkOutput(c.name, nil, c.force); c.fine != (err == nil) {
			t.Errorf("-o %s, force %t: %v", c.name, c.force, err)
		}
	}
}
