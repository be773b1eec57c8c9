package image

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Folder holds generations of images. One goroutine at a time uses it, but for Content.
type Folder struct {
	disk   Disk
	newest uint64 // generation; 0 if there is none
	last   *Manifest
	before *Manifest       // the generation before
	passed map[uint64]bool // generations whose manifest is damaged
	damage error           // of them
}

// Open reads the two newest manifests. Files that belong to no generation are removed.
func Open(d Disk) (*Folder, error) {
	f, err := Look(d)
	if err == nil {
		err = f.damage
	}
	if errors.Is(err, ErrDamaged) {
		err = fmt.Errorf("%w: restore a copy of it in the folder images, or remove it to start from the images before", err)
	}
	if err != nil {
		return nil, err
	}
	return f, f.clean(math.MaxUint64)
}

// Look is Open for a folder that another process may be writing to: it removes nothing. A
// manifest that is damaged is passed over if the other one is whole.
func Look(d Disk) (*Folder, error) {
	f := &Folder{disk: d, passed: make(map[uint64]bool)}
	generations, err := f.generations()
	if err != nil {
		return nil, err
	}
	for _, g := range generations[:min(2, len(generations))] {
		f.newest = max(f.newest, g)
		switch m, err := f.read(g); {
		case errors.Is(err, ErrDamaged):
			f.passed[g] = true
			f.damage = errors.Join(f.damage, err)
		case err != nil:
			return nil, err
		case f.last == nil:
			f.last = m
		default:
			f.before = m
		}
	}
	if f.last == nil && f.damage != nil {
		return nil, f.damage
	}
	return f, nil
}

// Damage returns what is wrong with a manifest that was passed over; nil if none was. The next
// generation removes it.
func (f *Folder) Damage() error { return f.damage }

// StepBack takes the generation before for the newest one, which is damaged. It reports false
// if there is none.
func (f *Folder) StepBack() bool {
	f.last, f.before = f.before, nil
	return f.last != nil
}

func manifestName(g uint64) string { return "manifest-" + strconv.FormatUint(g, 10) }

func packName(g uint64) string { return "pack-" + strconv.FormatUint(g, 10) }

// generation returns the number in the name of a file; 0 if there is none.
func generation(name string) uint64 {
	_, text, _ := strings.Cut(strings.TrimSuffix(name, temporary), "-")
	g, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0
	}
	return g
}

// generations returns the numbers of all manifests that were not passed over, the newest first.
func (f *Folder) generations() (found []uint64, err error) {
	names, err := f.disk.List()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if text, ok := strings.CutPrefix(name, "manifest-"); ok {
			if g, err := strconv.ParseUint(text, 10, 64); err == nil && manifestName(g) == name && !f.passed[g] {
				found = append(found, g)
			}
		}
	}
	slices.Sort(found)
	slices.Reverse(found)
	return found, nil
}

// read reads the manifest of a generation.
func (f *Folder) read(g uint64) (*Manifest, error) {
	r, err := f.disk.Open(manifestName(g))
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // it was only read
	b, err := io.ReadAll(io.LimitReader(r, maxManifest))
	if err != nil {
		return nil, err
	}
	m, err := decode(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName(g), err)
	}
	return m, nil
}

// Last returns the newest manifest, nil if there is none.
func (f *Folder) Last() *Manifest { return f.last }

// Before returns the manifest before, nil if there is none.
func (f *Folder) Before() *Manifest { return f.before }

// Content returns the content of an entry of the newest manifest.
func (f *Folder) Content(e *Entry) ([]byte, error) {
	if e.Length < 0 || e.Length > maxManifest {
		return nil, fmt.Errorf("image: entry %d has %d bytes: %w", e.Number, e.Length, ErrDamaged)
	}
	b := make([]byte, e.Length)
	if err := f.disk.ReadAt(packName(e.Pack), b, e.Offset); err != nil {
		return nil, fmt.Errorf("image: entry %d in %s: %w: %w", e.Number, packName(e.Pack), ErrDamaged, err)
	}
	if sum := crc32.Checksum(b, castagnoli); sum != e.Sum {
		return nil, fmt.Errorf("image: entry %d in %s at %d: checksum %08x, must be %08x: %w", e.Number, packName(e.Pack), e.Offset, sum, e.Sum, ErrDamaged)
	}
	return b, nil
}

// clean removes what belongs to neither of the two newest generations. What is newer than a
// generation is another writer's.
func (f *Folder) clean(newest uint64) error {
	keep := make(map[string]bool)
	generations, err := f.generations()
	if err != nil {
		return err
	}
	for _, g := range generations[:min(2, len(generations))] {
		keep[manifestName(g)] = true
	}
	for _, m := range []*Manifest{f.last, f.before} {
		if m == nil {
			continue
		}
		for i := range m.Entries {
			keep[packName(m.Entries[i].Pack)] = true
		}
	}
	names, err := f.disk.List()
	if err != nil {
		return err
	}
	for _, name := range names {
		if !keep[name] && generation(name) <= newest {
			if err := f.disk.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// Size returns how many bytes the contents of the newest generation have.
func (f *Folder) Size() (n int64) {
	if f.last == nil {
		return 0
	}
	for i := range f.last.Entries {
		n += f.last.Entries[i].Length
	}
	return n
}

// Thin returns the packs of which less than half is in use.
func (f *Folder) Thin(used func(*Entry) bool) map[uint64]bool {
	total, live := make(map[uint64]int64), make(map[uint64]int64)
	if f.last == nil {
		return nil
	}
	for i := range f.last.Entries {
		e := &f.last.Entries[i]
		total[e.Pack] = max(total[e.Pack], e.Offset+e.Length)
		if used(e) {
			live[e.Pack] += e.Length
		}
	}
	thin := make(map[uint64]bool)
	for pack, n := range total {
		thin[pack] = 2*live[pack] < n
	}
	return thin
}
