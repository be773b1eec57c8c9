package lines

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/everbloom-go/everbloom/internal/effort"
)

// gz returns the compressed form of text.
func gz(tb testing.TB, text string) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// write makes a file and returns its path.
func write(tb testing.TB, content []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "input")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// keysOf reads all keys the fast way.
func keysOf(in *Input) ([]string, error) {
	var keys []string
	err := Each(context.Background(), in, func(b *Block, out *[]string) error {
		*out = (*out)[:0]
		for _, l := range b.Cut() {
			key := b.Text[l.From:l.To]
			if b.IgnoreCase() {
				key = AppendLower(nil, key)
			}
			if len(key) > 0 {
				*out = append(*out, string(key))
			}
		}
		return nil
	}, func(_ *Block, out *[]string) error {
		keys = append(keys, *out...)
		return nil
	})
	return keys, err
}

// keysIn finds the keys of a text the obvious way.
func keysIn(text string) []string {
	var keys []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSuffix(line, "\r"); line != "" {
			keys = append(keys, line)
		}
	}
	return keys
}

func open(tb testing.TB, stdin io.Reader, names ...string) *Input {
	tb.Helper()
	return openRules(tb, Rules{}, stdin, names...)
}

func openRules(tb testing.TB, rules Rules, stdin io.Reader, names ...string) *Input {
	tb.Helper()
	in, err := Open(names, stdin, rules)
	if err != nil {
		tb.Fatal(err)
	}
	return in
}

func TestLineRules(t *testing.T) {
	for text, want := range map[string][]string{
		"":                        nil,
		"\n\n\n":                  nil,
		"\r\n\r\n":                nil,
		"a":                       {"a"},
		"a\n":                     {"a"},
		"a\nb":                    {"a", "b"},
		"a\r\nb\r\n":              {"a", "b"},
		"a\r\r\n":                 {"a\r"},
		"a\rb\n":                  {"a\rb"},
		"a\r":                     {"a"},
		" a \n\tb\n":              {" a ", "\tb"},
		"\x00\n\xff\xfe\n":        {"\x00", "\xff\xfe"},
		"\n\na\n\nb\n\n":          {"a", "b"},
		"\x1f":                    {"\x1f"},
		"\x1f\x8b":                {"\x1f\x8b"},
		"\x1f\x8b\x07 not gzip\n": {"\x1f\x8b\x07 not gzip"},
	} {
		if got, err := keysOf(openRules(t, Rules{Force: true}, strings.NewReader(text))); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
		if !slices.Equal(keysIn(text), want) {
			t.Errorf("%q: the reference gives %q", text, keysIn(text))
		}
	}
}

// randomText has lines of all lengths, some far longer than a block.
func randomText(rng *rand.Rand, lines int) string {
	var b strings.Builder
	for range lines {
		n := rng.IntN(40)
		switch rng.IntN(200) {
		case 0:
			n = rng.IntN(3 * blockSize)
		case 1, 2, 3:
			n = blockSize - 3 + rng.IntN(6)
		}
		b.WriteString(strings.Repeat(string('a'+rune(rng.IntN(26))), n))
		b.WriteString([]string{"\n", "\r\n", "\n\n"}[rng.IntN(3)])
	}
	if rng.IntN(2) == 0 {
		b.WriteString("last")
	}
	return b.String()
}

func TestAnyCutOfTheInputGivesTheSameKeys(t *testing.T) {
	for seed := range effort.PickVariant[uint64](1, 3, 30) {
		text := randomText(rand.New(rand.NewPCG(seed, 1)), 300)
		want := keysIn(text)
		zipped := gz(t, text)
		for name, r := range map[string]io.Reader{
			"whole":      strings.NewReader(text),
			"halves":     iotest.HalfReader(strings.NewReader(text)),
			"late error": iotest.DataErrReader(strings.NewReader(text)),
			"gzip":       bytes.NewReader(zipped),
			"gzip twice": io.MultiReader(bytes.NewReader(gz(t, "")), bytes.NewReader(zipped)),
		} {
			if got, err := keysOf(open(t, r)); err != nil || !slices.Equal(got, want) {
				t.Errorf("seed %d, %s: %d keys, %v, want %d", seed, name, len(got), err, len(want))
			}
		}
	}
	text := "one byte\nat a\r\ntime\n"
	if got, err := keysOf(open(t, iotest.OneByteReader(strings.NewReader(text)))); err != nil || !slices.Equal(got, keysIn(text)) {
		t.Errorf("one byte: %q, %v", got, err)
	}
}

