package bloom_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
)

func Example() {
	f, err := bloom.NewBlocked(bloom.Config{Items: 1000, FPR: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	var hash filter.Hash
	f.Add(hash.String("apple"))
	f.Add(hash.String("pear"))
	fmt.Println(f.MayContain(hash.String("apple")), f.MayContain(hash.String("plum")))

	var file bytes.Buffer
	if _, err := f.Snapshot().WriteTo(&file); err != nil {
		log.Fatal(err)
	}
	g, err := bloom.ReadBlocked(&file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.MayContain(hash.String("pear")), g.Len())
	// Output:
	// true false
	// true 2
}

func ExampleConfig_Shape() {
	s, err := bloom.Config{Items: 1_000_000, FPR: 0.01}.Shape()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d bits, %d hashes\n", s.Bits, s.Hashes)
	fmt.Printf("%.4f at 1,000,000 keys, %.4f at 2,000,000\n", s.FPR(1_000_000), s.FPR(2_000_000))
	// Output:
	// 9585059 bits, 7 hashes
	// 0.0100 at 1,000,000 keys, 0.1575 at 2,000,000
}

func ExampleFilter_Union() {
	config := bloom.Config{Items: 100}
	monday, _ := bloom.New(config)
	tuesday, _ := bloom.New(config)
	var hash filter.Hash
	monday.Add(hash.String("ann"))
	tuesday.Add(hash.String("bob"))
	if err := monday.Union(tuesday); err != nil {
		log.Fatal(err)
	}
	fmt.Println(monday.MayContain(hash.String("ann")), monday.MayContain(hash.String("bob")))
	// Output: true true
}
