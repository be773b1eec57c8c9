package pattern

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestReadUnderstandsBothNotations(t *testing.T) {
	const text = `
# what must not be sent
shell code: deadbeef 00000000000000000000000000000111
one:0000002A   # a single word

`
	got, err := Read(strings.NewReader(text))
	want := []Pattern{
		{Name: "shell code", Words: []uint32{0xdeadbeef, 7}},
		{Name: "one", Words: []uint32{42}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

func TestReadRefusesAndSaysWhere(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a: 1", `line 1: word "1": 1 characters, must be 8 hexadecimal or 32 binary digits`},
		{"\na: +1234567", `line 2: word "+1234567": must be`},
		{"a: 1234_678", `must be 8 hexadecimal`},
		{"a: 0000000000000000000000000000000g", `word "0000000000000000000000000000000g": must be`},
		{"a 12345678", `line 1: "a 12345678": no colon behind the name`},
		{"a:", "line 1: pattern: a: 0 words, must be 1 to 16"},
		{"a:" + strings.Repeat(" 12345678", 17), "17 words, must be 1 to 16"},
		{": 12345678", "a pattern has no name"},
		{"a: 12345678\na: 12345679", "a: two patterns of that name"},
		{"a: 12345678\nb: " + strings.Repeat("x", maxLine), "line 2: "},
		{"a: " + strings.Repeat("1", 50), strings.Repeat("1", 40) + `…": 50 characters`},
	} {
		if _, err := Read(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: error %v, want %q", c.text, err, c.want)
		}
	}
}

func TestCompileReportsAllProblems(t *testing.T) {
	_, err := Compile([]Pattern{{Name: "a"}, {Name: "b:c", Words: []uint32{1}}, {Name: "a", Words: []uint32{1}}, {Name: " d", Words: []uint32{1}}})
	for _, want := range []string{"a: 0 words", `name "b:c"`, "a: two patterns", `name " d"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// FuzzRead holds that what is read can be compiled, and written and read again.
func FuzzRead(f *testing.F) {
	f.Add("a: 12345678 00000000000000000000000000000001\n# x\nb b: ffffffff")
	f.Add("a:\x00")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		if _, err := Compile(list); err != nil {
			t.Fatalf("%v, which Read accepted", err)
		}
		var out bytes.Buffer
		if err := Write(&out, list); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&out)
		same := func(a, b Pattern) bool { return a.Name == b.Name && slices.Equal(a.Words, b.Words) }
		if err != nil || !slices.EqualFunc(list, again, same) {
			t.Fatalf("written and read again: %v, %v", again, err)
		}
	})
}
