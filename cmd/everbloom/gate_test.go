package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/layers"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/gatereport"
	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/capture/capturetest"
	"github.com/everbloom-go/everbloom/internal/gate/exact"
)

// TestWronglyPassedPacketsAreInTheExitStatus holds for every form of the summary.
func TestWronglyPassedPacketsAreInTheExitStatus(t *testing.T) {
	wrong := gatereport.Summary{Check: &exact.Report{Passed: map[exact.Cause]uint64{exact.MissingBan: 1}}}
	right := gatereport.Summary{Check: &exact.Report{}}
	for _, json := range []bool{false, true} {
		g := &gateCheck{env: testEnv(nil, &bytes.Buffer{}, &bytes.Buffer{})}
		g.json = json
		if err := g.compare([]gatereport.Summary{right, wrong}); !errors.Is(err, errNone) {
			t.Errorf("json %t, two seeds: %v", json, err)
		}
		if err := g.conclude(wrong, nil); !errors.Is(err, errNone) {
			t.Errorf("json %t: %v", json, err)
		}
		if err := errors.Join(g.compare([]gatereport.Summary{right, right}), g.conclude(right, nil)); err != nil {
			t.Errorf("json %t, nothing wrong: %v", json, err)
		}
		if err := g.conclude(wrong, os.ErrInvalid); errors.Is(err, errNone) || !errors.Is(err, os.ErrInvalid) {
			t.Errorf("json %t, damaged: %v", json, err)
		}
	}
}

// TestInterruptedGatesTellWhatWasDone interrupts at the first look around.
func TestInterruptedGatesTellWhatWasDone(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "t.bin")
	if status, _, stderr := tool(t, nil, "gate", "generate", "-o", path, "--users", "100", "--packets", "5k"); status != exitOK {
		t.Fatal(stderr)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range []string{"run --format binary " + path, "check --format binary " + path, "check --users 100", "demo --users 100"} {
		var stdout, stderr bytes.Buffer
		status := run(ctx, testEnv(nil, &stdout, &stderr), append([]string{"gate"}, strings.Fields(args)...))
		if status != exitInterrupted || !strings.Contains(stdout.String(), "packets ") || !strings.Contains(stderr.String(), "interrupted: what was judged before is told\n") {
			t.Errorf("%s: status %d\n%s%s", args, status, stdout.String(), stderr.String())
		}
	}
	var stdout, stderr bytes.Buffer
	status := run(ctx, testEnv(nil, &stdout, &stderr), []string{"gate", "generate", "-o", filepath.Join(folder, "new"), "--packets", "5k"})
	if _, err := os.Stat(filepath.Join(folder, "new")); status != exitInterrupted || !os.IsNotExist(err) {
		t.Errorf("generate: status %d, file %v: %s", status, err, stderr.String())
	}
}

