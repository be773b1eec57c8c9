package setting

import (
	"errors"
	"strings"
	"testing"
)

func TestDefaultsAreValid(t *testing.T) {
	seen := make(map[string]bool)
	for _, row := range Table() {
		if got, err := row.check(row.Default); err != nil || got != row.Default && row.Kind != Bytes {
			t.Errorf("%s: default %q: %q, %v", row.Name, row.Default, got, err)
		}
		if row.Kind == Text && !row.Fixed && row.Value == "" {
			t.Errorf("%s: the help does not say what its values are", row.Name)
		}
		if seen[row.Name] || !row.Fixed && row.Help == "" {
			t.Errorf("%s: twice, or without help", row.Name)
		}
		seen[row.Name] = true
	}
}

func TestSet(t *testing.T) {
	for _, c := range []struct{ name, value, stored, err string }{
		{"maxmemory", "100mb", "104857600", ""},
		{"MAXMEMORY", "1GiB", "1073741824", ""},
		{"maxmemory", "12345", "12345", ""},
		{"maxmemory", "1.5gb", "1610612736", ""},
		{"image-after", "2MB", "2097152", ""},
		{"maxmemory", "lots", "", `maxmemory "lots": must be a number of bytes, such as 100mb or 4GiB`},
		{"maxmemory", "-1", "", `maxmemory "-1": must be`},
		{"maxclients", "0", "", `maxclients "0": must be a whole number from 1 to 1000000`},
		{"maxclients", "x", "", `maxclients "x": must be a whole number from 1 to 1000000`},
		{"slowlog-log-slower-than", "-2", "", `"-2": must be a whole number from 0 to 4294967295, or -1`},
		{"bf-error-rate", "0.001", "0.001", ""},
		{"bf-error-rate", "1", "", "must be a number above 0 and below 1"},
		{"bf-error-rate", "nan", "", "must be a number above 0 and below 1"},
		{"enable-debug-command", "YES", "yes", ""},
		{"enable-debug-command", "1", "", `"1": must be one of yes, no`},
		{"cf-kind", "bloom", "", `"bloom": must be one of perennial, evergreen`},
		{"save", "1 2", "", "cannot be changed"},
		{"nothing", "1", "", "unknown setting"},
	} {
		s := New()
		err := s.Set(c.name, c.value)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s %s: %v, want %q", c.name, c.value, err, c.err)
			}
			continue
		}
		if got := s.Get(strings.ToLower(c.name)); err != nil || got != c.stored {
			t.Errorf("%s %s: %q, %v, want %q", c.name, c.value, got, err, c.stored)
		}
	}
}

func TestChangeIsAllOrNothing(t *testing.T) {
	s := New()
	at, err := s.Change([][2]string{{"timeout", "5"}, {"maxmemory", "x"}})
	if at != "maxmemory" || err == nil || err.Error() != "argument must be a memory value" || s.Number("timeout") != 0 {
		t.Error(at, err, s.Get("timeout"))
	}
	if at, err := s.Change([][2]string{{"dir", "/tmp"}}); at != "dir" || err == nil {
		t.Error("a setting that may not change:", at, err)
	}
	if _, err := s.Change([][2]string{{"timeout", "5"}, {"maxmemory", "1kb"}}); err != nil || s.Number("maxmemory") != 1024 {
		t.Error(err)
	}
}

func TestSources(t *testing.T) {
	s := New()
	if err := s.FromFile(strings.NewReader("# comment\n\naddr\t1.2.3.4:5\r\n  timeout   7\n")); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"EVERBLOOM_TIMEOUT": "8", "EVERBLOOM_SAVE": "x"}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	if err := s.FromEnvironment(lookup); err != nil {
		t.Fatal(err)
	}
	if s.Get("addr") != "1.2.3.4:5" || s.Get("timeout") != "8" {
		t.Error(s.Match("*"))
	}
	if err := s.FromFile(strings.NewReader("\nnope 1")); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "line 2") {
		t.Error(err)
	}
	if got := s.Match("MAXM*"); len(got) != 2 || got[0][0] != "maxmemory" {
		t.Error(got)
	}
}
