package scalable_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/scalable"
)

func Example() {
	f, err := scalable.New(scalable.Config{Items: 1000, FPR: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	var hash filter.Hash
	for i := range uint64(100_000) { // a hundred times more than expected
		f.Add(hash.Uint64(i))
	}
	fmt.Println(f.Units(), "units, rate below 1 %:", f.Info().FPR < 0.01)
	fmt.Println(f.MayContain(hash.Uint64(99_999)))

	var file bytes.Buffer
	if _, err := f.Snapshot().WriteTo(&file); err != nil {
		log.Fatal(err)
	}
	g, err := scalable.Read(&file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.MayContain(hash.Uint64(99_999)))
	// Output:
	// 7 units, rate below 1 %: true
	// true
	// true
}

// What the rate and the memory will be when the set has grown.
func ExampleShape_Predict() {
	s, err := scalable.Config{Items: 10_000, FPR: 0.01}.Shape()
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range []uint64{10_000, 70_000, 1_270_000} {
		p, err := s.Predict(n)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%7d keys: %g units, rate %.4f, %.1f bits per key\n", n, p.Units, p.FPR, p.FastBitsPerKey)
	}
	// Output:
	//   10000 keys: 1 units, rate 0.0027, 13.1 bits per key
	//   70000 keys: 3 units, rate 0.0050, 15.3 bits per key
	// 1270000 keys: 7 units, rate 0.0066, 19.1 bits per key
}
