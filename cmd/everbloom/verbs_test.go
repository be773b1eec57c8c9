package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// tool runs the tool in this process and returns its exit status.
func tool(t *testing.T, stdin io.Reader, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(context.Background(), testEnv(stdin, &out, &errs), args)
	return status, out.String(), errs.String()
}

// decode reads the JSON that a run printed.
func decode[T any](t *testing.T, args ...string) T {
	t.Helper()
	_, stdout, stderr := tool(t, strings.NewReader(""), args...)
	var v T
	d := json.NewDecoder(strings.NewReader(stdout))
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v\n%s%s", args, err, stdout, stderr)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Errorf("%q: more than one value", args)
	}
	return v
}

func TestJSONParses(t *testing.T) {
	t.Chdir(t.TempDir())
	if status, _, stderr := tool(t, strings.NewReader("a\nb\nc\n"), "build", "-o", "f"); status != 0 {
		t.Fatal(stderr)
	}
	type object = map[string]any
	for _, c := range []struct {
		args string
		want map[string]any // of the first element
	}{
		{"plan --items 1k --json", object{"kind": "blocked", "fits": true}},
		{"plan --delete --json", object{"kind": "evergreen", "fits": true}},
		{"info --json f", object{"file": "f", "kind": "blocked", "hash": "xxh3", "shards": 1.0}},
		{"info --json --check f f", object{"file": "f"}},
		{"bench --json --items 100 --rounds 1", object{"kind": "bloom"}},
	} {
		list := decode[[]object](t, strings.Fields(c.args)...)
		if len(list) == 0 {
			t.Errorf("%s: empty", c.args)
			continue
		}
		for name, want := range c.want {
			if got := list[0][name]; got != want {
				t.Errorf("%s: %s is %v, want %v", c.args, name, got, want)
			}
		}
	}
	state, ok := decode[[]object](t, "info", "--json", "--check", "f")[0]["state"].(object)
	if !ok || state["keys"] != 3.0 {
		t.Errorf("state: %v", state)
	}
}

func TestEveryVerbHasHelpWithExamples(t *testing.T) {
	root := newRoot(testEnv(nil, io.Discard, io.Discard))
	for _, cmd := range verbs(root) {
		if cmd.Short == "" || cmd.Long == "" || cmd.Parent() == root && cmd.GroupID == "" {
			t.Errorf("%s: short %q, long %q, group %q", cmd.Name(), cmd.Short, cmd.Long, cmd.GroupID)
		}
		checkExamples(t, root, cmd)
		for line := range strings.SplitSeq(cmd.Long+"\n"+cmd.UsageString(), "\n") {
			if utf8.RuneCountInString(line) > 80 {
				t.Errorf("%s: help line of %d characters: %s", cmd.Name(), len(line), line)
			}
		}
	}
}

// verbs lists our verbs, those below others too.
func verbs(root *cobra.Command) (all []*cobra.Command) {
	for _, cmd := range root.Commands() {
		if cmd.Name() != "help" && cmd.Name() != "completion" {
			all = append(append(all, cmd), verbs(cmd)...)
		}
	}
	return all
}

// checkExamples parses the flags of the examples, so that none goes stale.
func checkExamples(t *testing.T, root, cmd *cobra.Command) {
	t.Helper()
	if cmd.Example == "" {
		t.Errorf("%s: no example", cmd.Name())
	}
	for line := range strings.SplitSeq(cmd.Example, "\n") {
		_, words, found := strings.Cut(line, "everbloom ")
		if !found {
			t.Errorf("%s: example without the tool: %s", cmd.Name(), line)
			continue
		}
		words, _, _ = strings.Cut(words, " |")
		words, _, _ = strings.Cut(words, " &&")
		target, args, err := root.Find(strings.Fields(words))
		if err != nil || target != cmd && target.Parent() != cmd {
			t.Errorf("%s: example of another verb: %s", cmd.Name(), line)
			continue
		}
		if err := target.ParseFlags(args); err != nil {
			t.Errorf("%s: %v in example: %s", cmd.Name(), err, line)
		}
	}
}

