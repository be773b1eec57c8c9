package everbloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/frame"
)

// openBytes opens a file of the given content, and checks that an error names it.
func openBytes(t *testing.T, dir string, content []byte) (*Set, error) {
	t.Helper()
	path := filepath.Join(dir, "damaged.set")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		wantError(t, err, nil, "everbloom: open "+path+": ")
	}
	if (s == nil) != (err != nil) {
		t.Errorf("set %v beside error %v", s, err)
	}
	return s, err
}

// headerSize returns the length of the header that b begins with.
func headerSize(b []byte) int { return int(binary.LittleEndian.Uint32(b[20:])) }

// frames cuts a sound file into its parts, along the lengths that it states.
func frames(b []byte) (parts [][]byte) {
	for len(b) > 0 {
		end := headerSize(b)
		payload := int(binary.LittleEndian.Uint64(b[end-12:]))
		for payload > 0 {
			size := int(binary.LittleEndian.Uint32(b[end+4:]))
			end, payload = end+12+size, payload-size
		}
		parts = append(parts, b[:end])
		b = b[end:]
	}
	return parts
}

// reseal makes the checksums of a damaged file right again as far as its lengths
// can be followed: what an enemy would do.
func reseal(b []byte) {
	table := crc32.MakeTable(crc32.Castagnoli)
	for len(b) >= 24 {
		end := headerSize(b)
		if end < 28 || end > len(b) {
			return
		}
		binary.LittleEndian.PutUint32(b[end-4:], crc32.Checksum(b[:end-4], table))
		payload := binary.LittleEndian.Uint64(b[end-12:])
		for b = b[end:]; payload > 0; {
			if len(b) < 12 {
				return
			}
			size := uint64(binary.LittleEndian.Uint32(b[4:]))
			if size == 0 || size > payload || size > uint64(len(b)-12) {
				return
			}
			sum := crc32.Update(crc32.Checksum(b[:8], table), table, b[12:12+size])
			binary.LittleEndian.PutUint32(b[8:], sum)
			b, payload = b[12+size:], payload-size
		}
	}
}

func TestCutFilesAreRefused(t *testing.T) {
	effort.OneGoroutine(t)
	dir := t.TempDir()
	for name := range goldenNeeds() {
		whole := golden(t, name)
		for n := range effort.Positions(t, len(whole), headerSize(whole), 17) {
			_, err := openBytes(t, dir, whole[:n])
			wantError(t, err, filter.ErrCorrupt)
			wantError(t, err, io.ErrUnexpectedEOF, "truncated at offset")
		}
	}
}

func TestEveryFlippedBitIsFound(t *testing.T) {
	effort.OneGoroutine(t)
	for name := range goldenNeeds() {
		b := golden(t, name)
		for i := range effort.Positions(t, 8*len(b), 8*headerSize(b), 29) {
			b[i/8] ^= 1 << (i % 8)
			if s, err := Read(bytes.NewReader(b)); err == nil || s != nil {
				t.Errorf("%s: bit %d was flipped and not found", name, i)
			}
			b[i/8] ^= 1 << (i % 8)
		}
	}
}

