package traffic

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/gopacket/gopacket/layers"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/capture"
	"github.com/everbloom-go/everbloom/internal/capture/capturetest"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
	"github.com/everbloom-go/everbloom/internal/timing"
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

// records returns generated packets, the automaton of their patterns and the black list.
func records(b *testing.B, users int, count uint64) ([]gate.Record, *pattern.Automaton, []netip.Prefix) {
	b.Helper()
	made, err := New(Config{Seed: 1, Users: users, Packets: count, Blacklisted: users / 4})
	if err != nil {
		b.Fatal(err)
	}
	a, err := pattern.Compile(made.Patterns())
	if err != nil {
		b.Fatal(err)
	}
	list := make([]gate.Record, 0, count)
	var p packets.Packet
	for made.Read(&p) == nil {
		list = append(list, gate.Record{Src: p.Src, Word: p.Words[0]})
	}
	return list, a, made.Blacklist()
}

// BenchmarkAgainstAnOpenTable judges the same records of a million users by an exact gate and
// by the engine, in turns of some thousand records: the ratios are what filters, secrets and
// limits cost. One operation is all records.
func BenchmarkAgainstAnOpenTable(b *testing.B) {
	const users, count, passes, turn = 1_000_000, 640 * 8192, 2, 8192 // 10 packets of each user
	list, a, black := records(b, users, count)
	config := gate.Config{Users: users, Patterns: a, Blacklist: black}
	b.ResetTimer()
	for range b.N {
		open := newOpenGate(a, 21)
		for _, p := range black {
			x := p.Addr().As4()
			addr := binary.BigEndian.Uint32(x[:])
			*open.find(addr) = openUser{addr: addr, used: true, banned: true}
		}
		one, err := gate.New(config)
		if err != nil {
			b.Fatal(err)
		}
		batch, err := gate.New(config)
		if err != nil {
			b.Fatal(err)
		}
		out := make([]gate.Verdict, turn)
		var spent [3]time.Duration
		timing.Pinned(func() {
			for from := 0; from < passes*count; from += turn {
				at := from % count
				part := list[at:min(count, at+turn)]
				for i, judge := range []func(){
					func() {
						for j := range part {
							open.step(part[j].Src, part[j].Word)
						}
					},
					func() {
						for j := range part {
							one.Step(part[j].Src, part[j].Word, 0)
						}
					},
					func() { batch.StepBatch(part, out) },
				} {
					began := timing.Thread()
					judge()
					spent[i] += timing.Thread() - began
				}
			}
		})
		b.ReportMetric(float64(spent[0].Nanoseconds())/(passes*count), "ns/open")
		b.ReportMetric(float64(spent[1])/float64(spent[0]), "step/open")
		b.ReportMetric(float64(spent[2])/float64(spent[0]), "batch/open")
	}
}

// BenchmarkCaptures reads frames of 64 bytes of payload, packets of them, and judges these, in
// turns: the ratios are what a gate costs beside reading.
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
	e, err := gate.New(gate.Config{Users: 200_000, Patterns: a})
	if err != nil {
		b.Fatal(err)
	}
	read := func(judge func(*packets.Packet)) {
		in, err := packets.Open(bytes.NewReader(data), packets.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for p := (packets.Packet{}); in.Read(&p) == nil; {
			judge(&p)
		}
	}
	turns := []func(){
		func() {
			in, err := capture.NewReader(bufio.NewReader(bytes.NewReader(data)))
			if err != nil {
				b.Fatal(err)
			}
			for f := (capture.Frame{}); in.Read(&f) == nil; {
			}
		},
		func() { read(func(*packets.Packet) {}) },
		func() { read(func(p *packets.Packet) { p.Judge(e) }) },
	}
	b.ResetTimer()
	var spent [3][]float64
	timing.Pinned(func() {
		for range b.N {
			for i, turn := range turns {
				began := timing.Thread()
				turn()
				spent[i] = append(spent[i], float64(timing.Thread()-began)/float64(len(frames)))
			}
		}
	})
	b.ReportMetric(timing.Median(spent[0]), "ns/frame")
	b.ReportMetric(timing.Ratio(spent[1], spent[0]), "packets/frames")
	b.ReportMetric(timing.Ratio(spent[2], spent[0]), "judged/frames")
}
