package dynamic_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"sync"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dynamic"
)

func Example() {
	f, err := dynamic.New(dynamic.Config{Items: 1000, FPR: 0.001})
	if err != nil {
		log.Fatal(err)
	}
	var hash filter.Hash
	for i := range uint64(5000) { // five times what the first unit takes
		f.Add(hash.Uint64(i))
	}
	fmt.Println(f.Len(), "keys in", f.Units(), "units")
	for i := range uint64(4900) {
		f.Delete(hash.Uint64(i))
	}
	fmt.Println(f.MayContain(hash.Uint64(4950)), f.Units(), "unit")

	var file bytes.Buffer
	if _, err := f.Snapshot().WriteTo(&file); err != nil {
		log.Fatal(err)
	}
	g, err := dynamic.Read(&file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.MayContain(hash.Uint64(4950)))
	// Output:
	// 5000 keys in 5 units
	// true 1 unit
	// true
}

// What the rate and the memory will be when the set has grown.
func ExampleShape_Predict() {
	s, err := dynamic.Config{Items: 10_000, FPR: 0.001, CounterBits: 1}.Shape()
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range []uint64{10_000, 100_000, 1_000_000} {
		p, err := s.Predict(n)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%8d keys: %3g units, rate %.4f, %.1f bits per key\n", n, p.Units, p.FPR, p.FastBitsPerKey)
	}
	// Output:
	//    10000 keys:   1 units, rate 0.0009, 14.5 bits per key
	//   100000 keys:  10 units, rate 0.0095, 14.5 bits per key
	//  1000000 keys: 100 units, rate 0.0942, 14.5 bits per key
}

func ExampleFilter_Delete() {
	f, err := dynamic.New(dynamic.Config{Items: 100, FPR: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	f.Add(1)
	for k := filter.Key(2); f.Units() == 1; k++ {
		f.Add(k)
	}
	f.Add(1) // a copy, in another unit: which of them is to be deleted?
	fmt.Println(errors.Is(f.Delete(1), filter.ErrPinned), f.MayContain(1))
	// Output: true true
}

func ExampleParallel() {
	f, err := dynamic.NewParallel(dynamic.Config{Items: 1000, Partitions: 8})
	if err != nil {
		log.Fatal(err)
	}
	var hash filter.Hash
	var writers sync.WaitGroup
	for w := range uint64(4) {
		writers.Go(func() {
			for i := range uint64(1000) {
				f.Add(hash.Uint64(1000*w + i))
			}
		})
	}
	writers.Wait()
	fmt.Println(f.Len(), f.MayContain(hash.Uint64(3999)))
	// Output: 4000 true
}
