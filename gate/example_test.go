package gate_test

import (
	"fmt"
	"log"
	"net/netip"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/gate/pattern"
)

func Example() {
	patterns, err := pattern.Compile([]pattern.Pattern{
		{Name: "handshake", Words: []uint32{0xdead, 0xbeef}},
		{Name: "marker", Words: []uint32{0xbad}},
	})
	if err != nil {
		log.Fatal(err)
	}
	e, err := gate.New(gate.Config{
		Users:     10_000,
		Patterns:  patterns,
		Blacklist: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")},
	})
	if err != nil {
		log.Fatal(err)
	}
	alice, mallory, listed := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.66"), netip.MustParseAddr("198.51.100.7")
	show := func(src netip.Addr, words ...uint32) {
		for _, w := range words {
			v := e.Step(src, w, 0)
			fmt.Println(src, v.Action, v.Reason)
		}
	}
	show(listed, 1)
	show(mallory, 0xdead)
	show(alice, 0xbeef) // does not break mallory's chain
	show(mallory, 0xbeef, 0xbad, 0xbad, 1)
	fmt.Println(e.Query(alice).Standing, e.Query(mallory).Standing, e.Query(netip.MustParseAddr("192.0.2.2")).Standing)
	// Output:
	// 198.51.100.7 reject listed
	// 192.0.2.66 pass clean
	// 192.0.2.1 pass clean
	// 192.0.2.66 pass struck
	// 192.0.2.66 pass struck
	// 192.0.2.66 ban struck
	// 192.0.2.66 reject banned
	// good bad none
}

func ExampleConfig() {
	e, err := gate.New(gate.Config{Kind: "dleft", Users: 1_000_000, Banned: 150_000, Memory: 16_000_000})
	if err != nil {
		log.Fatal(err)
	}
	s := e.Stats()
	fmt.Println("limit:", s.Limit)
	fmt.Println("held:", s.Bytes <= s.Limit)
	fmt.Println("states of 250,000 users at once:", s.Room > 250_000)
	// Output:
	// limit: 16000000
	// held: true
	// states of 250,000 users at once: true
}

func ExampleEngine_Unban() {
	e, err := gate.New(gate.Config{Blacklist: []netip.Prefix{netip.MustParsePrefix("203.0.113.9/32")}})
	if err != nil {
		log.Fatal(err)
	}
	src := netip.MustParseAddr("203.0.113.9")
	fmt.Println(e.Step(src, 1, 0).Action, e.Unban(src), e.Step(src, 1, 0).Action)
	// Output:
	// reject <nil> pass
}
