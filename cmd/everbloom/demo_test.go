package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/growth"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// TestDemoKeepsItsPromises plays the demo through a pipe, with its users and its memory
// but fewer packets and a smaller set.
func TestDemoKeepsItsPromises(t *testing.T) {
	effort.OneGoroutine(t) // TestDemoDrawsOnATerminal has two
	var stdout, stderr bytes.Buffer
	d := newDemoRun(testEnv(nil, &stdout, &stderr))
	d.html, d.count, d.sizes = filepath.Join(t.TempDir(), "page.html"), 300_000, growth.Config{Sizes: []uint64{1000, 20_000}, Absent: 1000}
	page, err := d.play(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c := page.Check; c.WronglyPassed() != 0 || c.Banned.FalseNegatives != 0 || c.Bans.Right < 50 {
		t.Errorf("with confirmation: %d packets wrongly passed, %d bans lost of %d", c.WronglyPassed(), c.Banned.FalseNegatives, c.Bans.Right)
	}
	if page.Traffic.LockedOut != 0 || page.Check.WronglyRejected() != 0 {
		t.Errorf("with confirmation %d honest users are locked out, %d packets", page.Traffic.LockedOut, page.Check.WronglyRejected())
	}
	plain := page.Without
	if c := plain.Check; c.WronglyPassed() != 0 || c.Banned.FalseNegatives != 0 || plain.Traffic.LockedOut == 0 || c.WronglyRejected() == 0 {
		t.Errorf("without confirmation: %d wrongly passed, %d bans lost, %d locked out: nothing is shown", c.WronglyPassed(), c.Banned.FalseNegatives, plain.Traffic.LockedOut)
	}
	if plain.Gate.Bytes != page.Gate.Bytes || page.Traffic.MapBytes < page.Gate.Bytes {
		t.Errorf("%d bytes, %d without confirmation, a map takes %d", page.Gate.Bytes, plain.Gate.Bytes, page.Traffic.MapBytes)
	}
	if page.Growth.Lost() != 0 {
		t.Errorf("%d keys are lost", page.Growth.Lost())
	}
	text := stdout.String()
	if strings.Contains(text, "\x1b") || stderr.Len() != 0 {
		t.Errorf("codes of a terminal in a pipe, or noise: %q", stderr.String())
	}
	html, err := os.ReadFile(d.html)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range page.Facts() {
		if !strings.Contains(text, f.Value+"  "+f.Text+"\n") || !strings.Contains(string(html), "<b>"+f.Value+"</b>"+f.Text) {
			t.Errorf("%s %s: not told", f.Value, f.Text)
		}
	}
	for _, want := range []string{page.Headline(), quantity.Count(plain.Traffic.LockedOut) + "  honest users locked out", "Open " + d.html} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestCommandsToTryCanBeTyped(t *testing.T) {
	for called, want := range map[string]string{"bin/everbloom": "bin/everbloom", "everbloom": "everbloom", "/tmp/x/main.test": "everbloom"} {
		if got := programName(called); got != want {
			t.Errorf("%s: %s, want %s", called, got, want)
		}
	}
}
