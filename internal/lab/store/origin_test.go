package store

import (
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestCommitTellsBuildsApart(t *testing.T) {
	sum := func() string { return "0123abcd" }
	setting := func(pairs ...string) (s []debug.BuildSetting) {
		for i := 0; i < len(pairs); i += 2 {
			s = append(s, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return s
	}
	for _, c := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{setting("vcs.revision", "0123456789abcdef0123", "vcs.modified", "false"), "0123456789ab"},
		{setting("vcs.revision", "0123456789abcdef0123", "vcs.modified", "true"), "0123456789ab with changes, build 0123abcd"},
		{setting("vcs.revision", "0123"), "0123 with changes, build 0123abcd"},
		{nil, "unknown with changes, build 0123abcd"},
	} {
		if got := commitOf(c.settings, sum); got != c.want {
			t.Errorf("%v: got %q, want %q", c.settings, got, c.want)
		}
	}
}

func TestCPUModelIsFoundOrReplaced(t *testing.T) {
	const text = "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Some  CPU @ 2.00GHz\nflags\t: a b\n"
	if got := cpuModel(strings.NewReader(text)); got != "Some CPU @ 2.00GHz" {
		t.Errorf("got %q", got)
	}
	if got := cpuModel(strings.NewReader("Features: fp\n")); got != runtime.GOARCH {
		t.Errorf("got %q", got)
	}
}

func TestHereIsCompleteAndTellsNoNames(t *testing.T) {
	o := Here()
	if o.Commit == "" || o.CPU == "" || o.Cores < 1 || o.System == "" || o.Go == "" {
		t.Errorf("incomplete: %+v", o)
	}
	text := o.String() + o.Commit
	if host, err := os.Hostname(); err == nil && len(host) > 3 && strings.Contains(text, host) {
		t.Errorf("the name of the host is in %q", text)
	}
	if strings.Contains(text, string(os.PathSeparator)+"tmp") {
		t.Errorf("a path is in %q", text)
	}
	if len(checksum()) != 8 {
		t.Errorf("checksum %q", checksum())
	}
}