func TestFilesAreReadInOrderAndTwice(t *testing.T) {
	a, b := write(t, []byte("1\n2")), write(t, gz(t, "3\n4\n"))
	in := open(t, strings.NewReader("x\n"), a, b)
	if !in.Again() {
		t.Error("files cannot be read again")
	}
	for range 2 {
		if got, err := keysOf(in); err != nil || !slices.Equal(got, []string{"1", "2", "3", "4"}) {
			t.Errorf("got %q, %v", got, err)
		}
		if in.Done() != in.Size() || in.Size() == 0 {
			t.Errorf("done %d of %d bytes", in.Done(), in.Size())
		}
	}
	in = open(t, strings.NewReader("x\n"), a, Stdin, b)
	if in.Again() || in.Size() != 0 {
		t.Errorf("again %v, size %d", in.Again(), in.Size())
	}
	if got, err := keysOf(in); err != nil || !slices.Equal(got, []string{"1", "2", "x", "3", "4"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestBlocksKnowTheirLines(t *testing.T) {
	effort.OneGoroutine(t)
	var text strings.Builder
	for i := 1; text.Len() < 5*blockSize; i++ {
		fmt.Fprintf(&text, "%d\n", i)
	}
	path := write(t, []byte(text.String()))
	r := open(t, nil, path, path).Reader()
	want, files := 1, 0
	for {
		var b Block
		err := r.Next(&b)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.First == 1 {
			want = 1
			files++
		}
		if b.Name != path || b.First != want || !strings.HasPrefix(string(b.Text), fmt.Sprintln(want)) {
			t.Fatalf("block %s:%d begins with %.10q, want line %d", b.Name, b.First, b.Text, want)
		}
		want += b.Lines()
	}
	if files != 2 {
		t.Errorf("%d files", files)
	}
}

func TestLongLines(t *testing.T) {
	effort.OneGoroutine(t)
	long := strings.Repeat("x", MaxLine)
	for name, c := range map[string]struct {
		text string
		want string // error
	}{
		"longest":          {"a\n" + long + "\nb\n", ""},
		"longest, at end":  {"a\n" + long, ""},
		"too long":         {"a\nb\n" + long + "x\nb\n", "-:3: line is longer than 16 MiB"},
		"too long, at end": {long + "x", "-:1: line is longer than 16 MiB"},
		"endless":          {long + long, "-:1: line is longer than 16 MiB"},
	} {
		keys, err := keysOf(open(t, strings.NewReader(c.text)))
		switch {
		case c.want == "" && (err != nil || !slices.Equal(keys, keysIn(c.text))):
			t.Errorf("%s: %d keys, %v", name, len(keys), err)
		case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	folder := t.TempDir()
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{folder}, folder + ": is a folder: name the files in it"},
		{[]string{"missing"}, "missing: no such file or directory"},
		{[]string{Stdin, Stdin}, "-: the standard input is named twice: name it once"},
	} {
		if _, err := Open(c.names, nil, Rules{}); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.names, err, c.want)
		}
	}
}

func TestDamageIsReportedWithItsPlace(t *testing.T) {
	broken := errors.New("broken")
	zipped := gz(t, randomText(rand.New(rand.NewPCG(1, 2)), 100))
	flipped := slices.Clone(zipped)
	flipped[len(flipped)-6] ^= 1 // in the checksum
	for name, c := range map[string]struct {
		r    io.Reader
		want string
	}{
		"read error":     {io.MultiReader(strings.NewReader("a\nb\nc"), iotest.ErrReader(broken)), "-:3: broken"},
		"first read":     {iotest.ErrReader(broken), "-:1: broken"},
		"gzip cut":       {bytes.NewReader(zipped[:len(zipped)-9]), "gzip data is damaged: unexpected EOF"},
		"gzip head cut":  {bytes.NewReader(zipped[:5]), "-: gzip data is damaged: unexpected EOF"},
		"gzip checksum":  {bytes.NewReader(flipped), "gzip data is damaged: gzip: invalid checksum"},
		"gzip then text": {io.MultiReader(bytes.NewReader(zipped), strings.NewReader("rubbish, not compressed")), "gzip data is damaged: gzip: invalid header"},
		"no progress":    {stuck{}, "-:1: multiple Read calls return no data or error"},
	} {
		_, err := keysOf(open(t, c.r))
		if !errors.As(err, new(*Error)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// stuck reads nothing and never ends.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestErrorsOfWorkAndUseEndTheLoop(t *testing.T) {
	text := strings.Repeat("key\n", blockSize)
	stop := errors.New("stop")
	nothing := func(*Block, *int) error { return nil }
	third := func(b *Block, _ *int) error {
		if b.First > 1 {
			return stop
		}
		return nil
	}
	if err := Each(context.Background(), open(t, strings.NewReader(text)), third, nothing); !errors.Is(err, stop) {
		t.Errorf("work: %v", err)
	}
	if err := Each(context.Background(), open(t, strings.NewReader(text)), nothing, third); !errors.Is(err, stop) {
		t.Errorf("use: %v", err)
	}
}

func TestEndOfContextEndsTheLoop(t *testing.T) {
	nothing := func(*Block, *int) error { return nil }

	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe() // without a writer: the reader waits for ever
	defer w.Close()
	waiting := make(chan struct{})
	go func() { <-waiting; cancel() }()
	in := open(t, iotest.DataErrReader(&announcer{r, waiting}))
	if err := Each(ctx, in, nothing, nothing); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting: %v", err)
	}

	ctx, cancel = context.WithCancel(context.Background())
	err := Each(ctx, open(t, endless{}), nothing, func(b *Block, _ *int) error {
		if b.First > blockSize {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("busy: %v", err)
	}
}

// announcer tells when it is first read from.
type announcer struct {
	r    io.Reader
	told chan struct{}
}

func (a *announcer) Read(p []byte) (int, error) {
	if a.told != nil {
		close(a.told)
		a.told = nil
	}
	return a.r.Read(p)
}

// endless gives lines for ever.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	return copy(p, strings.Repeat("key\n", len(p)/4+1)), nil
}

func TestNamesFindsAFileByAnyName(t *testing.T) {
	path := write(t, []byte("a\n"))
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	in := open(t, nil, link)
	if !in.Names(path) || in.Names(path+".other") || in.Names(t.TempDir()) {
		t.Error("wrong answer")
	}
}

func TestNothingIsAllocatedPerLine(t *testing.T) {
	nothing := func(*Block, *int) error { return nil }
	cost := func(blocks int) float64 {
		path := write(t, bytes.Repeat([]byte("key\n"), blocks*blockSize/4))
		return testing.AllocsPerRun(3, func() {
			if err := Each(context.Background(), open(t, nil, path), nothing, nothing); err != nil {
				t.Error(err)
			}
		})
	}
	if a, b := cost(10), cost(60); b > a+20 {
		t.Errorf("%g allocations for 10 blocks, %g for 60", a, b)
	}
}

func FuzzKeys(f *testing.F) {
	for _, s := range []string{"", "a\nb", "\r\n", "\x1f\x8b\x08", "\x00\n\n"} {
		f.Add([]byte(s))
	}
	for _, data := range packed(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := Open(nil, bytes.NewReader(data), Rules{Force: true})
		if err != nil {
			t.Fatal(err)
		}
		got, err := keysOf(in)
		if detect(bufio.NewReader(bytes.NewReader(data))) != nil {
			return // whatever it is, it did not panic
		}
		if err != nil || !slices.Equal(got, keysIn(string(data))) {
			t.Fatalf("got %q, %v, want %q", got, err, keysIn(string(data)))
		}
	})
}
