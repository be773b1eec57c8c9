package image

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/server/internal/record"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// A memoryDisk forgets what was not synced when the power is cut.
type memoryDisk struct {
	names  map[string]*memoryFile
	synced map[string]*memoryFile // names that are on the disk
	left   int                    // operations until the power is cut; negative: never
	once   bool                   // one operation fails instead
}

type memoryFile struct {
	disk            *memoryDisk
	content, synced []byte
}

var errPower = errors.New("the power is cut")

func newMemoryDisk() *memoryDisk {
	return &memoryDisk{names: make(map[string]*memoryFile), synced: make(map[string]*memoryFile), left: -1}
}

// step is called before each operation.
func (d *memoryDisk) step() error {
	if d.left == 0 {
		if d.once {
			d.left = -1
		}
		return errPower
	}
	d.left--
	return nil
}

func (d *memoryDisk) Create(name string) (File, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	f := &memoryFile{disk: d}
	d.names[name] = f
	return f, nil
}

func (d *memoryDisk) Open(name string) (io.ReadCloser, error) {
	f := d.names[name]
	if f == nil {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(f.content)), nil
}

func (d *memoryDisk) ReadAt(name string, b []byte, offset int64) error {
	f := d.names[name]
	if f == nil {
		return fs.ErrNotExist
	}
	_, err := bytes.NewReader(f.content).ReadAt(b, offset)
	return err
}

func (d *memoryDisk) Rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	d.names[to] = d.names[from]
	delete(d.names, from)
	if err := d.step(); err != nil { // between renaming and syncing
		return err
	}
	d.synced = maps.Clone(d.names)
	return nil
}

func (d *memoryDisk) Remove(name string) error {
	if err := d.step(); err != nil {
		return err
	}
	delete(d.names, name)
	return nil
}

func (d *memoryDisk) List() (names []string, err error) {
	for name := range d.names {
		names = append(names, name)
	}
	return names, nil
}

func (f *memoryFile) Write(b []byte) (int, error) {
	if err := f.disk.step(); err != nil {
		return 0, err
	}
	f.content = append(f.content, b...)
	return len(b), nil
}

func (f *memoryFile) Sync() error {
	if err := f.disk.step(); err != nil {
		return err
	}
	f.synced = bytes.Clone(f.content)
	return nil
}

func (f *memoryFile) Close() error { return nil }

// cut returns the disk as it is after the power was cut: of what was not synced, names and
// contents may be there or not.
func (d *memoryDisk) cut(rng *rand.Rand) *memoryDisk {
	after := newMemoryDisk()
	add := func(name string, f *memoryFile) {
		content := f.synced
		if rng.IntN(2) == 0 && len(f.content) > len(f.synced) {
			content = f.content[:len(f.synced)+rng.IntN(len(f.content)-len(f.synced)+1)]
		}
		after.names[name] = &memoryFile{disk: after, content: content, synced: content}
	}
	for name, f := range d.synced {
		if d.names[name] == nil && rng.IntN(2) == 0 {
			continue // it was removed, and that came to the disk
		}
		add(name, f)
	}
	for name, f := range d.names {
		if rng.IntN(2) == 0 {
			add(name, f)
		}
	}
	after.synced = maps.Clone(after.names)
	return after
}

// content returns the content of an entry in a generation.
func content(number, generation int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "entry %d generation %d ", number, generation), 1+number%7)
}

// writeGeneration changes some entries and keeps the others.
func writeGeneration(f *Folder, generation int) error {
	w, err := f.Begin(0)
	if err != nil {
		return err
	}
	return finish(f, w, generation)
}

func finish(f *Folder, w *Writer, generation int) error {
	old := make(map[uint64]Entry)
	if last := f.Last(); last != nil {
		for _, e := range last.Entries {
			old[e.Number] = e
		}
	}
	for number := 1; number <= 5; number++ {
		if e, ok := old[uint64(number)]; ok && (number+generation)%3 != 0 {
			w.Keep(e)
			continue
		}
		e := Entry{Meta: store.Meta{Number: uint64(number), Name: fmt.Sprint(number), Spec: store.Spec{Type: store.Text}, Items: uint64(generation), Record: uint64(generation)}}
		if err := w.Add(e, bytes.NewReader(content(number, generation))); err != nil {
			w.Cancel()
			return err
		}
	}
	return w.Commit(&Manifest{Chain: record.Chain{Number: uint64(generation), Sum: 7, Epoch: 3}, Position: uint64(generation), Hash: []byte("hash"), Last: 5, Gone: map[uint64]uint64{9: 3}})
}

