package gate

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/gate/pattern"
)

// The words of the tests are letters: patterns are abc, x and yy.
func testPatterns(tb testing.TB) *pattern.Automaton {
	tb.Helper()
	a, err := pattern.Compile([]pattern.Pattern{
		{Name: "abc", Words: letters("abc")}, {Name: "x", Words: letters("x")}, {Name: "yy", Words: letters("yy")},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

func letters(text string) []uint32 {
	var words []uint32
	for _, r := range text {
		words = append(words, uint32(r))
	}
	return words
}

// gate returns an engine for small tests.
func gate(tb testing.TB, c Config) *Engine {
	tb.Helper()
	if c.Patterns == nil {
		c.Patterns = testPatterns(tb)
	}
	if c.Users == 0 {
		c.Users = 1000
	}
	c.Hash = cmp.Or(c.Hash, filter.XXH3(1)) // the same false positives each time
	e, err := New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

func v4(i uint32) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], i)
	return netip.AddrFrom4(b)
}

// source returns one of many addresses, spread over all of them without repetition, and
// entry the same as a prefix.
func source(i uint32) netip.Addr  { return v4(i * 0x9E3779B1) }
func entry(i uint32) netip.Prefix { return netip.PrefixFrom(source(i), 32) }

func addr(text string) netip.Addr { return netip.MustParseAddr(text) }

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, t := range texts {
		if !strings.Contains(t, "/") {
			list = append(list, netip.PrefixFrom(addr(t), addr(t).BitLen()))
			continue
		}
		list = append(list, netip.MustParsePrefix(t))
	}
	return list
}

// play sends packets, each a letter for the user and one for every word, such as
// "1a 2b 1bc", and returns a letter for each verdict: . passed, * passed with a
// strike, d dropped, r rejected, B banned. A second passes before each packet.
func play(e *Engine, packets string) string {
	var out strings.Builder
	for i, p := range strings.Fields(packets) {
		v := e.StepWords(v4(uint32(p[0])), letters(p[1:]), int64(i+1)*int64(time.Second))
		out.WriteString(sign(v))
	}
	return out.String()
}

func sign(v Verdict) string {
	switch {
	case v.Action == Pass && v.Reason == Struck:
		return "*"
	case v.Action == Pass:
		return "."
	}
	return string("?drB"[v.Action])
}

func TestRules(t *testing.T) {
	for _, c := range []struct {
		rule, packets, want string
		config              Config
	}{
		{rule: "ordinary words pass", packets: "1q 1q 2q", want: "..."},
		{rule: "a pattern is a strike, the third bans", packets: "1x 1x 1x 1q 1x", want: "**Brr"},
		{rule: "a chain spans packets", packets: "1a 1b 1c", want: "..*"},
		{rule: "other users do not break a chain", packets: "1a 2a 1b 3q 2b 1c 2c", want: ".....**"},
		{rule: "other words break it", packets: "1a 1b 1q 1c", want: "...."},
		{rule: "words of other patterns break it", packets: "1a 1b 1y 1c", want: "...."},
		{rule: "any position may begin one", packets: "1a 1a 1b 1a 1b 1c", want: ".....*"},
		{rule: "the chain restarts after a match", packets: "1y 1y 1y 1y", want: ".*.*"},
		{rule: "a chain after a strike", packets: "1x 1a 1b 1c 1y 1y", want: "*..*.B"},
		{rule: "strikes are those of one user", packets: "1x 2x 3x 1x 2x 1x 3x", want: "*****B*"},
		{rule: "at most one strike per packet", packets: "1xxxabc 1abcx 1q 1x", want: "**.B"},
		{rule: "the rest of a packet may begin a chain", packets: "1xa 1b 1c", want: "*.*"},
		{rule: "packets without words change nothing", packets: "1a 1 1b 1 1c", want: "....*"},
		{rule: "long packets", packets: "1qqabcq 1qqqab 1c", want: "*.*"},
		{rule: "one strike may do", packets: "1a 1b 1c 1q", want: "..Br", config: Config{Strikes: 1}},
		{rule: "five strikes", packets: "1x 1x 1x 1x 1x 1q", want: "****Br", config: Config{Strikes: 5}},
		{rule: "flagged packets are dropped", packets: "1x 1q 1x 1x", want: "d.dB", config: Config{DropFlagged: true}},
		{rule: "strikes expire", packets: "1x 1x 1q 1q 1x 1x 1x", want: "**..**B", config: Config{Window: 2 * time.Second}},
		{rule: "one by one", packets: "1x 1q 1x 1q 1x 1q 1x", want: "*.*.*.*", config: Config{Window: 3 * time.Second}},
		{rule: "not too soon", packets: "1x 1q 1x 1q 1x 1q", want: "*.*.Br", config: Config{Window: 4 * time.Second}},
		{rule: "chains do not expire", packets: "1a 2q 2q 2q 1b 2q 1c", want: "......*", config: Config{Window: time.Second}},
	} {
		for _, kind := range Kinds() {
			c.config.Kind = kind
			if got := play(gate(t, c.config), c.packets); got != c.want {
				t.Errorf("%s (%s): %s gives %s, want %s", c.rule, kind, c.packets, got, c.want)
			}
		}
	}
}

