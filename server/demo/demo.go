package demo

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// tick is how often something happens.
const tick = 100 * time.Millisecond

// A life is what happens on a server.
type life struct {
	*client
	rng      *rand.Rand
	ticks    int
	logins   int      // sessions that ever were
	sessions []string // that are, the oldest first
	urls     int      // that were seen
	carts    []string
	blocked  changes
}

// newRand has every demo be the same.
func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// Run makes sets and keeps changing them until ctx ends, or the server does.
func Run(ctx context.Context, addr string) error {
	c, err := dial(ctx, addr)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = c.conn.Close() })() // a reply may never come
	defer func() { _ = c.conn.Close() }()                         // it may be closed already
	l := &life{client: c, rng: newRand(), blocked: readChanges()}
	l.create()
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	for ctx.Err() == nil {
		l.live(time.Now())
		if err := l.flush(); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-ticks.C:
		}
	}
	return nil
}

// create makes the sets that need a shape, one of each kind that a server has.
func (l *life) create() {
	for _, words := range [][]string{
		{"EB.CREATE", "sessions", "ITEMS", "20000", "FPR", "0.01", "DELETE"},
		{"EB.CREATE", "blocklist", "ITEMS", "20000", "FPR", "0.0001", "DELETE", "GROW"},
		{"BF.RESERVE", "crawler:seen", "0.001", "20000"},
		{"EB.CREATE", "shop:coupons", "ITEMS", "30000", "FPR", "0.0001", "KNOWNDELETES", "KIND", "dleft"},
		{"EB.CREATE", "shop:views", "ITEMS", "20000", "FPR", "0.01", "KNOWNDELETES", "KIND", "counting"},
		{"EB.CREATE", "mail:seen", "ITEMS", "20000", "FPR", "0.01", "GROW", "MERGE", "KIND", "partition"},
		{"EB.CREATE", "dictionary", "ITEMS", "20000", "FPR", "0.01", "KIND", "blocked"},
	} {
		l.add(words...)
	}
	for i := range 40 {
		l.add("CF.ADD", fmt.Sprintf("user:%02d:likes", i), "post1")
	}
}

// Sets that do not change begin with so many items, a few in each tick.
const (
	startItems = 20_000
	startStep  = 100
)

// begin adds items to the sets that do not change later.
func (l *life) begin() {
	first := l.ticks * startStep
	if first >= startItems {
		return
	}
	for set, item := range map[string]string{"shop:coupons": "coupon", "dictionary": "word"} {
		words := []string{"EB.ADD", set}
		for i := range startStep {
			words = append(words, fmt.Sprint(item, first+i))
		}
		l.add(words...)
	}
}

// live is what happens in a tick.
func (l *life) live(now time.Time) {
	l.begin()
	l.come()
	l.crawl()
	l.shop()
	l.block()
	minute := "visitors:" + now.UTC().Format("15:04")
	l.add("BF.ADD", minute, fmt.Sprint("visitor", l.rng.IntN(5000)))
	if l.ticks%10 == 0 {
		l.add("PEXPIRE", minute, "300000")
		l.add("EB.ADD", "mail:seen", fmt.Sprint("message", l.ticks), fmt.Sprint("message", l.ticks+1))
	}
	l.add("CF.ADD", fmt.Sprintf("user:%02d:likes", l.rng.IntN(40)), fmt.Sprint("post", l.rng.IntN(1000)))
	l.add("EB.EXISTS", "dictionary", fmt.Sprint("word", l.rng.IntN(2*startItems)))
	l.ticks++
}

// The number of sessions goes up and down.
const (
	sessionsLeast = 3000
	sessionsMost  = 9000
	sessionsWave  = 1200 // ticks
	sessionsStep  = 60   // that come or go in a tick
)

// come has sessions begin and end.
func (l *life) come() {
	wave := (1 - math.Cos(2*math.Pi*float64(l.ticks)/sessionsWave)) / 2
	want := sessionsLeast + int(wave*(sessionsMost-sessionsLeast))
	add := []string{"EB.ADD", "sessions"}
	for range min(max(want-len(l.sessions), 0)+sessionsStep/4, sessionsStep) {
		l.logins++
		name := fmt.Sprintf("session-%08x", uint32(l.logins)*0x9E3779B1)
		l.sessions, add = append(l.sessions, name), append(add, name)
	}
	l.add(add...)
	if n := min(len(l.sessions)-want, sessionsStep); n > 0 {
		l.add(append([]string{"EB.DEL", "sessions"}, l.sessions[:n]...)...)
		l.sessions = l.sessions[n:]
	}
	for range 5 + int(40*wave) {
		l.add("EB.EXISTS", "sessions", l.sessions[l.rng.IntN(len(l.sessions))])
	}
}

// crawl asks for pages of which most were seen, and takes the others.
func (l *life) crawl() {
	ask := []string{"BF.MEXISTS", "crawler:seen"}
	for range 20 {
		ask = append(ask, fmt.Sprint("https://example.org/", l.rng.IntN(l.urls+10)))
	}
	l.add(ask...)
	take := []string{"BF.MADD", "crawler:seen"}
	for range 10 {
		l.urls++
		take = append(take, fmt.Sprint("https://example.org/", l.urls))
	}
	l.add(take...)
}

// shop has carts come and go, coupons be asked for, and pages be viewed.
func (l *life) shop() {
	cart := fmt.Sprint("cart", l.rng.IntN(1_000_000))
	l.carts = append(l.carts, cart)
	l.add("CF.ADD", "shop:carts", cart)
	if len(l.carts) > 500 {
		l.add("CF.DEL", "shop:carts", l.carts[0])
		l.carts = l.carts[1:]
	}
	l.add("EB.EXISTS", "shop:coupons", fmt.Sprint("coupon", l.rng.IntN(2*startItems)))
	l.add("EB.ADD", "shop:views", fmt.Sprint("product", l.rng.IntN(5000)))
}

// block changes the block list by a version every other second.
func (l *life) block() {
	if l.ticks%20 != 0 {
		return
	}
	added, gone := l.blocked.next(l.rng)
	for command, items := range map[string][]string{"EB.ADD": added, "EB.DEL": gone} {
		if len(items) > 0 {
			l.add(append([]string{command, "blocklist"}, items...)...)
		}
	}
}
