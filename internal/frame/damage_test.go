package frame

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"

	"github.com/everbloom-go/everbloom/internal/effort"
)

// goldens are all golden files.
var goldens = []string{"v1-plain.golden", "v1-chunks.golden", "v1-empty.golden", "v1-parts.golden"}

// known reports whether err is one that damage may lead to.
func known(err error) bool {
	return errors.Is(err, filter.ErrCorrupt) || errors.Is(err, filter.ErrNotFilter) || errors.Is(err, filter.ErrVersion)
}

func TestEveryBitFlipIsFound(t *testing.T) {
	for _, name := range goldens {
		data := golden(t, name)
		for bit := range 8 * len(data) {
			data[bit/8] ^= 1 << (bit % 8)
			if _, err := decode(bytes.NewReader(data)); !known(err) {
				t.Fatalf("%s: bit %d of byte %d flipped: %v", name, bit%8, bit/8, err)
			}
			data[bit/8] ^= 1 << (bit % 8)
		}
	}
}

// mutate changes data in one of the ways files get damaged.
func mutate(rng *rand.Rand, data []byte) []byte {
	out := bytes.Clone(data)
	at, other := rng.IntN(len(out)), rng.IntN(len(out))
	lo, hi := min(at, other), max(at, other)
	switch rng.IntN(6) {
	case 0:
		for range 1 + rng.IntN(4) {
			out[rng.IntN(len(out))] = byte(rng.Uint32())
		}
	case 1:
		out[at] ^= 1 << rng.IntN(8)
		out[other] ^= 1 << rng.IntN(8)
	case 2: // a run is lost
		out = append(out[:lo], out[hi:]...)
	case 3: // a run is repeated
		out = append(out[:hi:hi], data[lo:]...)
	case 4: // a run is zeroed, as by a hole in a file
		clear(out[lo:hi])
	case 5: // a run lands in another place
		copy(out[lo:], data[hi:])
	}
	return out
}

// TestDamageIsFoundOrHarmless damages valid files at random: what is still read must
// be what was written. With the checksums renewed, as an enemy would do, it may
// differ, but must be a frame that could have been written.
func TestDamageIsFoundOrHarmless(t *testing.T) {
	const seed = 2
	rng := rand.New(rand.NewPCG(seed, 0))
	files := make([][]byte, len(goldens))
	contents := make([][]content, len(goldens))
	for i, name := range goldens {
		files[i] = golden(t, name)
		contents[i] = mustDecode(t, bytes.NewReader(files[i]))
	}
	accepted := 0
	for i := range effort.PickVariant(5000, 10_000, 1_000_000) {
		which := rng.IntN(len(files))
		data := mutate(rng, files[which])
		got, err := decode(bytes.NewReader(data))
		if err == nil && !sameContent(got, contents[which]) || err != nil && !known(err) {
			t.Fatalf("seed %d, damage %d: %x: other content accepted, or strange error %v", seed, i, data, err)
		}
		got, err = decode(bytes.NewReader(reseal(data)))
		if err == nil {
			accepted++
			err = writable(got)
		} else if known(err) {
			continue
		}
		if err != nil {
			t.Fatalf("seed %d, damage %d, resealed: %x: %v", seed, i, data, err)
		}
	}
	if accepted == 0 {
		t.Errorf("seed %d: nothing was accepted: the test does not get past the checksums", seed)
	}
}

// writable reports an error unless the frames can be written and read again.
func writable(frames []content) error {
	var b bytes.Buffer
	for _, c := range frames {
		if _, err := c.image().WriteTo(&b); err != nil {
			return err
		}
	}
	again, err := decode(&b)
	if err == nil && !sameContent(frames, again) {
		err = errors.New("content differs when written and read again")
	}
	return err
}