// TestQueryTellsWhenBothSetsClaim bans a user that is pinned in the tracked set.
func TestQueryTellsWhenBothSetsClaim(t *testing.T) {
	e := gate(t, Config{Kind: "deletable"})
	play(e, "1q")
	k := e.identify(v4('1')).key
	if _, err := e.tracked.Add(k); err != nil { // twice in: pinned
		t.Fatal(err)
	}
	play(e, "1x 1x 1x")
	if got, want := e.Query(v4('1')), (Answer{Bad, true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if s := e.Stats(); s.Tracked.Pinned != 1 {
		t.Errorf("%d keys pinned, want 1", s.Tracked.Pinned)
	}
}

func TestStateIsKeptOnlyForChainsAndStrikes(t *testing.T) {
	e := gate(t, Config{})
	for _, c := range []struct {
		packets string
		want    int
	}{{"1q 2q", 0}, {"1a", 1}, {"1q", 0}, {"1x 2a 3y", 3}, {"2b 2b 3q", 1}, {"1x 1x", 0}} {
		if play(e, c.packets); e.states.count != c.want {
			t.Errorf("after %s there are %d states, want %d", c.packets, e.states.count, c.want)
		}
	}
}

// TestListsHoldForTheirAddressesOnly has users that are networks and such that are
// not, and entries of the lists that are one user, many, or a part of one.
func TestListsHoldForTheirAddressesOnly(t *testing.T) {
	type row struct {
		src      string
		reason   Reason
		standing Standing
	}
	for name, c := range map[string]struct {
		config Config
		rows   []row
	}{
		"white before black": {
			Config{Blacklist: prefixes("10.0.0.0/8", "10.0.0.1"), Whitelist: prefixes("10.0.0.0/24", "2001:db8::/32")},
			[]row{{"10.0.0.1", Whitelisted, Good}, {"10.0.0.200", Whitelisted, Good}, {"2001:db8::1", Whitelisted, Good}, {"10.0.1.1", Listed, Bad}},
		},
		"one address in several forms": {
			Config{IPv6Prefix: 128, Blacklist: prefixes("::ffff:1.2.3.4/128", "::ffff:5.0.0.0/104", "fe80::1")},
			[]row{
				{"1.2.3.4", Banned, Bad},
				{"::ffff:1.2.3.4", Banned, Bad},
				{"5.6.7.8", Listed, Bad},
				{"::ffff:5.6.7.8", Listed, Bad},
				{"fe80::1%eth0", Banned, Bad},
				{"fe80::1%eth1", Banned, Bad},
				{"fe80::2%eth0", Clean, Good},
			},
		},
		"users that are networks": {
			Config{IPv6Prefix: 64, Blacklist: prefixes("2001:db8:1:1::/64", "2001:db8:2::/48", "9.0.0.0/8")},
			[]row{
				{"2001:db8:1:1::77", Banned, Bad},
				{"2001:db8:1:2::77", Clean, Good},
				{"2001:db8:2:5::1", Listed, Bad},
				{"9.9.9.9", Listed, Bad},
				{"10.9.9.9", Clean, Good},
			},
		},
		"parts of users": {
			Config{IPv6Prefix: 64, Blacklist: prefixes("2001:db9::1", "2001:dba::8000/113"), Whitelist: prefixes("2001:dbc::7")},
			[]row{
				{"2001:db9::1", Listed, Bad},
				{"2001:db9::1%eth0", Listed, Bad},
				{"2001:db9::2", Clean, Good},
				{"2001:db9::", Clean, Good},
				{"2001:dba::8001", Listed, Bad},
				{"2001:dba::7fff", Clean, Good},
				{"2001:dbc::7", Whitelisted, Good},
				{"2001:dbc::8", Clean, Good},
			},
		},
	} {
		for _, kind := range Kinds() {
			c.config.Kind = kind
			e := gate(t, c.config)
			for _, r := range c.rows {
				if got := e.Step(addr(r.src), 'q', 0).Reason; got != r.reason {
					t.Errorf("%s, %s: %s: %v, want %v", name, kind, r.src, got, r.reason)
				}
				if got := e.Query(addr(r.src)).Standing; got != r.standing {
					t.Errorf("%s, %s: %s is %v, want %v", name, kind, r.src, got, r.standing)
				}
			}
		}
	}
}

func TestStepsDoNotAllocate(t *testing.T) {
	for _, kind := range Kinds() {
		e := gate(t, Config{Kind: kind, Window: time.Hour, Confirm: ConfirmAlways, Blacklist: prefixes("7.0.0.0/8", "9.9.9.9"), Whitelist: prefixes("6.0.0.0/8")})
		words := letters("abqxy")
		flow, payload := []byte("flow"), []byte("\x00\x00\x00a\x00\x00")
		sources := []netip.Addr{v4('1'), v4('2'), addr("9.9.9.9"), addr("7.1.1.1"), addr("6.1.1.1"), addr("2001:db8::1"), addr("::ffff:1.1.1.1")}
		i := 0
		if n := testing.AllocsPerRun(500, func() {
			src := sources[i%len(sources)]
			e.Step(src, words[i%len(words)], int64(i))
			e.StepWords(src, words, int64(i))
			e.StepPayload(src, flow, payload, int64(i))
			e.Query(src)
			i++
		}); n != 0 {
			t.Errorf("%s: %v allocations per packet", kind, n)
		}
	}
}
