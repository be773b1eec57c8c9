package exact

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// script generates packets of few users with few words, so that chains, strikes, bans
// and unbans are frequent.
type script struct {
	r      *rand.Rand
	config gate.Config
	users  []netip.Addr
	words  []uint32
}

func newScript(tb testing.TB, seed uint64) *script {
	tb.Helper()
	s := &script{r: rand.New(rand.NewPCG(seed, 0))}
	for i := range 40 {
		switch i % 4 {
		case 0:
			s.users = append(s.users, netip.AddrFrom4([4]byte{10, 0, byte(i / 8), byte(i)}))
		case 1:
			s.users = append(s.users, netip.MustParseAddr(fmt.Sprintf("2001:db8:%d::%d", i/8, i)))
		case 2:
			s.users = append(s.users, netip.MustParseAddr(fmt.Sprintf("::ffff:10.0.%d.%d", i/8, i-2)))
		default:
			s.users = append(s.users, netip.AddrFrom4([4]byte{byte(i), 1, 2, 3}))
		}
	}
	letters := 2 + s.r.IntN(4)
	for range letters {
		s.words = append(s.words, s.r.Uint32())
	}
	s.config = gate.Config{
		Users: 1000, Patterns: s.patterns(tb), Strikes: 1 + s.r.IntN(4), DropFlagged: s.r.IntN(2) == 0,
		Window: time.Duration(s.r.IntN(3)) * 20, IPv6Prefix: []int{0, 48, 64, 128}[s.r.IntN(4)], Hash: filter.XXH3(1),
		Blacklist: []netip.Prefix{netip.MustParsePrefix("10.0.1.0/24"), netip.MustParsePrefix("2001:db8:3::/48"), netip.PrefixFrom(s.users[0], 32)},
		Whitelist: []netip.Prefix{netip.MustParsePrefix("10.0.2.16/28"), netip.MustParsePrefix("2001:db8:2::/64")},
	}
	// Parts of users, where these are networks: each has a neighbour that is not listed.
	for _, text := range []string{"2001:db8::1/128", "2001:db8:1::8/125", "2001:db8:4::/123"} {
		s.config.Blacklist = append(s.config.Blacklist, netip.MustParsePrefix(text))
	}
	s.config.Whitelist = append(s.config.Whitelist, netip.MustParsePrefix("2001:db8:4::37/128"))
	return s
}