// check reads everything of the newest generation.
func check(t *testing.T, f *Folder) uint64 {
	t.Helper()
	m := f.Last()
	if m == nil {
		return 0
	}
	if len(m.Entries) != 5 || string(m.Hash) != "hash" || m.Gone[9] != 3 || m.Position != m.Chain.Number || m.Chain.Sum != 7 || m.Chain.Epoch != 3 {
		t.Errorf("manifest %+v", m)
	}
	for i := range m.Entries {
		e := &m.Entries[i]
		b, err := f.Content(e)
		if err != nil || !bytes.Equal(b, content(int(e.Number), int(e.Items))) {
			t.Errorf("generation %d, entry %d: %q, %v", m.Chain.Number, e.Number, b, err)
		}
	}
	return m.Chain.Number
}

// TestPowerCut cuts the power before every operation of several generations.
func TestPowerCut(t *testing.T) {
	const generations = 5
	for left := 0; ; left++ {
		for seed := range uint64(effort.PickVariant(3, 10, 200)) {
			d := newMemoryDisk()
			d.left = left
			f, err := Open(d)
			if err != nil {
				t.Fatal(err)
			}
			done := 0
			for g := 1; g <= generations; g++ {
				if err = writeGeneration(f, g); err != nil {
					break
				}
				done = g
			}
			if err == nil {
				return // there are no more operations
			}
			after, err := Open(d.cut(rand.New(rand.NewPCG(seed, uint64(left)))))
			if err != nil {
				t.Fatalf("operation %d, seed %d: %v", left, seed, err)
			}
			if got := check(t, after); got < uint64(done) {
				t.Fatalf("operation %d, seed %d: generation %d, %d was written", left, seed, got, done)
			}
		}
	}
}