// TestStrangeFilesAreRefused says for each what is wrong with it.
func TestStrangeFilesAreRefused(t *testing.T) {
	plainFile, sharded := golden(t, "v1-bloom.golden"), golden(t, "v1-shards.golden")
	parts := frames(sharded)
	change := func(offset int, to byte) []byte {
		b := slices.Clone(plainFile)
		b[offset] = to
		reseal(b)
		return b
	}
	for _, c := range []struct {
		name    string
		content []byte
		target  error
		words   []string
	}{
		{"empty", nil, filter.ErrCorrupt, []string{"truncated"}},
		{"text", []byte("These are the words of a text.\n"), frame.ErrMagic, []string{"not an everbloom file"}},
		{"copied in text mode", bytes.ReplaceAll(plainFile, []byte("\r\n"), []byte("\n")), filter.ErrCorrupt, []string{"text mode"}},
		{"envelope version", change(8, 2), frame.ErrVersion, []string{"envelope version: 2"}},
		{"format version", change(12, 9), frame.ErrVersion, []string{"format version: 9"}},
		{"unknown kind", change(11, 0x7F), frame.ErrKind, []string{"kind number 32513 is unknown", "newer release"}},
		{"hash of an unknown algorithm", change(25, 77), filter.ErrCorrupt, []string{"hash: algorithm 77"}},
		{"hash of another length", change(25, 1), filter.ErrCorrupt, []string{"siphash takes 17 bytes, found 9"}},
		{"trailing byte", append(slices.Clone(plainFile), 0), filter.ErrCorrupt, []string{"trailing bytes"}},
		{"another file behind", append(slices.Clone(plainFile), plainFile...), filter.ErrCorrupt, []string{"trailing bytes"}},
		{"last part missing", slices.Concat(parts[0], parts[1]), filter.ErrCorrupt, []string{"truncated"}},
		{"first part missing", slices.Concat(parts[1], parts[2]), filter.ErrCorrupt, []string{"part: 1 of 3, want 0 of 3"}},
		{"parts swapped", slices.Concat(parts[0], parts[2], parts[1]), filter.ErrCorrupt, []string{"part: 2 of 3, want 1 of 3"}},
		{"part twice", slices.Concat(parts[0], parts[1], parts[1], parts[2]), filter.ErrCorrupt, []string{"part: 1 of 3, want 2 of 3"}},
		{"last part twice", slices.Concat(sharded, parts[2]), filter.ErrCorrupt, []string{"trailing bytes"}},
		{"part of another set", slices.Concat(parts[0], plainFile), filter.ErrCorrupt, []string{"part: 0 of 1, want 1 of 3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := openBytes(t, t.TempDir(), c.content)
			wantError(t, err, c.target, c.words...)
			if bytes.Contains([]byte(err.Error()), secret[:6]) {
				t.Errorf("%q shows the secret", err)
			}
		})
	}
}

