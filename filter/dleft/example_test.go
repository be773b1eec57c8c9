package dleft_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dleft"
)

func Example() {
	f, err := dleft.New(dleft.Config{Items: 1000, FPR: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	var hash filter.Hash
	f.Add(hash.String("apple"))
	f.Add(hash.String("pear"))
	f.Delete(hash.String("apple"))
	fmt.Println(f.MayContain(hash.String("apple")), f.MayContain(hash.String("pear")))

	var file bytes.Buffer
	if _, err := f.Snapshot().WriteTo(&file); err != nil {
		log.Fatal(err)
	}
	g, err := dleft.Read(&file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.MayContain(hash.String("pear")), g.Len())
	// Output:
	// false true
	// true 1
}

// The geometry of [dlCBF06] Sec. 5.1, and how full it may get.
func ExampleConfig_Shape() {
	s, err := dleft.Config{Items: 49_152, FPR: 0.0015}.Shape()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d x %d x %d cells of %d+%d bits, %d bits in all\n",
		s.Subtables, s.Buckets, s.Cells, s.Remainder, s.Counter, s.Bits())
	fmt.Printf("rate %.6f\n", s.FPR(49_152))
	fmt.Printf("one filter in a thousand overflows at 58473 keys: %.4f\n", s.Overflow(58_473))
	fmt.Printf("a million changes overflow %.1f %% of filters with 53248 keys\n", 100*s.ChurnOverflow(53_248, 1<<20))
	// Output:
	// 4 x 2048 x 8 cells of 14+2 bits, 1048576 bits in all
	// rate 0.001464
	// one filter in a thousand overflows at 58473 keys: 0.0010
	// a million changes overflow 3.2 % of filters with 53248 keys
}

func ExampleFilter_Delete() {
	f, err := dleft.New(dleft.Config{Items: 1000, FPR: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	f.Add(1)
	f.Add(1)
	fmt.Println(f.Delete(1), f.MayContain(1)) // one copy is left
	fmt.Println(f.Delete(1), f.MayContain(1))
	fmt.Println(errors.Is(f.Delete(1), filter.ErrNotFound))
	// Output:
	// <nil> true
	// <nil> false
	// true
}
