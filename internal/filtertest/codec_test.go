package filtertest

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
)

// A codecCheck is something that a Codec offers to the tests of kinds.
type codecCheck func(tb testing.TB, h hooks, c Codec[*faulty])

func readsGolden(tb testing.TB, h hooks, c Codec[*faulty]) {
	tb.Helper()
	made, keys := h.golden()
	c.ReadsGolden(tb, "words.golden", made, keys)
}

// refuses forges a file with one key too few.
func refuses(tb testing.TB, _ hooks, c Codec[*faulty]) {
	tb.Helper()
	c.Refuses(tb, "two keys for one", "summary: keys: 1, want 2", exactShape{Room: 8}, frame.Summary{Keys: 1}, 3, 1, 4, 1)
}

// fuzzes is what FuzzRead does with the golden file.
func fuzzes(tb testing.TB, _ hooks, c Codec[*faulty]) {
	tb.Helper()
	for _, b := range c.goldens(tb) {
		c.wantFilterOrRefusal(tb, b)
	}
}

// fuzzesBehind is what FuzzRead does with the golden file and one flipped bit.
func fuzzesBehind(tb testing.TB, _ hooks, c Codec[*faulty]) {
	tb.Helper()
	for _, b := range c.goldens(tb) {
		c.wantFilterOrRefusal(tb, behindChecksums(tb, b, 2, 1<<63, 0, 0)) // the second key
	}
}

// TestPlantedCodecFaultsAreFound has for every check of a Codec the faults that
// it is there for, and a part of what it must say.
func TestPlantedCodecFaultsAreFound(t *testing.T) {
	for _, p := range []struct {
		fault string
		check codecCheck
		want  string
		hooks hooks
	}{
		{"refuses the past", readsGolden, "words.golden: planted", hooks{Read: after(func(*Exact) error { return errPlanted })}},
		{"forgets a key", readsGolden, "was not found", hooks{Read: after(forget)}},
		{"counts another key", readsGolden, "Info was", hooks{Read: after(invent)}},
		{"writes otherwise than in the past", readsGolden, "is now stored as other bytes", hooks{Snapshot: growing}},
		{"has an image of another filter", readsGolden, "Image and Snapshot", hooks{Image: growing}},

		{"does not look", refuses, "two keys for one: accepted", hooks{Read: reckless(ExactKind)}},
		{"says something else", refuses, `got "frame: summary`, hooks{Read: mumbling("frame: summary", filter.ErrCorrupt)}},
		{"hides what it is", refuses, "want ErrCorrupt", hooks{Read: mumbling("summary: keys: 1, want 2", errPlanted)}},

		{"hides damage", fuzzes, "none of those that tell of damage", hooks{Read: after(func(*Exact) error { return errPlanted })}},
		{"hides damage behind checksums", fuzzesBehind, "none of those that tell of damage", hooks{Read: func(r io.Reader) (*Exact, error) {
			f, err := ReadExact(r)
			if err != nil {
				return nil, errPlanted
			}
			return f, nil
		}}},
		{"refuses what it wrote", fuzzes, "refused that: ", hooks{Snapshot: unreadable}},
		{"writes anew each time", fuzzes, "read that, and wrote", hooks{Snapshot: growing}},
		{"tells nonsense", fuzzes, "the fill is 2", hooks{Info: alter(func(i *filter.Info) { i.Fill = 2 })}},
		{"cannot add", fuzzes, "adding to a filter that was read: planted", hooks{Add: func(*Exact, filter.Key) (bool, error) { return false, errPlanted }}},
		{"forgets what is added", fuzzes, "forgets", hooks{Add: func(*Exact, filter.Key) (bool, error) { return true, nil }}},
		{"cannot delete", fuzzes, "deleting what was added to a filter that was read: planted", hooks{Delete: func(*Exact, filter.Key) error { return errPlanted }}},
	} {
		notes := record(t, func(tb *recorder) { p.check(tb, p.hooks, p.hooks.codec(t)) })
		if !strings.Contains(notes, p.want) || strings.HasPrefix(notes, "panic: ") {
			t.Errorf("a codec that %s: the notes are %q, want %q", p.fault, notes, p.want)
		}
	}
}

// after reads, and then does something to what was read.
func after(change func(*Exact) error) func(io.Reader) (*Exact, error) {
	return func(r io.Reader) (*Exact, error) {
		f, err := ReadExact(r)
		if err != nil {
			return nil, err
		}
		return f, change(f)
	}
}

func forget(f *Exact) error {
	loseAny(f)
	return nil
}

