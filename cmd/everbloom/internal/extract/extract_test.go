package extract

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// parts returns what the finder called name finds, other forms after a "=".
func parts(t *testing.T, name, text string) []string {
	t.Helper()
	find, err := New(name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range find(nil, []byte(text)) {
		part := text[p.From:p.To]
		if p.Also != "" {
			part += "=" + p.Also
		}
		out = append(out, part)
	}
	return out
}

func TestPartsOfALine(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"ip", "Failed password for root from 218.75.153.170 port 33011 ssh2", "218.75.153.170"},
		{"ip", "192.0.2.1:80 [2001:db8::1]:443, 10.0.0.0/8; SRC=10.1.2.3,DST=10.1.2.4.", "192.0.2.1 2001:db8::1 10.0.0.0 10.1.2.3 10.1.2.4"},
		{"ip", "from 2001:db8::1: closed, fe80::1%eth0 and 2001:db8:: went", "2001:db8::1 fe80::1 2001:db8::"},
		{"ip", "2001:0DB8:0:0::1 ::ffff:192.0.2.1 2001:DB8::A", "2001:0DB8:0:0::1=2001:db8::1 ::ffff:192.0.2.1=192.0.2.1 2001:DB8::A=2001:db8::a"},
		{"ip", "12:34:56 1.2.3 1.2.3.4.5 v1.2.3.4 1.2.3.4.example.org std::cout 256.1.1.1 01.2.3.4 a.b.c.d 00:11:22:33:44:55", ""},
		{"ip", strings.Repeat("1:2:3:4:", 20), ""},
		{"ip", "1.2.3.4-5.6.7.8", "1.2.3.4 5.6.7.8"},
		{"ip", "", ""},
		{"ip", ".", ""},
		{"ip", "é1.2.3.4", ""},
		{"word", `GET /a/b?q=x HTTP/1.1 "mail.example.org." user_1@b-c.net -- --v ...`, "GET a b q x HTTP 1.1 mail.example.org user_1 b-c.net v"},
		{"word", "caf\u00e9 na\u00efve", "caf\u00e9 na\u00efve"},
		{`user=(\w+)`, "user=ann user= user=bob", "ann bob"},
		{`[a-z]+(\d)?`, "ab1 cd", "1"},
		{`x*`, "axxb", "xx"},
	} {
		if got := parts(t, c.name, c.text); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s in %q: %q, want %s", c.name, c.text, got, c.want)
		}
	}
	for _, name := range []string{"", "(", "a**"} {
		if _, err := New(name); err == nil || !strings.Contains(err.Error(), "take ip, word or a regular expression") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestFindingAddressesAllocatesNothing(t *testing.T) {
	line := []byte("Mar 27 13:06:56 ip-10-77-20-248 sshd[1291]: Accepted publickey for ubuntu from 85.245.107.41 port 54259 ssh2")
	found := make([]Part, 0, 8)
	if n := testing.AllocsPerRun(10, func() { found = addresses(found[:0], line) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

// FuzzAddresses looks for every address that stands between blanks, in any text.
func FuzzAddresses(f *testing.F) {
	f.Add("from 192.0.2.1 to ::1")
	f.Add("2001:db8::1:")
	f.Add("1.2.3.04 255.255.255.256 1..2.3 .1.2.3.4")
	f.Fuzz(func(t *testing.T, text string) {
		found := addresses(nil, []byte(text))
		end := 0
		for _, p := range found {
			if a, err := netip.ParseAddr(text[p.From:p.To]); err != nil || p.From < end || p.Also != "" && a.Unmap().String() != p.Also {
				t.Fatalf("%q: %+v: %v", text, p, err)
			}
			end = p.To
		}
		for word := range strings.SplitSeq(text, " ") {
			if a, err := netip.ParseAddr(word); err != nil || a.Zone() != "" {
				continue
			}
			if !slices.ContainsFunc(found, func(p Part) bool { return text[p.From:p.To] == word }) {
				t.Fatalf("%q: %s was not found", text, word)
			}
		}
	})
}
