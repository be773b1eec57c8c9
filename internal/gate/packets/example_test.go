package packets_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

func ExampleOpen() {
	r, err := packets.Open(strings.NewReader("192.0.2.1 deadbeef\n? 192.0.2.1\n"), packets.Options{})
	if err != nil {
		log.Fatal(err)
	}
	var p packets.Packet
	for r.Read(&p) == nil {
		fmt.Printf("%d %v %x %t\n", p.Number, p.Src, p.Words, p.Query)
	}
	// Output:
	// 1 192.0.2.1 [deadbeef] false
	// 2 192.0.2.1 [] true
}