// TestAnswersAreNotLostSilently asks more than a summary has room for.
func TestAnswersAreNotLostSilently(t *testing.T) {
	queries := strings.Repeat("? 1.2.3.4\n", gatereport.MaxQueries+7)
	status, stdout, stderr := tool(t, strings.NewReader(queries), "gate", "run", "--json")
	if status != exitOK || !strings.Contains(stdout, `"queries_omitted": 7`) || !strings.Contains(stderr, "7 answers beyond the first 1000") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestPatternsThatCannotBeSearchedForAreAnError has more words than the search of payloads takes:
// packets of words are judged, and a capture is refused.
func TestPatternsThatCannotBeSearchedForAreAnError(t *testing.T) {
	folder := t.TempDir()
	file := func(name string, content []byte) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	r := rand.New(rand.NewPCG(1, 0))
	var list []byte
	for i := range 6000 {
		list = fmt.Appendf(list, "p%d:", i)
		for range pattern.MaxWords {
			list = fmt.Appendf(list, " %08x", r.Uint32())
		}
		list = append(list, '\n')
	}
	datagram := []byte("\x45\x00\x00\x21\x00\x00\x00\x00\x40\x11\x00\x00\x01\x02\x03\x04\x05\x06\x07\x08\x00\x01\x00\x02\x00\x0d\x00\x00hello")
	patterns := file("patterns", list)
	for input, want := range map[string]int{
		file("words", []byte("1.2.3.4 00000001\n")):                        exitOK,
		file("capture", capturetest.Pcap(t, layers.LinkTypeRaw, datagram)): exitError,
	} {
		status, _, stderr := tool(t, nil, "gate", "run", "--patterns", patterns, input)
		if status != want || (want == exitError) != strings.Contains(stderr, "--patterns: the patterns need a table") {
			t.Errorf("%s: status %d: %s", input, status, stderr)
		}
	}
	status, _, stderr := tool(t, strings.NewReader(""), "gate", "follow", "--parser", "sshd", "--socket", "", "--patterns", patterns, "-")
	if status != exitError || !strings.Contains(stderr, "--patterns: the patterns need a table") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestAllBansAreExported has more of them than a summary keeps.
func TestAllBansAreExported(t *testing.T) {
	folder := t.TempDir()
	patterns, out := filepath.Join(folder, "patterns"), filepath.Join(folder, "bans")
	if err := os.WriteFile(patterns, []byte("x: 00000001\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const bans = gatereport.MaxBans + 1
	var traffic strings.Builder
	for i := range bans {
		fmt.Fprintf(&traffic, "10.0.%d.%d 00000001\n", i>>8, i&255)
	}
	status, stdout, stderr := tool(t, strings.NewReader(traffic.String()), "gate", "run", "--strikes", "1", "--json", "--patterns", patterns, "--bans-out", out)
	text, err := os.ReadFile(out)
	if n := strings.Count(string(text), "\n"); status != exitOK || err != nil || n != bans {
		t.Errorf("status %d, %v, %d bans, want %d: %s", status, err, n, bans, stderr)
	}
	if n := strings.Count(stdout, `"event": "ban"`); n < gatereport.MaxBans || n >= bans+12 { // the latest stand there twice
		t.Errorf("the summary has %d bans", n)
	}
}

// TestWorkersTellTheSame compares records that are judged one by one, where a state is kept,
// with batches of one engine and of several.
func TestWorkersTellTheSame(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	if status, _, stderr := tool(t, nil, "gate", "generate", "-o", at("t.bin"), "--users", "300", "--packets", "20k", "--patterns-out", at("p"), "--blacklist-out", at("b")); status != exitOK {
		t.Fatal(stderr)
	}
	var first string
	for _, args := range []string{"--state " + at("state"), "", "--workers 3"} {
		status, stdout, stderr := tool(t, nil, append(strings.Fields("gate run --format binary --verdicts --quiet --log - --users 300 "+args),
			"--patterns", at("p"), "--blacklist", at("b"), at("t.bin"))...)
		if first == "" {
			first = stdout
		}
		if status != exitOK || stdout != first || strings.Count(stdout, " ban struck\n") < 10 {
			t.Errorf("%q: status %d, %d bytes, want %d: %s", args, status, len(stdout), len(first), stderr)
		}
	}
	for _, args := range []string{"--workers 2", "--workers 65 --format binary", "--workers 2 --format binary --ban-for 1h"} {
		if status, _, stderr := tool(t, nil, append(strings.Fields("gate run "+args), at("t.bin"))...); status != exitError || !strings.Contains(stderr, "--workers: ") {
			t.Errorf("%s: status %d: %s", args, status, stderr)
		}
	}
}

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestFullOutputIsToldOnce(t *testing.T) {
	for _, args := range []string{"", " --verdicts", " --json"} {
		var stderr bytes.Buffer
		status := run(t.Context(), testEnv(strings.NewReader("1.2.3.4 00000001\n? 1.2.3.4\n"), fullWriter{}, &stderr), strings.Fields("gate run"+args))
		if status != exitError || stderr.String() != "everbloom: full\n" {
			t.Errorf("%s: status %d: %q", args, status, stderr.String())
		}
	}
}

// TestFollowEndsWithItsInput runs all that a gate does beside judging, for the race
// detector, and ends by itself.
func TestFollowEndsWithItsInput(t *testing.T) {
	folder := t.TempDir()
	line := "Nov 16 02:00:00 h sshd[1]: Failed password for root from 1.2.3.4 port 22 ssh2\n"
	status, stdout, stderr := tool(t, strings.NewReader(strings.Repeat(line, 5)), "gate", "follow", "--parser", "sshd", "--socket", "",
		"--state", filepath.Join(folder, "state"), "--sync", "--log", filepath.Join(folder, "log"), "--metrics", "127.0.0.1:0", "-")
	if status != exitOK || strings.Count(stdout, "\n") != 3 || !strings.Contains(stdout, " ban 1.2.3.4: Failed password for, until ") {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
	if log, err := os.ReadFile(filepath.Join(folder, "log")); err != nil || strings.Count(string(log), "\n") != 3 {
		t.Errorf("%v: %s", err, log)
	}
}
