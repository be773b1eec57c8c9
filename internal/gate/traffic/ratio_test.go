package traffic

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/gopacket/gopacket/layers"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/capture"
	"github.com/everbloom-go/everbloom/internal/capture/capturetest"
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

// BenchmarkCaptures reads frames of 64 bytes of payload, and judges them: the ratio is what
// a gate costs beside reading.
func BenchmarkCaptures(b *testing.B) {
	var frames [][]byte
	r := rand.New(rand.NewPCG(1, 0))
	for i := range 20_000 {
		payload := make([]byte, 64)
		for j := range payload {
			payload[j] = byte(r.Uint32())
		}
		f := append(make([]byte, 12), 8, 0, 0x45, 0, 0, 20+20+64, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, byte(i%2000>>8), byte(i%2000), 10, 0, 0, 1)
		f = append(append(f, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 5<<4, 0x10, 0, 0, 0, 0, 0, 0), payload...)
		binary.BigEndian.PutUint32(f[38:], uint32(i/2000*64)) // ten segments of each stream
		frames = append(frames, f)
	}
	data := capturetest.Pcap(b, layers.LinkTypeEthernet, frames...)
	made, err := New(Config{Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	a, err := pattern.Compile(made.Patterns())
	if err != nil {
		b.Fatal(err)
	}
	b.Run("frames", func(b *testing.B) {
		var f capture.Frame
		var frames *capture.Reader
		for b.Loop() {
			if frames == nil || frames.Read(&f) != nil {
				frames, _ = capture.NewReader(bufio.NewReader(bytes.NewReader(data)))
			}
		}
	})
	for name, judged := range map[string]bool{"packets": false, "judged": true} {
		b.Run(name, func(b *testing.B) {
			e, err := gate.New(gate.Config{Users: 200_000, Patterns: a})
			if err != nil {
				b.Fatal(err)
			}
			var in packets.Reader
			var p packets.Packet
			for b.Loop() {
				if in == nil || in.Read(&p) != nil {
					in, _ = packets.Open(bytes.NewReader(data), packets.Options{})
					continue
				}
				if judged {
					p.Judge(e)
				}
			}
		})
	}
}
