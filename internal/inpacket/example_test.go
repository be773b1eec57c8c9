package inpacket_test

import (
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/inpacket"
)

// A packet from Rome for Oslo and Bonn. Each city looks only at the header and at its
// own links.
func Example() {
	links := map[string][]string{
		"Rome": {"Bern", "Nice"},
		"Bern": {"Bonn", "Rome", "Nice"},
		"Bonn": {"Oslo", "Bern"},
	}
	var hash filter.Hash
	id := func(from, to string) filter.Key { return hash.String(from + ">" + to) }

	format, err := inpacket.New(inpacket.Config{}) // 256 bits
	if err != nil {
		log.Fatal(err)
	}
	header, err := format.Encode([]filter.Key{id("Rome", "Bern"), id("Bern", "Bonn"), id("Bonn", "Oslo")})
	if err != nil {
		log.Fatal(err)
	}
	var visit func(city string, h inpacket.Header)
	visit = func(city string, h inpacket.Header) {
		for _, next := range links[city] {
			if h.Has(id(city, next)) {
				branch := h // every copy has a header of its own
				err := branch.Delete(id(city, next))
				fmt.Printf("%s > %s, link deleted: %t, %.0f bits set\n", city, next, err == nil, branch.Fill()*float64(format.Shape().Cells()))
				visit(next, branch)
			}
		}
	}
	visit("Rome", header)
	fmt.Printf("%d bytes in the packet\n", len(header.Append(nil)))
	// Output:
	// Rome > Bern, link deleted: true, 10 bits set
	// Bern > Bonn, link deleted: true, 5 bits set
	// Bonn > Oslo, link deleted: true, 0 bits set
	// 32 bytes in the packet
}

// The same packets with and without deletion, in a network of 1,000 nodes.
func ExampleGraph_Forward() {
	network, err := inpacket.Preferential(1000, 2, 1)
	if err != nil {
		log.Fatal(err)
	}
	format, err := inpacket.New(inpacket.Config{})
	if err != nil {
		log.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	var missed, kept, deleted int
	for range 100 {
		tree := network.RandomTree(r, 24)
		header, err := format.Encode(tree.IDs(network))
		if err != nil {
			log.Fatal(err)
		}
		for _, rules := range []inpacket.Rules{{}, {Delete: true}} {
			out, err := network.Forward(header, &tree, rules)
			if err != nil {
				log.Fatal(err)
			}
			missed += out.Missed
			if rules.Delete {
				deleted += out.Transmissions
			} else {
				kept += out.Transmissions
			}
		}
	}
	fmt.Println("receivers missed:", missed)
	fmt.Println("transmissions needed:", 100*24)
	fmt.Println("without deletion:", kept)
	fmt.Println("with deletion:", deleted)
	// Output:
	// receivers missed: 0
	// transmissions needed: 2400
	// without deletion: 18417
	// with deletion: 3741
}

// A sender who knows all services of a switch chooses a header in which those of its
// packet can be deleted and no other is found by mistake.
func ExampleSwitch() {
	services := []string{"firewall", "cache", "balancer", "inspector", "meter"}
	var table []filter.Key
	for _, name := range services {
		table = append(table, inpacket.ServiceID(name, 0))
	}
	chain := []int{0, 2, 3}
	wanted := []filter.Key{table[0], table[2], table[3]}

	format, err := inpacket.New(inpacket.Config{Bits: 96})
	if err != nil {
		log.Fatal(err)
	}
	header, err := format.Choose(wanted, deletable.AllDeletable(wanted...).And(deletable.FewestFalse(table[1], table[4])))
	if err != nil {
		log.Fatal(err)
	}
	// The way of the packet leads through the switch twice.
	for _, remove := range []bool{false, true} {
		s := inpacket.Switch{Table: table, ByPort: true, Passes: 2, Delete: remove}
		v, err := s.Serve(header, chain)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("deleting %t: %d services visited, %d of them again, served right: %t\n", remove, v.Right, v.Twice, v.Done())
	}
	// Output:
	// deleting false: 3 services visited, 3 of them again, served right: false
	// deleting true: 3 services visited, 0 of them again, served right: true
}
