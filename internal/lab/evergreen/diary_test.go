package evergreen

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// stub is a set that answers as it is told.
type stub struct {
	idle
	addErr, delErr error
	asked          int // deletes
}

func (s *stub) Add(filter.Key) (bool, error) { return true, s.addErr }

func (s *stub) Delete(filter.Key) error {
	s.asked++
	return s.delErr
}

func TestDiariesNoteRefusals(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name   string
		f      stub
		add    bool
		want   diary
		err    error
		member bool
	}{
		{"added", stub{}, true, diary{}, nil, true},
		{"full", stub{addErr: filter.ErrFull}, true, diary{refused: 1}, nil, true},
		{"broken", stub{addErr: broken}, true, diary{}, broken, true},
		{"deleted", stub{}, false, diary{}, nil, false},
		{"pinned", stub{delErr: filter.ErrPinned}, false, diary{pinned: 1}, nil, false},
		{"not found", stub{delErr: filter.ErrNotFound}, false, diary{notFound: 1}, nil, false},
		{"delete broken", stub{delErr: broken}, false, diary{}, broken, false},
	} {
		var d diary
		set := map[filter.Key]bool{1: true}
		err := d.apply(&c.f, change{1, c.add}, set, map[filter.Key]bool{})
		if !errors.Is(err, c.err) || set[1] != c.member || d.refused != c.want.refused || d.pinned != c.want.pinned || d.notFound != c.want.notFound {
			t.Errorf("%s: %+v, %v, member %t", c.name, d, err, set[1])
		}
	}
}

// A key that was refused must not be deleted: that would take another's fingerprint.
func TestRefusedKeysAreNotDeleted(t *testing.T) {
	var d diary
	f := &stub{addErr: filter.ErrFull}
	set, refused := map[filter.Key]bool{}, map[filter.Key]bool{}
	for _, c := range []change{{1, true}, {1, false}} {
		if err := d.apply(f, c, set, refused); err != nil {
			t.Fatal(err)
		}
	}
	if f.asked != 0 || len(refused) != 0 || len(set) != 0 {
		t.Errorf("%d deletes, %d refused, %d members", f.asked, len(refused), len(set))
	}
	if err := d.apply(f, change{1, false}, set, refused); err != nil || f.asked != 1 {
		t.Errorf("%d deletes, %v", f.asked, err)
	}
}

func TestDiariesAreSettledAgainstTheExactSet(t *testing.T) {
	f, err := evergreen.New(evergreen.Config{FPR: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	k, set := testKeys(), map[filter.Key]bool{}
	for i := range 100 {
		if _, err := f.Add(k.member(i)); err != nil {
			t.Fatal(err)
		}
		set[k.member(i)] = true
	}
	// Keys 0 to 9 are said to be deleted and are not; 100 to 104 are said to be there
	// and are not; of these the filter refused one.
	h := history{versions: [][]change{{}, nil}}
	for i := range 10 {
		delete(set, k.member(i))
		h.versions[1] = append(h.versions[1], change{k.member(i), false})
	}
	for i := range 5 {
		set[k.member(100+i)] = true
	}
	var d diary
	if err := d.settle(f, set, map[filter.Key]bool{k.member(100): true}, h, k); err != nil {
		t.Fatal(err)
	}
	if d.members != 94 || d.denied != 4 || d.gone != 10 || d.revived != 10 || d.wrongKeys != 10 || d.strayed != 0 || d.strays != 48 {
		t.Errorf("%+v", d)
	}
	broken := errors.New("broken")
	if err := d.settle(&stub{delErr: broken}, set, nil, h, k); !errors.Is(err, broken) {
		t.Errorf("a filter that fails: %v", err)
	}
}

func TestMissingKeysAreWrongKeys(t *testing.T) {
	for width, want := range map[int]int{56: 3, 32: 0} { // compact filters have no list
		f, err := evergreen.New(evergreen.Config{FPR: 0.01, Width: width})
		if err != nil {
			t.Fatal(err)
		}
		var d diary
		d.compareKeys(f, map[filter.Key]bool{1: true, 2: true, 3: true})
		if d.wrongKeys != want {
			t.Errorf("width %d: %d wrong keys, want %d", width, d.wrongKeys, want)
		}
	}
}

// TestOnlyTheRealHistoryIsCompared with what its description says.
func TestOnlyTheRealHistoryIsCompared(t *testing.T) {
	h := history{versions: [][]change{{{1, true}, {2, true}}, {{1, false}}}}
	if checks := historyChecks(h); checks != nil {
		t.Errorf("invented: %v", checks)
	}
	if notes := replayNotes(h); !strings.Contains(notes[0], "invented") || !strings.Contains(notes[1], "2 versions, 2 adds and 1 deletes") {
		t.Errorf("%q", notes)
	}
	h.real = true
	if notes := replayNotes(h); strings.Contains(notes[0], "invented") {
		t.Errorf("%q", notes)
	}
	for _, c := range historyChecks(h) {
		if c.Verdict != lab.Differs {
			t.Errorf("another history: %+v", c)
		}
	}
	h = history{real: true, versions: make([][]change, 198)}
	h.versions[0] = make([]change, 180_280)
	for i := range h.versions[0] {
		h.versions[0][i].add = true
	}
	h.versions[1] = make([]change, 339_230-180_280+171_293)
	for i := range 339_230 - 180_280 {
		h.versions[1][i].add = true
	}
	for _, c := range historyChecks(h) {
		if c.Verdict != lab.Reproduced {
			t.Errorf("one like it: %+v", c)
		}
	}
}

func TestHistoriesAreReadFromFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.gz")
	write := func(text string) {
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		z := gzip.NewWriter(file)
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write("@ 1 a\n+x\n\n@ 2 b\n-x\n")
	if h, err := readHistory(path); err != nil || !h.real || len(h.versions) != 2 {
		t.Errorf("%+v, %v", h, err)
	}
	write("nonsense")
	if _, err := readHistory(path); err == nil || !strings.Contains(err.Error(), `line 1 is not of a change log: "nonsense"`) {
		t.Errorf("nonsense: %v", err)
	}
	if err := os.WriteFile(path, []byte("@ 1 a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readHistory(path); !errors.Is(err, gzip.ErrHeader) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("not compressed: %v", err)
	}
}
