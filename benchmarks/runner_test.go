package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTooBigIsSkippedAndSaid(t *testing.T) {
	opts := quick()
	opts.mem = 1000
	r, log := play(t, opts, exact("big", func(*set) {}))
	if !strings.Contains(r.Results[0].Skipped, "more than -mem leaves") || !strings.Contains(log, "big: skipped") {
		t.Errorf("skipped %q, logged %q", r.Results[0].Skipped, log)
	}
}

// command runs the program and returns what it wrote.
func command(args string) (status int, out, log string) {
	var o, l strings.Builder
	status = run(strings.Fields(args), &o, &l)
	return status, o.String(), l.String()
}

func TestRunWritesTablesForAllSettings(t *testing.T) {
	status, out, log := command("-n 1k -fpr 1%,0.1% -keysize 8,16 -threads 1,2 -rounds 1 -pass 10us -probes 500" +
		" -only floor|blobloom|bits-and|everbloom")
	if status != fine {
		t.Fatalf("status %d, logged\n%s", status, log)
	}
	if got := strings.Count(out, "\n## "); got != 8 {
		t.Errorf("%d tables, want 8", got)
	}
	for _, want := range []string{"# Filters side by side", "commit", "go1.", "1 k keys of 8 bytes, asked 1 %, 1 thread", "| everbloom blocked"} {
		if !strings.Contains(out, want) {
			t.Errorf("output lacks %q", want)
		}
	}
	if !strings.Contains(log, "1 k, 0.1 %, 16 B: blobloom: ") {
		t.Errorf("progress:\n%s", log)
	}
}

func TestEveryContenderGoesThroughARun(t *testing.T) {
	status, out, log := command("-n 1800 -rounds 2 -pass 10us -probes 500")
	if status != fine {
		t.Fatalf("status %d, logged\n%s", status, log)
	}
	for _, c := range contenders() {
		if !strings.Contains(out, "\n| "+c.name+" ") {
			t.Errorf("%s has no row", c.name)
		}
	}
	if strings.Contains(out, "Not here") {
		t.Errorf("a contender is missing:\n%s", out)
	}
}

func TestRawResultsCanBeReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "raw.json")
	if status, _, log := command("-n 500 -rounds 3 -pass 10us -probes 500 -only panmari -json " + path); status != fine {
		t.Fatalf("status %d, logged\n%s", status, log)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	x := r.Results[0]
	if x.Contender != "panmari cuckoo 16b" || x.N != 500 || x.Threads != 1 || len(x.Nanos[remove]) != 3 || x.Facts.Probes != 500 {
		t.Errorf("read back %+v", x)
	}
	if r.Machine.Cores < 1 || r.Settings == "" {
		t.Errorf("machine %+v, settings %q", r.Machine, r.Settings)
	}
}

func TestFalseNegativesMakeTheStatusOne(t *testing.T) {
	opts := quick()
	opts.bars = true
	var out, log strings.Builder
	liar := exact("liar", func(s *set) { s.has = func(block) int { return 0 } })
	r := &runner{opts: opts, chosen: []contender{liar}, out: &printer{w: &out}, log: &printer{w: &log}}
	if status := r.run(); status != failed {
		t.Errorf("status %d", status)
	}
	if !strings.Contains(out.String(), "## Broken promises") || !strings.Contains(log.String(), "FALSE NEGATIVES") {
		t.Errorf("wrote\n%s\nlogged\n%s", out.String(), log.String())
	}
}

func TestMissedBarMakesTheStatusThree(t *testing.T) {
	old := bars
	defer func() { bars = old }()
	bars = []bar{{name: "impossible", contender: "floor (xxh3 + 1 bit)", ops: []op{bitsPerKey}, limit: 1e-9}}
	status, out, _ := command("-bars -n 500 -fpr 1% -rounds 1 -pass 10us -probes 500")
	if status != barMissed || !strings.Contains(out, "NOT met") {
		t.Errorf("status %d, wrote\n%s", status, out)
	}
}

func TestSharedSetsAreMeasured(t *testing.T) {
	status, out, log := command("-shared -n 1k -rounds 1")
	if status != fine {
		t.Fatalf("exit status %d: %s", status, log)
	}
	for _, name := range sharers {
		if n := strings.Count(out, "| "+name+" "); n != len(workloads) {
			t.Errorf("%d rows for %s, want %d:\n%s", n, name, len(workloads), out)
		}
	}
}

func TestStatusesOfTheCommandLine(t *testing.T) {
	for args, c := range map[string]struct {
		status   int
		out, log string
	}{
		"-list":                {fine, "github.com/greatroar/blobloom", ""},
		"-list -only inverse":  {fine, "may miss keys", ""},
		"-h":                   {fine, "", "usage:"},
		"-rounds x":            {wrongFlags, "", "-rounds"},
		"-n 500 -base missing": {wrongFlags, "", "-base"},
	} {
		if status, out, log := command(args); status != c.status || !strings.Contains(out, c.out) || !strings.Contains(log, c.log) {
			t.Errorf("%s: status %d, wrote\n%s\nlogged\n%s", args, status, out, log)
		}
	}
}
