// Package traffic makes up packets for a gate: the same for the same seed.
//
// There are users, some of them evil, and sources on a black list. Every packet is
// from one of them, at random. Good users send ordinary words, now and then the
// first word of a pattern and nothing of the rest. Evil users send whole patterns
// word by word, ordinary words between them, and sometimes give up inside one.
package traffic

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"

	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// Config is the wish. The zero Config asks for a million packets of 10,000 users, a
// tenth of them evil.
type Config struct {
	Seed    uint64
	Packets uint64 // 0 means 1,000,000

	// Users is the number of sources that are not on the black list; 0 means 10,000.
	Users int

	// Evil is the share of users who send patterns; 0 means 0.1, below 0 none.
	Evil float64

	// Blacklisted is the number of sources on the black list; 0 means a quarter of
	// Users, below 0 none.
	Blacklisted int

	// Listed is the share of packets that come from the black list, if there is one;
	// 0 means 0.05.
	Listed float64

	// Patterns is how many patterns there are, of 1 to 8 words; 0 means 64.
	Patterns int

	// Teasing is the share of good users' packets that begin a pattern; 0 means 0.01,
	// below 0 none.
	Teasing float64

	// Skew makes some users send more than others: 0 means that all send alike,
	// above 1 it is the exponent of Zipf's law.
	Skew float64

	// Addresses are taken for the users and then for the black list, as far as they go;
	// the rest is made up.
	Addresses []netip.Addr
}

const (
	maxSources = 1 << 28
	longest    = 8 // words of a pattern

	// startOdds is how often an evil user who is not in a pattern begins one, and
	// stopOdds how often one who is gives up.
	startOdds = 0.5
	stopOdds  = 0.05
)

// withDefaults fills in what was left open and reports everything that is wrong.
func (c Config) withDefaults() (Config, error) {
	orDefault(&c.Packets, 1_000_000)
	orDefault(&c.Users, 10_000)
	orDefault(&c.Evil, 0.1)
	orDefault(&c.Blacklisted, c.Users/4)
	orDefault(&c.Listed, 0.05)
	orDefault(&c.Patterns, 64)
	orDefault(&c.Teasing, 0.01)
	c.Evil, c.Blacklisted, c.Teasing = max(0, c.Evil), max(0, c.Blacklisted), max(0, c.Teasing)
	return c, c.check()
}

func orDefault[T uint64 | int | float64](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

func (c Config) check() error {
	var errs []error
	if c.Users < 1 || c.Users > maxSources || c.Blacklisted > maxSources {
		errs = append(errs, fmt.Errorf("traffic: Users, Blacklisted: %d and %d, must be 1 to %d", c.Users, c.Blacklisted, maxSources))
	}
	for name, share := range map[string]float64{"Evil": c.Evil, "Listed": c.Listed, "Teasing": c.Teasing} {
		if !(share >= 0 && share <= 1) {
			errs = append(errs, fmt.Errorf("traffic: %s: %g, must be 0 to 1", name, share))
		}
	}
	if c.Patterns < 1 || c.Patterns > 100_000 {
		errs = append(errs, fmt.Errorf("traffic: Patterns: %d, must be 1 to 100000", c.Patterns))
	}
	if c.Skew != 0 && !(c.Skew > 1 && c.Skew < 100) {
		errs = append(errs, fmt.Errorf("traffic: Skew: %g, must be 0 or above 1", c.Skew))
	}
	return errors.Join(errs...)
}

// Generator gives the packets. It is a [packets.Reader].
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

// A chain is where an evil user is: in which pattern, and how many words of it have
// been sent.
type chain struct {
	pattern uint32
	sent    uint8
}

// New returns a generator for the wish.
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

// Patterns returns what evil users send.
func (g *Generator) Patterns() []pattern.Pattern { return g.patterns }

// Blacklist returns the sources on the black list.
func (g *Generator) Blacklist() []netip.Prefix {
	list := make([]netip.Prefix, g.config.Blacklisted)
	for i := range list {
		a := g.address(g.config.Users + i)
		list[i] = netip.PrefixFrom(a, a.BitLen())
	}
	return list
}

// Evil returns how many users are evil: the first of them.
func (g *Generator) Evil() int { return len(g.evil) }

// User returns the address of a user.
func (g *Generator) User(i int) netip.Addr { return g.address(i) }

// address returns the address of a source, those of the black list last. Addresses
// that are made up do not repeat, but may equal one of those given.
func (g *Generator) address(i int) netip.Addr {
	if i < len(g.config.Addresses) {
		return g.config.Addresses[i].Unmap()
	}
	x := spread(uint32(i) + uint32(g.config.Seed)*0x9E3779B9)
	return netip.AddrFrom4([4]byte{byte(x >> 24), byte(x >> 16), byte(x >> 8), byte(x)})
}

// spread maps the numbers of 32 bits onto themselves, one to one, so that neighbours
// end up far from each other.
func spread(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x85EBCA6B
	x ^= x >> 13
	x *= 0xC2B2AE35
	return x ^ x>>16
}

// Read fills in the next packet; a microsecond lies between two. It ends with
// [io.EOF].
func (g *Generator) Read(p *packets.Packet) error {
	if g.number == g.config.Packets {
		return io.EOF
	}
	g.number++
	*p = packets.Packet{Number: g.number, At: int64(g.number) * 1000, Words: g.word[:]}
	if g.config.Blacklisted > 0 && g.r.Float64() < g.config.Listed {
		p.Src = g.address(g.config.Users + g.r.IntN(g.config.Blacklisted))
		g.word[0] = g.r.Uint32()
		return nil
	}
	user := g.user()
	p.Src = g.address(user)
	g.word[0] = g.say(user)
	return nil
}

// user chooses who sends. Zipf's law puts small numbers first, and evil users have
// these: they are dealt out evenly.
func (g *Generator) user() int {
	if g.zipf == nil {
		return g.r.IntN(g.config.Users)
	}
	const stride = 0x9E3779B1 // a prime
	return int(g.zipf.Uint64() * stride % uint64(g.config.Users))
}

// say returns the next word of a user.
func (g *Generator) say(user int) uint32 {
	if user < len(g.evil) {
		return g.plot(&g.evil[user])
	}
	if g.r.Float64() < g.config.Teasing {
		if p := g.patterns[g.r.IntN(len(g.patterns))]; len(p.Words) > 1 {
			return p.Words[0]
		}
	}
	return g.r.Uint32()
}

// plot returns the next word of an evil user.
func (g *Generator) plot(c *chain) uint32 {
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
