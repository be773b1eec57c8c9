package perennial_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/perennial"
)

// Keys that come and go. The filter follows their number, up and down.
func Example() {
	f, err := perennial.New(perennial.Config{FPR: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	var hash filter.Hash
	for i := range uint64(100_000) {
		f.Add(hash.Uint64(i))
	}
	fmt.Printf("%d keys, below 17 bits each: %t, rate below 1 %%: %t\n", f.Len(), f.Info().BitsPerKey() < 17, f.Info().FPR < 0.01)
	for i := range uint64(90_000) { // each of these was added
		if err := f.Delete(hash.Uint64(i)); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Printf("%d keys, below 18 bits each: %t\n", f.Len(), f.Info().BitsPerKey() < 18)

	var file bytes.Buffer
	if _, err := f.Snapshot().WriteTo(&file); err != nil {
		log.Fatal(err)
	}
	g, err := perennial.Read(&file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.MayContain(hash.Uint64(99_999)))
	// Output:
	// 100000 keys, below 17 bits each: true, rate below 1 %: true
	// 10000 keys, below 18 bits each: true
	// true
}

// A key is in the set as often as it was added.
func ExampleFilter_Delete() {
	f, err := perennial.New(perennial.Config{FPR: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	k := new(filter.Hash).String("alice")
	f.Add(k)
	f.Add(k)
	fmt.Println(f.Delete(k), f.MayContain(k))
	fmt.Println(f.Delete(k), f.MayContain(k))
	fmt.Println(errors.Is(f.Delete(k), filter.ErrNotFound))
	// Output:
	// <nil> true
	// <nil> false
	// true
}

// What a filter that has grown to some size is like.
func ExampleShape_Predict() {
	s, err := perennial.Config{FPR: 0.01}.Shape()
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range []uint64{100_000, 10_000_000, 1_000_000_000} {
		p, err := s.Predict(n)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%10d keys: rate %.4f, %.1f bits per key\n", n, p.FPR, p.FastBitsPerKey)
	}
	// Output:
	//     100000 keys: rate 0.0036, 16.5 bits per key
	//   10000000 keys: rate 0.0058, 15.9 bits per key
	// 1000000000 keys: rate 0.0080, 16.2 bits per key
}
