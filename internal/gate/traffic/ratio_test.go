package traffic

import (
	"net/netip"
	"testing"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// openGate is an exact gate for IPv4 over one table with open addressing: what a program
// would do that knows the number of its users and needs no filter.
type openGate struct {
	slots    []openUser
	shift    uint
	patterns *pattern.Automaton
	words    map[uint32]bool
}

type openUser struct {
	addr    uint32
	node    uint32
	strikes uint8
	used    bool
	banned  bool
}

func newOpenGate(a *pattern.Automaton, logarithm uint) *openGate {
	g := &openGate{slots: make([]openUser, 1<<logarithm), shift: 32 - logarithm, patterns: a, words: map[uint32]bool{}}
	for _, w := range a.Words() {
		g.words[w] = true
	}
	return g
}

func (g *openGate) find(addr uint32) *openUser {
	for i := addr * 0x9E3779B1 >> g.shift; ; i++ {
		u := &g.slots[i&uint32(len(g.slots)-1)]
		if !u.used || u.addr == addr {
			return u
		}
	}
}

func (g *openGate) step(src netip.Addr, word uint32) gate.Action {
	b := src.As4()
	u := g.find(uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3]))
	if u.banned {
		return gate.Reject
	}
	if !u.used {
		u.used, u.addr = true, uint32(b[0])<<24|uint32(b[1])<<16|uint32(b[2])<<8|uint32(b[3])
	}
	if u.node == 0 && !g.words[word] {
		return gate.Pass
	}
	u.node = g.patterns.Next(u.node, word)
	if g.patterns.Match(u.node) < 0 {
		return gate.Pass
	}
	u.node = 0
	if u.strikes++; u.strikes < 3 {
		return gate.Pass
	}
	u.banned = true
	return gate.Ban
}

// BenchmarkAgainstAnOpenTable judges the same records of a million users by the gate and by
// an exact one: the ratio of the two is what filters, secrets and limits cost.
func BenchmarkAgainstAnOpenTable(b *testing.B) {
	const users, count = 1_000_000, 4_000_000
	made, err := New(Config{Seed: 1, Users: users, Packets: count, Blacklisted: users / 4})
	if err != nil {
		b.Fatal(err)
	}
	a, err := pattern.Compile(made.Patterns())
	if err != nil {
		b.Fatal(err)
	}
	type record struct {
		src  netip.Addr
		word uint32
	}
	records := make([]record, 0, count)
	var p packets.Packet
	for made.Read(&p) == nil {
		records = append(records, record{p.Src, p.Words[0]})
	}
	b.Run("open", func(b *testing.B) {
		g := newOpenGate(a, 21)
		for _, p := range made.Blacklist() {
			x := p.Addr().As4()
			addr := uint32(x[0])<<24 | uint32(x[1])<<16 | uint32(x[2])<<8 | uint32(x[3])
			*g.find(addr) = openUser{addr: addr, used: true, banned: true}
		}
		i := 0
		for b.Loop() {
			r := &records[i%count]
			g.step(r.src, r.word)
			i++
		}
	})
	for _, kind := range []string{"evergreen", "dleft"} {
		b.Run(kind, func(b *testing.B) {
			e, err := gate.New(gate.Config{Kind: kind, Users: users, Patterns: a, Blacklist: made.Blacklist()})
			if err != nil {
				b.Fatal(err)
			}
			i := 0
			for b.Loop() {
				r := &records[i%count]
				e.Step(r.src, r.word, 0)
				i++
			}
		})
	}
}
