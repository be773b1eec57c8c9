package counting_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/counting"
)

func Example() {
	f, err := counting.New(counting.Config{Items: 1000, FPR: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	var hash filter.Hash
	f.Add(hash.String("apple"))
	f.Add(hash.String("pear"))
	if err := f.Delete(hash.String("apple")); err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.MayContain(hash.String("apple")), f.MayContain(hash.String("pear")))

	var file bytes.Buffer
	if _, err := f.Snapshot().WriteTo(&file); err != nil {
		log.Fatal(err)
	}
	g, err := counting.Read(&file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.MayContain(hash.String("pear")), g.Len())
	// Output:
	// false true
	// true 1
}

func ExampleConfig_Shape() {
	s, err := counting.Config{Items: 1_000_000, FPR: 0.01}.Shape()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d counters, %d hashes, %d bits\n", s.Counters, s.Hashes, s.Bits())
	fmt.Printf("%.4f at 1,000,000 keys\n", s.FPR(1_000_000))
	// Output:
	// 9585059 counters, 7 hashes, 38340236 bits
	// 0.0100 at 1,000,000 keys
}

func ExampleFilter_Delete() {
	f, err := counting.New(counting.Config{Items: 100})
	if err != nil {
		log.Fatal(err)
	}
	var hash filter.Hash
	k := hash.String("twice")
	f.Add(k)
	f.Add(k)
	for range 3 {
		err := f.Delete(k)
		fmt.Println(f.MayContain(k), errors.Is(err, filter.ErrNotFound))
	}
	// Output:
	// true false
	// false false
	// false true
}

// A plain filter for programs that only ask takes a quarter of the memory.
func ExampleFilter_Bloom() {
	f, err := counting.New(counting.Config{Items: 1_000_000, FPR: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	var hash filter.Hash
	f.Add(hash.String("apple"))
	plain, err := f.Bloom()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plain.MayContain(hash.String("apple")), plain.MayContain(hash.String("pear")))
	fmt.Println(f.Info().FastBits/8, plain.Info().FastBits/8)
	// Output:
	// true false
	// 4792536 1198136
}
