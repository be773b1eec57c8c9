//go:build unix

package main

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestInterruptedUniqRemembersWhatItPrinted also shows that a line is printed while
// the input is open.
func TestInterruptedUniqRemembersWhatItPrinted(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		folder := t.TempDir()
		c := start(t, folder, "uniq", "--state", "s")
		for _, want := range []string{"ann\n", "bob\n"} {
			c.write("ann\n" + want)
			c.line(want)
		}
		c.signal(sig)
		messages, code, _ := c.end()
		if want := "everbloom: interrupted: s holds the lines so far: run this again to go on\n"; code != exitInterrupted || messages != want {
			t.Errorf("%v: status %d: %s", sig, code, messages)
		}
		if out := success(t, folder, "bob\nann\nzoe\n", "uniq", "--state", "s"); out != "zoe\n" || names(t, folder) != "s" {
			t.Errorf("%v: then %q, folder: %s", sig, out, names(t, folder))
		}
	}
}

func TestUniqForgetsWhatItCouldNotPrint(t *testing.T) {
	folder := t.TempDir()
	c := command(t, folder, "uniq", "--state", "s")
	var stderr bytes.Buffer
	c.Stdin, c.Stderr = strings.NewReader("ann\n"), &stderr
	stdout, err := c.StdoutPipe()
	if err := errors.Join(err, stdout.Close(), c.Start()); err != nil {
		t.Fatal(err)
	}
	code, sig := status(t, c.Wait())
	if code != exitBrokenPipe && sig != syscall.SIGPIPE || stderr.Len() > 0 {
		t.Errorf("status %d, signal %v: %q", code, sig, stderr.String())
	}
	if out := success(t, folder, "ann\n", "uniq", "--state", "s"); out != "ann\n" {
		t.Errorf("a line that was not printed is remembered: %q", out)
	}
}

// TestUniqsTakeTurns begins several that make one state.
func TestUniqsTakeTurns(t *testing.T) {
	folder := t.TempDir()
	const runs = 4
	var printed, errs [runs]strings.Builder
	commands := make([]*exec.Cmd, runs)
	for i := range commands {
		commands[i] = command(t, folder, "uniq", "--state", "s", "--items", "100")
		commands[i].Stdin = strings.NewReader("ann\nbob\nann\n")
		commands[i].Stdout, commands[i].Stderr = &printed[i], &errs[i]
		if err := commands[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	var all strings.Builder
	for i, c := range commands {
		if err := c.Wait(); err != nil {
			t.Errorf("%v: %s", err, errs[i].String())
		}
		all.WriteString(printed[i].String())
	}
	if all := all.String(); all != "ann\nbob\n" || names(t, folder) != "s" {
		t.Errorf("%d runs printed %q, folder: %s", runs, all, names(t, folder))
	}
}