func invent(f *Exact) error {
	_, err := f.Add(12345)
	return err
}

// reckless reads files of the kind, of any version, and trusts their keys.
func reckless(kind frame.Kind) func(io.Reader) (*Exact, error) {
	return func(src io.Reader) (*Exact, error) {
		r, err := frame.Open(src)
		if err != nil || r.Header().Kind != kind {
			return nil, filter.ErrKind
		}
		return NewExact(ExactConfig{}), nil
	}
}

// mumbling refuses everything with an error of its own.
func mumbling(text string, kind error) func(io.Reader) (*Exact, error) {
	return func(io.Reader) (*Exact, error) { return nil, fmt.Errorf("%s: %w", text, kind) }
}

// growing stores a filter with one room more than it has.
func growing(f *Exact) io.WriterTo {
	return (&Exact{config: f.config, room: f.room + 1, set: f.set}).Snapshot()
}

// unreadable stores a filter with no room at all.
func unreadable(f *Exact) io.WriterTo { return (&Exact{set: f.set}).Snapshot() }

func TestSoundCodecPasses(t *testing.T) {
	full := hooks{Add: func(*Exact, filter.Key) (bool, error) { return false, filter.ErrFull }}
	pinned := hooks{Delete: func(*Exact, filter.Key) error { return filter.ErrPinned }}
	for _, check := range []codecCheck{readsGolden, refuses, fuzzes, fuzzesBehind} {
		for _, h := range []hooks{{}, full, pinned} {
			check(t, h, h.codec(t))
		}
	}
}

func FuzzReadExact(f *testing.F) { hooks{}.codec(f).FuzzRead(f) }

// TestCheckIsAsked plants a fault that only the kind itself can see: before and
// after a filter is used.
func TestCheckIsAsked(t *testing.T) {
	c := hooks{}.codec(t)
	most := 0
	c.Check = func(f *faulty) error {
		if f.exact.set.Len() > most {
			return errPlanted
		}
		return nil
	}
	for name, check := range map[string]codecCheck{"words.golden: planted": readsGolden, "read: planted": fuzzes} {
		if notes := record(t, func(tb *recorder) { check(tb, hooks{}, c) }); !strings.Contains(notes, name) {
			t.Errorf("the notes are %q, want %q", notes, name)
		}
	}
	most = 7 // the keys of the golden file
	add := hooks{Delete: func(*Exact, filter.Key) error { return filter.ErrPinned }}
	f, _ := add.golden()
	if notes := record(t, func(tb *recorder) { c.Works(tb, f) }); notes != "read and used: planted" {
		t.Errorf("the notes are %q", notes)
	}
}

func TestAlterChangesWhatItIsTold(t *testing.T) {
	c := hooks{}.codec(t)
	file := c.Forge(t, exactShape{Room: 8}, frame.Summary{Keys: 2}, 3, 1, 4, 1)
	same := func(_ *frame.Header, payload []byte) []byte { return payload }
	if !bytes.Equal(Alter(t, file, same), file) {
		t.Error("a file altered in nothing has other bytes")
	}
	altered := Alter(t, file, func(h *frame.Header, payload []byte) []byte {
		h.Summary.Keys = 1
		return payload[16:]
	})
	if want := c.Forge(t, exactShape{Room: 8}, frame.Summary{Keys: 1}, 4, 1); !bytes.Equal(altered, want) {
		t.Errorf("got %x, want %x", altered, want)
	}
	for _, bad := range [][]byte{nil, file[:len(file)-1]} {
		if notes := record(t, func(tb *recorder) { Alter(tb, bad, same) }); !strings.Contains(notes, "a file to be altered") {
			t.Errorf("altering %x: the notes are %q", bad, notes)
		}
	}
}

func TestBehindChecksumsMovesSumsAndFlipsBits(t *testing.T) {
	c := hooks{}.codec(t)
	file := c.Forge(t, exactShape{Room: 8}, frame.Summary{Keys: 2, SetBits: 9}, 3, 1, 4, 1)
	want := c.Forge(t, exactShape{Room: 8}, frame.Summary{Keys: 1, SetBits: 14}, 3, 1, 6, 1)
	if got := behindChecksums(t, file, 6, 2, -1, 5); !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
	empty := c.Forge(t, exactShape{Room: 8}, frame.Summary{})
	if got := behindChecksums(t, empty, 5, 2, 0, 0); !bytes.Equal(got, empty) {
		t.Errorf("no word to flip: got %x, want %x", got, empty)
	}
}