// screen is an output that knows when it was first written to.
type screen struct {
	bytes.Buffer
	drawn chan struct{}
}

func (w *screen) Write(p []byte) (int, error) {
	if w.drawn != nil && bytes.Contains(p, []byte("\r")) {
		close(w.drawn)
		w.drawn = nil
	}
	return w.Buffer.Write(p)
}

func (w *screen) WriteString(s string) (int, error) { return w.Write([]byte(s)) }

// patient ends its input when something was drawn.
type patient struct {
	r     io.Reader
	drawn <-chan struct{}
}

func (p *patient) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if err == io.EOF {
		select {
		case <-p.drawn:
		case <-time.After(10 * time.Second): // the test fails, but it ends
		}
	}
	return n, err
}

func TestProgressIsDrawnOnATerminalOnly(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range []string{"build -o f", "build -o f --items 10", "add f", "query -c f"} {
		drawn := make(chan struct{})
		stderr := &screen{drawn: drawn}
		e := testEnv(&patient{strings.NewReader("a\nb\n"), drawn}, io.Discard, stderr)
		e.shown = true
		if status := run(context.Background(), e, strings.Fields(args)); status != 0 {
			t.Fatalf("%s: status %d: %s", args, status, stderr.String())
		}
		if text := stderr.String(); !strings.Contains(text, "\r") || !strings.Contains(text, "2 keys") {
			t.Errorf("%s: %q", args, text)
		}
	}
	if _, _, stderr := tool(t, strings.NewReader("a\n"), "build", "-o", "f"); strings.Contains(stderr, "\r") {
		t.Errorf("drawn without a terminal: %q", stderr)
	}
}

func TestTypedKeysAreAnnounced(t *testing.T) {
	t.Chdir(t.TempDir())
	var stderr bytes.Buffer
	e := testEnv(strings.NewReader("a\n"), io.Discard, &stderr)
	e.typed, e.shown = true, true
	if status := run(context.Background(), e, []string{"build", "-o", "f"}); status != 0 {
		t.Fatal(stderr.String())
	}
	if !strings.HasPrefix(stderr.String(), "everbloom: reading keys from the terminal, one per line; end with Ctrl-D\n") {
		t.Error(stderr.String())
	}
}

func TestInterruptedRunChangesNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	if status, _, stderr := tool(t, strings.NewReader("a\n"), "build", "-o", "f"); status != 0 {
		t.Fatal(stderr)
	}
	old, err := os.ReadFile("f")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, args := range []string{"build -o f", "build -o f --items 5", "add f", "query f", "union -o f f f", "info f", "bench --items 10"} {
		var stderr bytes.Buffer
		e := testEnv(strings.NewReader("b\n"), io.Discard, &stderr)
		if status := run(ctx, e, strings.Fields(args)); status != exitInterrupted {
			t.Errorf("%s: status %d: %s", args, status, stderr.String())
		}
	}
	now, err := os.ReadFile("f")
	if err != nil || !bytes.Equal(now, old) {
		t.Errorf("the file changed: %v", err)
	}
}

// TestDemoDrawsOnATerminal has a terminal that is only a buffer.
func TestDemoDrawsOnATerminal(t *testing.T) {
	var out, picture bytes.Buffer
	e := testEnv(nil, &out, &picture)
	e.shown = true
	args := strings.Fields("gate demo --users 300 --packets 50k --kind deletable")
	if status := run(context.Background(), e, args); status != 0 {
		t.Fatalf("status %d: %s", status, picture.String())
	}
	for _, want := range []string{"  packets   ", "  banned    █", "false positives where filters are trusted: ", "\x1b[J"} {
		if !strings.Contains(picture.String(), want) {
			t.Errorf("no %q in\n%s", want, picture.String())
		}
	}
	if !strings.Contains(out.String(), "No packet of a banned source passed") || strings.Contains(out.String(), "\x1b") {
		t.Errorf("no report: %s", out.String())
	}
}
