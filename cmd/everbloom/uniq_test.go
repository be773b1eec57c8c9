//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startUniq runs uniq with a state, its input and output being pipes.
func startUniq(t *testing.T, folder string, stderr io.Writer) (c *exec.Cmd, stdin io.WriteCloser, stdout io.ReadCloser) {
	t.Helper()
	c = command(t, folder, "uniq", "--state", "s")
	c.Stderr = stderr
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if stdout, err = c.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	watchdog := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() }) // ends a test that would hang
	t.Cleanup(func() { watchdog.Stop() })
	return c, stdin, stdout
}

// TestInterruptedUniqRemembersWhatItPrinted also shows that a line is printed while
// the input is open.
func TestInterruptedUniqRemembersWhatItPrinted(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		folder := t.TempDir()
		var stderr bytes.Buffer
		c, stdin, stdout := startUniq(t, folder, &stderr)
		answers := bufio.NewReader(stdout)
		for _, want := range []string{"ann\n", "bob\n"} {
			if _, err := io.WriteString(stdin, "ann\n"+want); err != nil {
				t.Fatal(err)
			}
			if line, err := answers.ReadString('\n'); err != nil || line != want {
				t.Fatalf("%q, %v, want %q", line, err, want)
			}
		}
		if err := c.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		code, _ := status(t, c.Wait())
		if want := "everbloom: interrupted: s holds the lines so far: run this again to go on\n"; code != exitInterrupted || stderr.String() != want {
			t.Errorf("%v: status %d: %s", sig, code, stderr.String())
		}
		again := command(t, folder, "uniq", "--state", "s")
		again.Stdin = strings.NewReader("bob\nann\nzoe\n")
		if out, err := again.Output(); err != nil || string(out) != "zoe\n" || names(t, folder) != "s" {
			t.Errorf("%v: then %q, %v, folder: %s", sig, out, err, names(t, folder))
		}
	}
}

func TestUniqForgetsWhatItCouldNotPrint(t *testing.T) {
	folder := t.TempDir()
	var stderr bytes.Buffer
	c, stdin, stdout := startUniq(t, folder, &stderr)
	if err := stdout.Close(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(stdin, "ann\n")
	code, sig := status(t, c.Wait())
	if code != exitBrokenPipe && sig != syscall.SIGPIPE || stderr.Len() > 0 {
		t.Errorf("status %d, signal %v: %q", code, sig, stderr.String())
	}
	again := command(t, folder, "uniq", "--state", "s")
	again.Stdin = strings.NewReader("ann\n")
	if out, err := again.Output(); string(out) != "ann\n" || err != nil {
		t.Errorf("a line that was not printed is remembered: %q, %v", out, err)
	}
}

// TestUniqsTakeTurns begins several that make one state.
func TestUniqsTakeTurns(t *testing.T) {
	folder := t.TempDir()
	const runs = 4
	var printed [runs]strings.Builder
	commands := make([]*exec.Cmd, runs)
	for i := range commands {
		commands[i] = command(t, folder, "uniq", "--state", "s", "--items", "100")
		commands[i].Stdin = strings.NewReader("ann\nbob\nann\n")
		commands[i].Stdout = &printed[i]
		if err := commands[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	var all strings.Builder
	for i, c := range commands {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
		all.WriteString(printed[i].String())
	}
	if all := all.String(); all != "ann\nbob\n" || names(t, folder) != "s" {
		t.Errorf("%d runs printed %q, folder: %s", runs, all, names(t, folder))
	}
}
