package gate

import (
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/gate/pattern"
)

func TestPayloads(t *testing.T) {
	a, err := pattern.Compile([]pattern.Pattern{
		{Name: "evil", Bytes: []byte("evil")}, {Name: "Worm", Bytes: []byte("Worm"), NoCase: true}, {Name: "words", Words: []uint32{0x41424344}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for rule, c := range map[string]struct{ packets, want string }{
		"at any offset":                    {"1:xevil 1:xxxevilx 1:evil 1:q", "**Br"},
		"words, too":                       {"1:xABCD", "*"},
		"in either case where that is due": {"1:wORM 1:EVIL 1:Worm", "*.*"},
		"across packets of a flow":         {"1:ev 1:il", ".*"},
		"other flows do not break it":      {"1:ev 1b:dns 1:il 2:ev 2b:il", "..*.."},
		"strikes are those of the source":  {"1:evil 1b:evil 1c:evil 1d:q", "**Br"},
		"one strike per packet":            {"1:evilevilevil 1:e 1:vil", "*.*"},
		"nothing to search":                {"1: 1:", ".."},
	} {
		e := gate(t, Config{Patterns: a})
		var got strings.Builder
		for p := range strings.FieldsSeq(c.packets) {
			flow, payload, _ := strings.Cut(p, ":")
			got.WriteString(sign(e.StepPayload(v4(uint32(p[0])), []byte(flow), []byte(payload), 0)))
		}
		if got.String() != c.want {
			t.Errorf("%s: %s gives %s, want %s", rule, c.packets, got.String(), c.want)
		}
	}
}

// TestUsersAreWhatIsBanned holds for addresses of both families.
func TestUsersAreWhatIsBanned(t *testing.T) {
	e := gate(t, Config{})
	for src, want := range map[string]string{"1.2.3.4": "1.2.3.4/32", "::ffff:1.2.3.4": "1.2.3.4/32", "2001:db8::7%eth0": "2001:db8::/64"} {
		if got := e.User(addr(src)).String(); got != want {
			t.Errorf("%s: %s, want %s", src, got, want)
		}
	}
	e.Ban(addr("2001:db8::7"))
	if v := e.Step(addr("2001:db8::8"), 'q', 0); v.Reason != Banned {
		t.Errorf("%+v", v)
	}
}

// TestRatesCanBeAskedFor has sets of every kind with as many keys as expected.
func TestRatesCanBeAskedFor(t *testing.T) {
	for _, kind := range Kinds() {
		e := gate(t, Config{Kind: kind, FPR: 0.01, Users: 2000, Banned: 2000})
		for i := range uint32(2000) {
			e.Step(source(i), 'q', 0)
		}
		if s := e.Stats(); s.Tracked.FPR > 0.011 || s.Tracked.FPR == 0 {
			t.Errorf("%s: rate %g", kind, s.Tracked.FPR)
		}
	}
}
