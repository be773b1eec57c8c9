package command

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/log"
)

// slowLog returns what the slow log has, the newest first.
func slowLog(env *Env) (out []string) {
	for _, e := range env.Slow.Last(100) {
		out = append(out, string(bytes.Join(e.Args, []byte(" "))))
	}
	return out
}

func limitSlow(t *testing.T, env *Env, limit string) {
	t.Helper()
	if err := env.Settings.Set("slowlog-log-slower-than", limit); err != nil {
		t.Fatal(err)
	}
	env.Slow.Configure()
}

// TestSlowLogHasFastCommands times fast commands too: each by itself if the limit is low, and
// otherwise some of a pipeline together. Tokens are not kept.
func TestSlowLogHasFastCommands(t *testing.T) {
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	s := NewSession(env, 1, "", "")
	run := func(lines ...string) {
		t.Helper()
		if _, err := ask(s, lines...); err != nil {
			t.Fatal(err)
		}
	}
	limitSlow(t, env, "0")
	run("BF.ADD a 1", "BF.EXISTS a 1", "AUTH root secret", "HELLO 3 AUTH root secret", "KEYS *")
	want := "KEYS * | HELLO (redacted) | AUTH (redacted) | BF.EXISTS a 1 | BF.ADD a 1"
	if got := strings.Join(slowLog(env), " | "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	limitSlow(t, env, "3600000000")
	run("SLOWLOG RESET", "BF.EXISTS a 1", "KEYS *")
	s.Begin()
	s.timer.began -= 2 * time.Hour // they take long
	for i := range fastGroup + 3 {
		if err := s.Take(words(fmt.Sprint("BF.EXISTS a ", i))); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(slowLog(env), " | "); got != "BF.EXISTS a 15 ... (and 15 fast commands before it)" {
		t.Error(got)
	}
	s.timer.began -= 2 * time.Hour
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := slowLog(env); len(got) != 2 || got[0] != "BF.EXISTS a 18 ... (and 2 fast commands before it)" {
		t.Error(got)
	}
	limitSlow(t, env, "-1")
	s.Begin()
	s.timer.began -= 2 * time.Hour
	if err := s.Take(words("KEYS *")); err != nil {
		t.Fatal(err)
	}
	if got := slowLog(env); len(got) != 2 {
		t.Error(got)
	}
}

// TestMonitorSamples sees all of few commands, some of many, and none while it is off.
func TestMonitorSamples(t *testing.T) {
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	s := NewSession(env, 1, "somewhere", "")
	run := func(n int, on bool) (sample []Ran, of int64) {
		t.Helper()
		var lines []string
		for i := range n {
			lines = append(lines, fmt.Sprint("BF.ADD a ", i))
		}
		for len(lines) > 0 { // several times what arrives at once
			some := lines[:min(len(lines), 50)]
			if _, err := ask(s, some...); err != nil {
				t.Fatal(err)
			}
			lines = lines[len(some):]
		}
		return env.Monitor.Sample(on, env.Stats.Commands.Load())
	}
	if sample, of := run(3, true); len(sample) != 0 || of != 3 {
		t.Error("while it is off:", sample, of)
	}
	sample, of := run(3, true)
	if len(sample) != 3 || of != 3 || sample[0].Addr != "somewhere" || sample[0].User != noLogin.Name || string(bytes.Join(sample[2].Args, nil)) != "BF.ADDa2" {
		t.Errorf("%q of %d", sample, of)
	}
	for _, n := range []int{1000, 1000, 1000} { // in the first second the rate is not known
		sample, of = run(n, true)
		late := 0
		for _, r := range sample {
			if len(r.Args[2]) == 3 { // 100 to 999
				late++
			}
		}
		if len(sample) != sampleSize || of != int64(n) || late < sampleSize/4 {
			t.Errorf("%d of %d, %d of them late", len(sample), of, late)
		}
	}
	if taken := env.Monitor.taken; taken != 0 {
		t.Error(taken)
	}
	run(900, true)
	if _, err := ask(s, "PING"); err != nil || env.Monitor.gap < 10 {
		t.Error("commands of busy seconds are not skipped:", env.Monitor.gap, err)
	}
	run(0, false)
	if sample, of := run(3, true); len(sample) != 0 || of != 3 {
		t.Error("when it is off again:", sample, of)
	}
}