// TestLateWriter has a writer that was replaced finish its generation behind that of the next
// one: the next one's stays the newest and whole.
func TestLateWriter(t *testing.T) {
	d := newMemoryDisk()
	late, err := Open(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeGeneration(late, 1); err != nil {
		t.Fatal(err)
	}
	w, err := late.Begin(1 << 32)
	if err != nil {
		t.Fatal(err)
	}
	next, err := Look(d)
	if err != nil {
		t.Fatal(err)
	}
	for g := 3; g <= 4; g++ {
		n, err := next.Begin(2 << 32)
		if err != nil {
			t.Fatal(err)
		}
		if err := finish(next, n, g); err != nil {
			t.Fatal(err)
		}
		if g == 3 {
			_ = finish(late, w, 2) // it may fail
		}
		found, err := Look(d)
		if err != nil || check(t, found) != uint64(g) {
			t.Fatalf("generation %d: %v", g, err)
		}
	}
	if found, err := Look(d); err != nil || !found.StepBack() || check(t, found) != 3 {
		t.Fatal(err)
	}
}

// TestFailuresLeaveNothingBehind has each operation of a generation fail, as on a full disk: no
// file that is not complete stays, and the next generation is written.
func TestFailuresLeaveNothingBehind(t *testing.T) {
	for left := 0; ; left++ {
		d := newMemoryDisk()
		f, err := Open(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := writeGeneration(f, 1); err != nil {
			t.Fatal(err)
		}
		d.left, d.once = left, true
		if err := writeGeneration(f, 2); err == nil {
			return // there are no more operations
		}
		for name := range d.names {
			if strings.HasSuffix(name, temporary) {
				t.Fatalf("operation %d: %s stays", left, name)
			}
		}
		if err := writeGeneration(f, 3); err != nil {
			t.Fatalf("operation %d: %v", left, err)
		}
		again, err := Open(d)
		if err != nil || check(t, again) != 3 {
			t.Fatalf("operation %d: %v", left, err)
		}
	}
}

// TestDamageIsTold flips each bit of each file.
func TestDamageIsTold(t *testing.T) {
	d := newMemoryDisk()
	f, err := Open(d)
	if err != nil {
		t.Fatal(err)
	}
	for g := 1; g <= 3; g++ {
		if err := writeGeneration(f, g); err != nil {
			t.Fatal(err)
		}
	}
	for name, file := range d.names {
		for bit := range 8 * len(file.content) {
			file.content[bit/8] ^= 1 << (bit % 8)
			f, err := Open(d)
			for i := 0; err == nil && i < len(f.Last().Entries); i++ {
				_, err = f.Content(&f.Last().Entries[i])
			}
			used := name == manifestName(3) || name == manifestName(2)
			for i := range f.lastEntries() {
				used = used || packName(f.Last().Entries[i].Pack) == name
			}
			file.content[bit/8] ^= 1 << (bit % 8)
			if err == nil && used && !unusedByte(f, name, bit/8) {
				t.Fatalf("%s: bit %d is not found", name, bit)
			}
			if err != nil && !errors.Is(err, ErrDamaged) {
				t.Fatalf("%s: bit %d: %v", name, bit, err)
			}
		}
	}
}

// TestManifestIsPassedOver damages one of two manifests: Look finds the other one, and the next
// generation keeps it and has a number of its own. With both damaged there is nothing to go on with.
func TestManifestIsPassedOver(t *testing.T) {
	for _, c := range []struct{ damaged, found uint64 }{{3, 2}, {2, 3}} {
		d := newMemoryDisk()
		f, err := Open(d)
		if err != nil {
			t.Fatal(err)
		}
		for g := 1; g <= 3; g++ {
			if err := writeGeneration(f, g); err != nil {
				t.Fatal(err)
			}
		}
		d.names[manifestName(c.damaged)].content[40] ^= 1
		if f, err = Look(d); err != nil || check(t, f) != c.found || f.Before() != nil || !errors.Is(f.Damage(), ErrDamaged) {
			t.Fatalf("manifest %d is damaged: %v", c.damaged, err)
		}
		if err := writeGeneration(f, 4); err != nil {
			t.Fatal(err)
		}
		f, err = Look(d)
		if err != nil || f.Damage() != nil || check(t, f) != 4 || !f.StepBack() || check(t, f) != c.found {
			t.Errorf("manifest %d was damaged: %v", c.damaged, err)
		}
		for _, file := range d.names {
			file.content[20] ^= 1
		}
		if _, err := Look(d); !errors.Is(err, ErrDamaged) {
			t.Error("both manifests are damaged:", err)
		}
	}
}

func (f *Folder) lastEntries() []Entry {
	if f == nil || f.last == nil {
		return nil
	}
	return f.last.Entries
}

// unusedByte reports whether no entry of the newest generation has a byte of a pack.
func unusedByte(f *Folder, name string, at int) bool {
	for i := range f.lastEntries() {
		e := &f.last.Entries[i]
		if packName(e.Pack) == name && int64(at) >= e.Offset && int64(at) < e.Offset+e.Length {
			return false
		}
	}
	return true
}

// TestThinPacksAreFound keeps one entry of a pack and replaces the others.
func TestThinPacksAreFound(t *testing.T) {
	d := newMemoryDisk()
	f, err := Open(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeGeneration(f, 1); err != nil {
		t.Fatal(err)
	}
	if thin := f.Thin(func(e *Entry) bool { return e.Number == 1 }); !thin[1] {
		t.Error("a fifth of a pack is enough:", thin)
	}
	if thin := f.Thin(func(*Entry) bool { return true }); thin[1] {
		t.Error("a whole pack is thin")
	}
}

func TestOnlyTwoGenerationsAreKept(t *testing.T) {
	dir, err := MakeDir(t.TempDir() + "/images")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for g := 1; g <= 10; g++ {
		if err := writeGeneration(f, g); err != nil {
			t.Fatal(err)
		}
	}
	names, _ := dir.List()
	manifests := 0
	for _, name := range names {
		if name == manifestName(10) || name == manifestName(9) {
			manifests++
		}
	}
	if manifests != 2 || len(names) > 8 {
		t.Errorf("%q", names)
	}
	again, err := Open(dir)
	if err != nil || check(t, again) != 10 {
		t.Error(err)
	}
}

func FuzzManifest(f *testing.F) {
	m := &Manifest{Hash: []byte("hash"), Gone: map[uint64]uint64{1: 2}, Entries: []Entry{{Meta: store.Meta{Number: 1, Name: "n", Spec: store.Spec{Type: store.Text}}}}}
	f.Add(m.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := decode(b); err == nil && m == nil {
			t.Error("no manifest and no error")
		}
	})
}

// TestLookRemovesNothing has a pack whose manifest is not written yet.
func TestLookRemovesNothing(t *testing.T) {
	d := newMemoryDisk()
	f, err := Open(d)
	if err == nil {
		err = writeGeneration(f, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	d.names["pack-2"] = &memoryFile{disk: d}
	found, err := Look(d)
	if err != nil || check(t, found) != 1 || d.names["pack-2"] == nil {
		t.Error("looked:", err)
	}
	if _, err := Open(d); err != nil || d.names["pack-2"] != nil {
		t.Error("opened:", err)
	}
}
