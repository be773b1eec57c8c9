package lines

import (
	"slices"
	"strings"
	"testing"
)

func TestKeysOutOfLines(t *testing.T) {
	for _, c := range []struct {
		name  string
		rules Rules
		text  string
		want  []string
	}{
		{"blanks", Rules{Field: 2}, "0.0.0.0 a.org # ad\n\t0.0.0.0\t\tb.org \nx\n\n", []string{"a.org", "b.org"}},
		{"first field", Rules{Field: 1}, "  a b\r\nc\n \n", []string{"a", "c"}},
		{"delimiter", Rules{Field: 2, Delimiter: ","}, "1, a,x\n2,\n3\n4,d\n,,\n", []string{" a", "d"}},
		{"long delimiter", Rules{Field: 3, Delimiter: "::"}, "a::b::c\na:b::c\n::::d::\n", []string{"c", "d"}},
		{"comments", Rules{Comments: []string{"#", ";;"}}, "# a\n \t#b\nc # d\n;e\n;;f\n", []string{"c # d", ";e"}},
		{"comments and field", Rules{Comments: []string{"#"}, Field: 1}, "#a b\nc #d\n", []string{"c"}},
		{"case", Rules{IgnoreCase: true}, "ÄB\nab\xffC\nΣ\n", []string{"äb", "ab\xffc", "σ"}},
		{"zero", Rules{Zero: true}, "a\nb\x00c\r\x00\x00d", []string{"a\nb", "c\r", "d"}},
	} {
		got, err := keysOf(openRules(t, c.rules, strings.NewReader(c.text)))
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

// TestSpansAreWholeLines compares Cut with a plain search, at every place that a
// line end can have among eight bytes.
func TestSpansAreWholeLines(t *testing.T) {
	for length := range 18 {
		for ends := range 1 << min(length, 12) {
			text := make([]byte, length)
			for i := range text {
				text[i] = "x\n"[ends>>i&1]
			}
			b := Block{Text: text, rules: &Rules{}}
			var got []string
			for _, l := range b.Cut() {
				got = append(got, string(text[l.From:l.End]))
				if want := strings.TrimSuffix(got[len(got)-1], "\n"); string(text[l.From:l.To]) != want {
					t.Fatalf("%q: %+v, want %q", text, l, want)
				}
			}
			if want := slices.Collect(strings.Lines(string(text))); !slices.Equal(got, want) {
				t.Fatalf("%q: %q, want %q", text, got, want)
			}
		}
	}
}

func TestWhatIsNoListIsRefused(t *testing.T) {
	zeros := strings.Repeat("\x00", 257)
	for name, c := range map[string]struct{ text, want string }{
		"filter":     {"\x89EVBL\r\n\x1a\n", "-: looks like an everbloom filter, not a list of keys: give --force to take its lines as keys"},
		"executable": {"\x7fELF\n", "-: looks like an executable, "},
		"picture":    {"\x89PNG\r\n\x1a\n", "-: looks like a picture, "},
		"zip":        {"PK\x03\x04\n", "-: is a zip archive, not a list of keys: pipe the list in with unzip -p"},
		"7z":         {"7z\xbc\xaf\x27\x1c\n", "-: is a 7z archive, "},
		"lz4":        {"\x04\x22\x4d\x18\n", "-: is lz4-compressed, "},
		"tar.gz":     {string(gz(t, zeros+"ustar")), "-: is a tar archive, "},
		"utf-16":     {"\xff\xfea\x00\n\x00", "-: is UTF-16 text, "},
		"zero bytes": {"a\nb\x00", "-: looks like a binary file, "},
		"noise":      {"\x01\x8f\xb2\xe6\n\xf0\x91", "-: looks like a binary file, "},
	} {
		_, err := keysOf(open(t, strings.NewReader(c.text)))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if _, err := keysOf(openRules(t, Rules{Force: true}, strings.NewReader(c.text))); err != nil {
			t.Errorf("%s, forced: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"KOI8-R":        "\xf0\xf2\xe9\xf7\xe5\xf4\n\xed\xe9\xf2\n",
		"terminal":      "\x1b[1mbold\x1b[0m\tx\n",
		"late zero":     strings.Repeat("key\n", sniffSize) + "\x00\n",
		"byte order":    "\ufeffkey\n",
		"cut character": strings.Repeat("ä", sniffSize) + "\n",
	} {
		if _, err := keysOf(open(t, strings.NewReader(text))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestByteOrderMarkIsNoPartOfAKey(t *testing.T) {
	for text, want := range map[string]string{
		"\ufeffa\nb\n":       "a b",
		"\ufeffa":            "a",
		"\ufeff\r\nb\n":      "b",
		"\ufeff":             "",
		"a\n\ufeffb\n":       "a \ufeffb",
		"\xef\xbb\n\ufeff\n": "\xef\xbb \ufeff",
	} {
		keys, err := keysOf(open(t, strings.NewReader(text)))
		if got := strings.Join(keys, " "); err != nil || got != want {
			t.Errorf("%q: %q (%v), want %q", text, got, err, want)
		}
	}
}