// image is a filter's stored form with a stamp of our own.
func image(tb testing.TB, f *bloom.Filter, hash []byte, part, parts uint16) []byte {
	tb.Helper()
	m := f.Snapshot().(*frame.Image)
	m.Stamp(hash, part, parts)
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func mustBloom(tb testing.TB, items uint64) *bloom.Filter {
	tb.Helper()
	f, err := bloom.New(bloom.Config{Items: items})
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

func TestBareFiltersAreRefused(t *testing.T) {
	_, err := openBytes(t, t.TempDir(), image(t, mustBloom(t, 10), nil, 0, 1))
	wantError(t, err, nil, "bare filter without a hash", "own package")
}

// TestPartsOfUnequalShapeAreRefused: merging such a set could fail when half of
// it has been changed.
func TestPartsOfUnequalShapeAreRefused(t *testing.T) {
	hash, _ := filter.Hash{}.MarshalBinary()
	content := slices.Concat(image(t, mustBloom(t, 10), hash, 0, 2), image(t, mustBloom(t, 11), hash, 1, 2))
	_, err := openBytes(t, t.TempDir(), content)
	wantError(t, err, filter.ErrCorrupt, "shape", "bits=144", "bits=159", "as in part 0")
	_, err = Describe(bytes.NewReader(content))
	wantError(t, err, filter.ErrCorrupt, "shape")
}

func TestReadPassesOnErrorsOfTheSource(t *testing.T) {
	cause := errors.New("the network is down")
	b := golden(t, "v1-shards.golden")
	for n := range b {
		_, err := Read(io.MultiReader(bytes.NewReader(b[:n]), failing{cause}))
		wantError(t, err, cause, "everbloom: read: ")
		if errors.Is(err, filter.ErrCorrupt) {
			t.Fatalf("a failing source is taken for a damaged file: %v", err)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestHugeClaimsCostNoMemory states sizes that are not there, with right
// checksums.
func TestHugeClaimsCostNoMemory(t *testing.T) {
	for _, bits := range []uint64{1 << 36, 1 << 45, 1 << 50} {
		m := frame.Image{Header: frame.Header{
			Kind: frame.Bloom, Version: 1, Hash: make([]byte, 9), Shape: frame.ShapeOf(bloom.Shape{Bits: bits, Hashes: 7}),
			Summary: frame.Summary{FastBits: bits}, Payload: bits / 8,
		}}
		var b bytes.Buffer
		_, _ = m.WriteTo(&b) // the header, and then an error for want of a payload
		allocs := testing.AllocsPerRun(1, func() {
			_, err := Read(bytes.NewReader(b.Bytes()))
			wantError(t, err, filter.ErrCorrupt, "truncated")
		})
		if allocs > 200 {
			t.Errorf("%g allocations", allocs)
		}
	}
}

// TestAMillionMutationsAreFound damages sound files at random. What is accepted
// all the same must be one of the sets that went in.
func TestAMillionMutationsAreFound(t *testing.T) {
	effort.OneGoroutine(t)
	runs := 1_000_000
	if effort.Brief() {
		runs = 10_000
	}
	const seed1, seed2 = 20, 26
	dice := rand.New(rand.NewPCG(seed1, seed2))
	var files [][]byte
	for name := range goldenNeeds() {
		files = append(files, golden(t, name))
	}
	slices.SortFunc(files, bytes.Compare)
	accepted := 0
	for run := range runs {
		b := slices.Clone(files[dice.IntN(len(files))])
		for range 1 + dice.IntN(3) {
			b = mutate(dice, b, files)
		}
		s, err := Read(bytes.NewReader(b))
		if err != nil {
			continue
		}
		accepted++
		again := stored(t, s)
		if !slices.ContainsFunc(files, func(f []byte) bool { return bytes.Equal(f, again) }) {
			t.Fatalf("seeds %d, %d: mutation %d gave another set:\n%x", seed1, seed2, run, b)
		}
	}
	t.Logf("%d of %d mutations gave a whole file again", accepted, runs)
}

// mutate changes b in one of the ways in which files get damaged.
func mutate(dice *rand.Rand, b []byte, files [][]byte) []byte {
	at := func() int { return dice.IntN(len(b) + 1) }
	if len(b) == 0 {
		return append(b, byte(dice.Uint32()))
	}
	i, j := at(), at()
	i, j = min(i, j), max(i, j)
	switch dice.IntN(9) {
	case 0:
		b[dice.IntN(len(b))] ^= 1 << dice.IntN(8)
	case 1:
		b[dice.IntN(len(b))] = byte(dice.Uint32())
	case 2:
		return b[:i]
	case 3:
		return slices.Delete(b, i, j)
	case 4:
		return slices.Insert(b, at(), slices.Clone(b[i:j])...)
	case 5:
		clear(b[i:min(j, i+8)])
	case 6: // two blocks swapped
		return slices.Concat(b[:i], b[j:], b[i:j])
	case 7: // the end of another file
		other := files[dice.IntN(len(files))]
		return slices.Concat(b[:i], other[min(i, len(other)):])
	case 8: // a number that means more than it looks
		return slices.Replace(b, i, min(i+4, len(b)), bytes.Repeat([]byte{0xFF}, min(4, len(b)-i))...)
	}
	return b
}

// FuzzRead checks that no bytes make a reader panic, and that what is accepted
// can be written and read again. With the checksums made right the fuzzer gets
// behind them.
func FuzzRead(f *testing.F) {
	for name := range goldenNeeds() {
		b := golden(f, name)
		f.Add(b, false)
		f.Add(b[:len(b)-1], true)
	}
	f.Add(image(f, mustBloom(f, 3), nil, 0, 1), true)
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, b []byte, sealed bool) {
		if sealed {
			b = slices.Clone(b)
			reseal(b)
		}
		d, describeErr := Describe(bytes.NewReader(b))
		s, err := Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		if describeErr != nil || d.Shards != len(s.shards) || d.Kind != s.Info().Kind {
			t.Errorf("described as %+v, %v; read as %+v", d, describeErr, s.Info())
		}
		once := stored(t, s)
		again, err := Read(bytes.NewReader(once))
		if err != nil {
			t.Fatalf("what was accepted and written is refused: %v", err)
		}
		if !bytes.Equal(stored(t, again), once) || fmt.Sprint(again.Info()) != fmt.Sprint(s.Info()) {
			t.Error("what was accepted does not survive a file")
		}
		if _, err := s.AddString("a key"); err != nil || !s.MayContainString("a key") {
			t.Errorf("a key that was added is denied: %v", err)
		}
	})
}
