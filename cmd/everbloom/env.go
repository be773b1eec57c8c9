package main

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/terminal"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/catalog"
)

// env is the world as the verbs see it. Tests put their own in its place, with
// streams in memory and with experiments that only they know.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	typed          bool       // stdin is a terminal
	taken          bool       // stdin held a filter
	printed        bool       // stdout is a terminal
	shown          bool       // stderr is a terminal
	width          func() int // of that terminal
	experiments    []lab.Experiment
}

// systemEnv is the world outside of tests.
func systemEnv() *env {
	return &env{
		stdin:   os.Stdin,
		stdout:  os.Stdout,
		stderr:  os.Stderr,
		typed:   term.IsTerminal(int(os.Stdin.Fd())),
		shown:   term.IsTerminal(int(os.Stderr.Fd())),
		width:   terminalWidth,
		printed: term.IsTerminal(int(os.Stdout.Fd())),

		experiments: catalog.All(),
	}
}

// terminalWidth is asked each time: windows are resized.
func terminalWidth() int {
	width, _, err := term.GetSize(int(os.Stderr.Fd()))
	if err != nil || width <= 0 {
		return 80
	}
	return width
}

// progress shows state while the user waits; without a terminal, or if quiet,
// nothing.
func (e *env) progress(quiet bool, state func() terminal.State) *terminal.View {
	if quiet || !e.shown {
		return nil
	}
	return terminal.StartProgress(e.stderr, e.width, state)
}
