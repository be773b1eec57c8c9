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

// TestRulesOfSuricataAreRead takes one content of each.
func TestRulesOfSuricataAreRead(t *testing.T) {
	const text = `# rules
alert http any any -> $HOME_NET 80 (msg:"ET SCAN: a; \"b\""; content:"GET"; content:"/etc/passwd"; nocase; http_uri; content:!"Referer|3a|"; pcre:"/x;y/"; sid:2000001; rev:3;)
drop tcp any any -> any any (msg:"fast"; content:"longer than the other"; content:"|de ad|be\;ef"; fast_pattern; offset:4; sid:2;)
alert udp any any -> any any ( \
  content:"in two lines",nocase; \
  sid:3;)
pass tcp any any -> any any (content:"welcome"; sid:4;)
alert tcp any any -> any any (msg:"short"; content:"abc"; sid:5;)
alert tcp any any -> any any (msg:"none"; flags:S; sid:6;)
alert	tcp any any -> any any (content:"no number";)
alert: "a name"
`
	got, left, err := ReadRules(strings.NewReader(text))
	want := []Pattern{
		{Name: `2000001 ET SCAN a; \"b\`, Bytes: []byte("/etc/passwd"), NoCase: true},
		{Name: "2 fast", Bytes: []byte("\xde\xadbe;ef")},
		{Name: "3", Bytes: []byte("in two lines"), NoCase: true},
		{Name: "line 10", Bytes: []byte("no number")},
		{Name: "alert", Bytes: []byte("a name")},
	}
	if err != nil || left != 3 || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %d left out, %v", got, left, err)
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
		{"alert tcp any any -> any any", "line 1: a rule has no options"},
		{"alert tcp any any -> any any (content:x;)", "no quote before the text"},
		{"alert tcp any any -> any any (content:\"|0|\";)", "not pairs of hexadecimal"},
		{"alert tcp any any (\\", "line 1: a rule does not end"},
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
	f.Add("alert tcp any any -> any any (msg:\"a\"; content:\"|0a|bcd\"; nocase; sid:1;)")
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
		same := func(a, b Pattern) bool {
			return a.Name == b.Name && slices.Equal(a.Words, b.Words) && bytes.Equal(a.Bytes, b.Bytes) && a.NoCase == b.NoCase
		}
		if err != nil || !slices.EqualFunc(list, again, same) {
			t.Fatalf("written and read again: %v, %v", again, err)
		}
	})
}
