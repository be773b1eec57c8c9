package pattern_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/everbloom-go/everbloom/gate/pattern"
)

func Example() {
	list, err := pattern.Read(strings.NewReader("hello: 00000001 00000002\nworld: 00000002 00000003\n"))
	if err != nil {
		log.Fatal(err)
	}
	a, err := pattern.Compile(list)
	if err != nil {
		log.Fatal(err)
	}
	node := uint32(0)
	for _, word := range []uint32{1, 1, 2, 2, 3} {
		node = a.Next(node, word)
		if m := a.Match(node); m >= 0 {
			fmt.Println(a.Patterns()[m].Name)
			node = 0 // begin anew
		}
	}
	// Output:
	// hello
	// world
}
