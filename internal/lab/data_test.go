package lab

import (
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// dataFolder has files of the given sizes.
func dataFolder(t *testing.T, sizes map[string]int) string {
	t.Helper()
	folder := t.TempDir()
	for name, size := range sizes {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestFilesAreThoseDeclared(t *testing.T) {
	folder := dataFolder(t, map[string]int{"pcap/b.pcap": 2, "pcap/a.pcap.gz": 1, "pcap/notes.txt": 3, "ip/list.gz": 4, "pcap/folder.pcap/x": 5})
	x := Experiment{Data: []string{"pcap/*.pcap", "pcap/*.pcap.gz", "pcap/a*", "ip/other.gz"}}
	if got, want := x.Files(folder), []DataFile{{"pcap/a.pcap.gz", 1}, {"pcap/b.pcap", 2}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := x.Files(""); got != nil {
		t.Errorf("no folder: %v", got)
	}
	if got := (Experiment{}).Files(folder); got != nil {
		t.Errorf("nothing declared: %v", got)
	}
}

func TestExperimentsDoWithoutDataThatIsNotThere(t *testing.T) {
	folder := dataFolder(t, map[string]int{"ip/list.gz": 4})
	for _, c := range []struct {
		declared []string
		folder   string
		seen     bool
		note     string
	}{
		{[]string{"ip/list.gz"}, folder, true, ""},
		{[]string{"words/all.gz"}, folder, false, "The folder with data has no words/all.gz: no real data was used."},
		{[]string{"words/all.gz"}, "", false, ""},
		{nil, folder, false, ""},
	} {
		seen := ""
		x := Experiment{ID: "x/a", Data: c.declared, Run: func(_ context.Context, e *Env) (*Result, error) {
			seen = e.Data
			return &Result{Checks: []Check{{Name: "a", Ours: "1", Verdict: Shown}}}, nil
		}}
		result, err := x.Do(t.Context(), &Env{Data: c.folder})
		if err != nil {
			t.Fatal(err)
		}
		if note := strings.Join(result.Notes, " "); (seen != "") != c.seen || note != c.note {
			t.Errorf("%v in %q: the experiment saw %q, note %q", c.declared, c.folder, seen, note)
		}
	}
}

func TestLinesArePacked(t *testing.T) {
	folder := dataFolder(t, map[string]int{"a/plain.gz": 3})
	file, err := os.Create(filepath.Join(folder, "a", "list.gz"))
	if err != nil {
		t.Fatal(err)
	}
	packed := gzip.NewWriter(file)
	_, _ = packed.Write([]byte("one\n1.2.3.4\t9\n::1\t2\n"))
	if err := errors.Join(packed.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := Lines(folder, "a/list.gz", func(text string) error { got = append(got, text); return nil }); err != nil || !slices.Equal(got, []string{"one", "1.2.3.4\t9", "::1\t2"}) {
		t.Errorf("%q, %v", got, err)
	}
	if list, err := IPv4(folder, "a/list.gz"); err != nil || !slices.Equal(list, []uint32{0x01020304}) {
		t.Errorf("%x, %v", list, err)
	}
	broken := errors.New("broken")
	if err := Lines(folder, "a/list.gz", func(string) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	for _, name := range []string{"a/plain.gz", "a/none.gz"} {
		if err := Lines(folder, name, func(string) error { return nil }); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}