func (s *script) patterns(tb testing.TB) *pattern.Automaton {
	tb.Helper()
	var list []pattern.Pattern
	for i := range 1 + s.r.IntN(6) {
		p := pattern.Pattern{Name: fmt.Sprint(i)}
		for range 1 + s.r.IntN(5) {
			p.Words = append(p.Words, s.word())
		}
		list = append(list, p)
	}
	a, err := pattern.Compile(list)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

func (s *script) word() uint32     { return s.words[s.r.IntN(len(s.words))] }
func (s *script) user() netip.Addr { return s.users[s.r.IntN(len(s.users))] }

// duel is a script whose packets both gates judge.
type duel struct {
	*script
	*Check
	t *testing.T
}

func newDuel(t *testing.T, seed uint64, kind string) *duel {
	t.Helper()
	s := newScript(t, seed)
	s.config.Kind, s.config.Confirm = kind, gate.ConfirmAlways
	c, err := NewCheck(s.config)
	if err != nil {
		t.Fatal(err)
	}
	return &duel{s, c, t}
}

// packet has both gates judge a packet of a user.
func (d *duel) packet(src netip.Addr, words []uint32, at int64) {
	d.t.Helper()
	if got, want := d.Step(&packets.Packet{Src: src, Words: words, At: at, Number: d.report.Packets + 1}); got != want {
		d.t.Fatalf("%s, packet of %v, words %x: %+v, want %+v", d.config.Kind, src, words, got, want)
	}
}

// question compares what both know of a user. Other kinds pin keys, and then both of
// their sets claim a banned user.
func (d *duel) question(src netip.Addr) {
	d.t.Helper()
	got, want := d.ask(src)
	if exact := d.config.Kind == "evergreen" || d.config.Kind == "elastic"; got.Standing != want.Standing || exact && got != want {
		d.t.Fatalf("%s, query %v: %+v, want %+v", d.config.Kind, src, got, want)
	}
}

func (d *duel) unban(src netip.Addr) {
	d.t.Helper()
	if got, want := d.Engine.Unban(src), d.Exact.Unban(src); (got == nil) != (want == nil) {
		d.t.Fatalf("%s, unban %v: %v, want %v", d.config.Kind, src, got, want)
	}
}

// TestEngineEqualsExactGate holds packet by packet, answer by answer and unban by
// unban, for every kind, if hits are confirmed. Both sets err too rarely to matter.
func TestEngineEqualsExactGate(t *testing.T) {
	for seed := range effort.PickVariant[uint64](10, 30, 100) {
		d := newDuel(t, seed, gate.Kinds()[seed%5])
		for i := range 3000 {
			src := d.user()
			switch d.r.IntN(40) {
			case 0:
				d.unban(src)
			case 1:
				d.question(src)
			default:
				words := make([]uint32, d.r.IntN(4))
				for j := range words {
					words[j] = d.word()
				}
				d.packet(src, words, int64(i)+int64(d.r.IntN(30))) // some come before their time
			}
		}
		if r := d.Report(0, 0); r.First != nil || r.WronglyPassed()+r.WronglyRejected()+r.Otherwise != 0 {
			t.Fatalf("%s, seed %d: %+v", d.config.Kind, seed, r)
		}
	}
}

// TestEngineEqualsExactGateOnPayloads sends bytes of few letters in several flows of each
// user, among them patterns in either case.
func TestEngineEqualsExactGateOnPayloads(t *testing.T) {
	for seed := range effort.PickVariant[uint64](10, 30, 100) {
		r := rand.New(rand.NewPCG(seed, 1))
		text := func(n int) (b []byte) {
			for range n {
				b = append(b, "abABxy.:"[r.IntN(8)])
			}
			return b
		}
		var list []pattern.Pattern
		for i := range 1 + r.IntN(6) {
			list = append(list, pattern.Pattern{Name: fmt.Sprint(i), Bytes: text(3 + r.IntN(5)), NoCase: r.IntN(2) == 0})
		}
		a, err := pattern.Compile(list)
		if err != nil {
			t.Fatal(err)
		}
		c, err := NewCheck(gate.Config{Users: 10_000, Patterns: a, Strikes: 1 + r.IntN(4), Window: time.Duration(r.IntN(2)) * 500})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 5000 {
			p := packets.Packet{Src: netip.AddrFrom4([4]byte{10, 0, 0, byte(r.IntN(200))}), Payload: text(r.IntN(12)), At: 1 + int64(i+r.IntN(50)), Number: uint64(i + 1)}
			p.From, p.To, p.Ports = p.Src, p.Src, [2]uint16{uint16(r.IntN(3)), 1}
			if r.IntN(100) == 0 {
				p.At += 1 << 60 // from the future
			}
			if got, want := c.Step(&p); got != want {
				t.Fatalf("seed %d, packet %d of %v, %q: %+v, want %+v of %v", seed, i, p.Src, p.Payload, got, want, list)
			}
		}
	}
}

// FuzzGate lets a fuzzer write the packets: a byte for the user, one for the word.
func FuzzGate(f *testing.F) {
	f.Add(uint64(1), []byte("\x00\x00\x01\x01\x02\x02\x03\x03"))
	f.Fuzz(func(t *testing.T, seed uint64, packetBytes []byte) {
		d := newDuel(t, seed%1000, "evergreen")
		for at, pair := range slices.Collect(slices.Chunk(packetBytes, 2)) {
			src := d.users[int(pair[0])%len(d.users)]
			if len(pair) == 1 || pair[1] >= 250 {
				d.unban(src)
				continue
			}
			d.packet(src, d.words[int(pair[1])%len(d.words):][:1], int64(at))
		}
	})
}
