package lines

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/everbloom-go/everbloom/internal/effort"
)

// packed returns "a\nb\n" in all formats.
func packed(tb testing.TB) map[string][]byte {
	tb.Helper()
	bz, err := hex.DecodeString("425a68393141592653593c854112000001410000103000200030cc0c7a8271772453850903c8541120")
	if err != nil {
		tb.Fatal(err)
	}
	all := map[string][]byte{"gzip": gz(tb, "a\nb\n"), "bzip2": bz}
	pack := func(name string, open func(io.Writer) (io.WriteCloser, error)) {
		var b bytes.Buffer
		w, err := open(&b)
		if err != nil {
			tb.Fatal(err)
		}
		_, err = io.WriteString(w, "a\nb\n")
		if err := errors.Join(err, w.Close()); err != nil {
			tb.Fatal(err)
		}
		all[name] = b.Bytes()
	}
	pack("xz", func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) })
	pack("zstd", func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
	return all
}

func TestCompressedInputsAreRead(t *testing.T) {
	for name, data := range packed(t) {
		twice := slices.Concat(data, data)
		if name == "xz" {
			twice = slices.Concat(data, make([]byte, 4), data, make([]byte, 8)) // its padding
		}
		for _, r := range []io.Reader{bytes.NewReader(twice), iotest.OneByteReader(bytes.NewReader(twice))} {
			if got, err := keysOf(open(t, r)); err != nil || !slices.Equal(got, []string{"a", "b", "a", "b"}) {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
		broken := errors.New("broken")
		for at := 10; at < len(data); at += effort.PickVariant(9, 1, 1) {
			_, err := keysOf(open(t, bytes.NewReader(data[:at])))
			if err == nil || !strings.Contains(err.Error(), name+" data is damaged: ") {
				t.Errorf("%s, cut at %d of %d: %v", name, at, len(data), err)
			}
			_, err = keysOf(open(t, io.MultiReader(bytes.NewReader(data[:at]), iotest.ErrReader(broken))))
			if !errors.Is(err, broken) || strings.Contains(err.Error(), "damaged") {
				t.Errorf("%s, unreadable from %d: %v", name, at, err)
			}
		}
	}
}

func TestCompressedInputsCannotAskForMuchMemory(t *testing.T) {
	data := packed(t)["xz"]
	data[16] = 32 // the window of the first block: 256 MiB
	for name, data := range map[string][]byte{
		"xz":   data,
		"zstd": []byte("\x28\xb5\x2f\xfd\x00\x90\x09\x00\x00a"), // 256 MiB, a block of one byte
	} {
		_, err := keysOf(open(t, bytes.NewReader(data)))
		if err == nil || !strings.HasSuffix(err.Error(), "needs more than 128 MiB of memory: decompress it with its own tool and pipe it in") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSlowInputsAreNotWaitedFor types one line and looks whether it comes through.
func TestSlowInputsAreNotWaitedFor(t *testing.T) {
	for _, line := range []string{"B\n", "BZ\n", "\x1f\n", "(\n", "\n"} {
		r, w := io.Pipe()
		go func() { _, _ = io.WriteString(w, line) }()
		var b Block
		if err := open(t, r).Reader().Next(&b); err != nil || string(b.Text) != line {
			t.Errorf("%q: %q, %v", line, b.Text, err)
		}
		_ = w.Close()
	}
}
