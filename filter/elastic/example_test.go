package elastic_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func Example() {
	f, err := elastic.New(elastic.Config{Items: 1000, FPR: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	var hash filter.Hash
	f.Add(hash.String("apple"))
	f.Add(hash.String("pear"))
	f.Delete(hash.String("apple"))
	fmt.Println(f.MayContain(hash.String("apple")), f.MayContain(hash.String("pear")), f.Len())

	var file bytes.Buffer
	if _, err := f.Snapshot().WriteTo(&file); err != nil {
		log.Fatal(err)
	}
	g, err := elastic.Read(&file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.MayContain(hash.String("pear")))
	// Output:
	// false true 1
	// true
}

// What a filter for 1000 keys will be like with more.
func ExampleConfig_Shape() {
	s, err := elastic.Config{Items: 1000, FPR: 0.01}.Shape()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("2^14 = %d bits, k = %d, w = %d, D = %d, b = %d\n", s.Bits, s.Hashes, s.HashBits, s.Slots, s.Branches)
	for _, n := range []uint64{1000, 10_000, 1_000_000} {
		p, err := s.Predict(n)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%7d keys: %.1f fast and %.0f slow bits per key, rate %.4f\n", n, p.FastBitsPerKey, p.SlowBitsPerKey, p.FPR)
	}
	// Output:
	// 2^14 = 16384 bits, k = 7, w = 43, D = 5, b = 3
	//    1000 keys: 16.4 fast and 3294 slow bits per key, rate 0.0006
	//   10000 keys: 13.1 fast and 2635 slow bits per key, rate 0.0021
	// 1000000 keys: 16.8 fast and 3373 slow bits per key, rate 0.0005
}

// The filter follows its set.
func ExampleFilter_Bits() {
	f, err := elastic.New(elastic.Config{Items: 1000, FPR: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	keys := filtertest.Keys(1, 10_000)
	fmt.Println(f.Bits())
	f.AddBatch(keys)
	fmt.Println(f.Bits())
	for _, k := range keys[100:] {
		f.Delete(k)
	}
	fmt.Println(f.Bits(), f.Len())
	// Output:
	// 16384
	// 131072
	// 16384 100
}

func ExampleFilter_Delete() {
	f, err := elastic.New(elastic.Config{Items: 1000, FPR: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	f.Add(1)
	f.Add(1) // changes nothing
	fmt.Println(f.Delete(1), f.MayContain(1))
	fmt.Println(errors.Is(f.Delete(1), filter.ErrNotFound))
	// Output:
	// <nil> false
	// true
}
