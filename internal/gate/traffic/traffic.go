// Package traffic generates packets for a gate: the same for the same seed.
//
// There are users, some of them evil, and sources on a black list. Every packet is from
// a random one of them. Honest users send ordinary words, sometimes the first word of a
// pattern and nothing of the rest. Evil users send whole patterns word by word, ordinary
// words between them, and sometimes stop inside one.
package traffic

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"

	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/gate/packets"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// Config is the traffic to generate. The zero Config means a million packets of 10,000
// users, a tenth of them evil.
type Config struct {
	Seed    uint64
	Packets uint64 // 0 means 1,000,000

	// Users is the number of sources that are not on the black list; 0 means 10,000.
	Users int

	// Evil is the share of users that send patterns; 0 means 0.1, below 0 none.
	Evil float64

	// Blacklisted is the number of sources on the black list; 0 means a quarter of
	// Users, below 0 none.
	Blacklisted int

	// Patterns is how many patterns there are, of 1 to 8 words; 0 means 64.
	Patterns int

	// Skew is the exponent of Zipf's law, above 1, by which some users send more than
	// others; 0 means that all send alike.
	Skew float64

	// Addresses are used for the users and then for the black list; the rest is
	// generated.
	Addresses []netip.Addr
}

const (
	maxSources = 1 << 28
	longest    = 8 // words of a pattern

	// startOdds is the probability that an evil user outside a pattern begins one, and
	// stopOdds that one inside a pattern stops.
	startOdds = 0.5
	stopOdds  = 0.05

	// listedOdds is the probability that a packet comes from the black list, if there is
	// one, and beginOdds that an honest user's packet begins a pattern.
	listedOdds = 0.05
	beginOdds  = 0.01
)

// withDefaults fills in what was left open and reports everything that is wrong.
func (c Config) withDefaults() (Config, error) {
	c.Packets = cmp.Or(c.Packets, 1_000_000)
	c.Users = cmp.Or(c.Users, 10_000)
	c.Evil = max(0, cmp.Or(c.Evil, 0.1))
	c.Blacklisted = max(0, cmp.Or(c.Blacklisted, c.Users/4))
	c.Patterns = cmp.Or(c.Patterns, 64)
	return c, c.check()
}

func (c Config) check() error {
	var errs []error
	if c.Users < 1 || c.Users > maxSources || c.Blacklisted > maxSources {
		errs = append(errs, fault.Field("traffic", "Users, Blacklisted", "%d and %d, must be 1 to %d", c.Users, c.Blacklisted, maxSources))
	}
	if !(c.Evil >= 0 && c.Evil <= 1) {
		errs = append(errs, fault.Field("traffic", "Evil", "%g, must be 0 to 1", c.Evil))
	}
	if c.Patterns < 1 || c.Patterns > 100_000 {
		errs = append(errs, fault.Field("traffic", "Patterns", "%d, must be 1 to 100000", c.Patterns))
	}
	if c.Skew != 0 && !(c.Skew > 1 && c.Skew < 100) {
		errs = append(errs, fault.Field("traffic", "Skew", "%g, must be 0 or above 1", c.Skew))
	}
	return errors.Join(errs...)
}

// Generator returns the packets. It is a [packets.Reader].
type Generator struct {
	config   Config
	r        *rand.Rand
	zipf     *rand.Zipf
	patterns []pattern.Pattern
	evil     []chain // of the first users
	number   uint64
	word     [1]uint32
}

var _ packets.Reader = (*Generator)(nil)

// A chain is the pattern that an evil user sends, and how many words of it are sent.
type chain struct {
	pattern uint32
	sent    uint8
}

// New returns a generator, or an error that lists all problems of the Config.
func New(c Config) (*Generator, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	g := &Generator{config: c, r: rand.New(rand.NewPCG(c.Seed, 0x6761746520747261))}
	if c.Skew != 0 {
		g.zipf = rand.NewZipf(g.r, c.Skew, 1, uint64(c.Users-1))
	}
	g.evil = make([]chain, int(c.Evil*float64(c.Users)))
	for i := range c.Patterns {
		p := pattern.Pattern{Name: fmt.Sprintf("pattern %d", i+1)}
		for range 1 + i%longest {
			p.Words = append(p.Words, g.r.Uint32())
		}
		g.patterns = append(g.patterns, p)
	}
	return g, nil
}

// Patterns returns the patterns that evil users send.
func (g *Generator) Patterns() []pattern.Pattern { return g.patterns }

// Blacklist returns the sources on the black list.
func (g *Generator) Blacklist() []netip.Prefix {
	list := make([]netip.Prefix, g.config.Blacklisted)
	for i := range list {
		a := g.User(g.config.Users + i)
		list[i] = netip.PrefixFrom(a, a.BitLen())
	}
	return list
}

// Evil returns how many users are evil: the first of them.
func (g *Generator) Evil() int { return len(g.evil) }

// User returns the address of a source, users first and then the black list. Generated
// addresses do not repeat, but may equal one of Config.Addresses.
func (g *Generator) User(i int) netip.Addr {
	if i < len(g.config.Addresses) {
		return g.config.Addresses[i].Unmap()
	}
	x := spread(uint32(i) + uint32(g.config.Seed)*0x9E3779B9)
	return netip.AddrFrom4([4]byte{byte(x >> 24), byte(x >> 16), byte(x >> 8), byte(x)})
}

// spread is a permutation of the numbers of 32 bits that separates neighbours.
func spread(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x85EBCA6B
	x ^= x >> 13
	x *= 0xC2B2AE35
	return x ^ x>>16
}

// Read fills in the next packet, a microsecond after the last. It ends with [io.EOF].
func (g *Generator) Read(p *packets.Packet) error {
	if g.number == g.config.Packets {
		return io.EOF
	}
	g.number++
	*p = packets.Packet{Number: g.number, At: int64(g.number) * 1000, Words: g.word[:]}
	if g.config.Blacklisted > 0 && g.r.Float64() < listedOdds {
		p.Src = g.User(g.config.Users + g.r.IntN(g.config.Blacklisted))
		g.word[0] = g.r.Uint32()
		return nil
	}
	user := g.user()
	p.Src = g.User(user)
	g.word[0] = g.next(user)
	return nil
}

// user chooses the sender. Zipf's law prefers small numbers, which are those of evil
// users, so numbers are permuted.
func (g *Generator) user() int {
	if g.zipf == nil {
		return g.r.IntN(g.config.Users)
	}
	const stride = 0x9E3779B1 // a prime
	return int(g.zipf.Uint64() * stride % uint64(g.config.Users))
}

// next returns the next word of a user.
func (g *Generator) next(user int) uint32 {
	if user < len(g.evil) {
		return g.continueChain(&g.evil[user])
	}
	if g.r.Float64() < beginOdds {
		if p := g.patterns[g.r.IntN(len(g.patterns))]; len(p.Words) > 1 {
			return p.Words[0]
		}
	}
	return g.r.Uint32()
}

// continueChain returns the next word of an evil user.
func (g *Generator) continueChain(c *chain) uint32 {
	if c.sent == 0 {
		if g.r.Float64() > startOdds {
			return g.r.Uint32()
		}
		c.pattern = g.r.Uint32N(uint32(len(g.patterns)))
	} else if g.r.Float64() < stopOdds {
		c.sent = 0
		return g.r.Uint32()
	}
	words := g.patterns[c.pattern].Words
	w := words[c.sent]
	if c.sent++; int(c.sent) == len(words) {
		c.sent = 0
	}
	return w
}
