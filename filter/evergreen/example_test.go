package evergreen_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
)

func Example() {
	f, err := evergreen.New(evergreen.Config{FPR: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	var hash filter.Hash
	for i := range uint64(30_000) { // far more than it has room for at first
		if _, err := f.Add(hash.Uint64(i)); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(f.Len(), "keys:", f.MayContain(hash.Uint64(7)))
	fmt.Printf("rate %.3f\n", f.Info().FPR)

	for i := range uint64(29_000) {
		if err := f.Delete(hash.Uint64(i)); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(f.Len(), "keys in", f.Blocks(), "blocks:", f.Contains(hash.Uint64(7)), f.MayContain(hash.Uint64(29_999)))
	// Output:
	// 30000 keys: true
	// rate 0.010
	// 1000 keys in 257 blocks: false true
}

func ExampleFilter_Delete() {
	f, err := evergreen.New(evergreen.Config{})
	if err != nil {
		log.Fatal(err)
	}
	var hash filter.Hash
	f.Add(hash.String("once"))
	f.Add(hash.String("once")) // changes nothing
	fmt.Println(f.Delete(hash.String("once")))
	fmt.Println(errors.Is(f.Delete(hash.String("once")), filter.ErrNotFound))
	// Output:
	// <nil>
	// true
}

func ExampleFilter_Difference() {
	var hash filter.Hash
	of := func(words ...string) *evergreen.Filter {
		f, err := evergreen.New(evergreen.Config{})
		if err != nil {
			log.Fatal(err)
		}
		for _, w := range words {
			f.Add(hash.String(w))
		}
		return f
	}
	seen, blocked := of("ann", "bob", "eve"), of("eve", "mallory")
	if err := seen.Difference(blocked); err != nil {
		log.Fatal(err)
	}
	fmt.Println(seen.Len(), seen.Contains(hash.String("eve")))
	// Output: 2 false
}

func ExampleShape_Predict() {
	s, err := evergreen.Config{FPR: 0.01}.Shape()
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range []uint64{1_000_000, 1_500_000, 50_000_000} {
		p, err := s.Predict(n)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%8d keys: %.1f + %.1f bits each, rate %.4f\n", n, p.FastBitsPerKey, p.SlowBitsPerKey, p.FPR)
	}
	// Output:
	//  1000000 keys: 13.4 + 67.5 bits each, rate 0.0100
	//  1500000 keys: 11.0 + 68.3 bits each, rate 0.0100
	// 50000000 keys: 10.6 + 68.1 bits each, rate 0.0100
}

func ExampleFilter_Snapshot() {
	f, err := evergreen.New(evergreen.Config{Width: 32}) // compact
	if err != nil {
		log.Fatal(err)
	}
	var hash filter.Hash
	f.Add(hash.String("hello"))
	var file bytes.Buffer
	if _, err := f.Snapshot().WriteTo(&file); err != nil {
		log.Fatal(err)
	}
	again, err := evergreen.Read(&file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.MayContain(hash.String("hello")))
	// Output: true
}
