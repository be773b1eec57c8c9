package partition_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/partition"
)

func Example() {
	f, err := partition.New(partition.Config{FPR: 0.001}) // however many keys there will be
	if err != nil {
		log.Fatal(err)
	}
	var hash filter.Hash
	f.Add(hash.String("apple"))
	f.Add(hash.String("pear"))
	fmt.Println(f.MayContain(hash.String("apple")), f.MayContain(hash.String("fig")), f.Len())

	var file bytes.Buffer
	if _, err := f.Snapshot().WriteTo(&file); err != nil {
		log.Fatal(err)
	}
	g, err := partition.Read(&file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.MayContain(hash.String("pear")))
	// Output:
	// true false 2
	// true
}

// Figures 3 to 5 of [DPBF19]: 32 ids, a tree of depth 3 with units of 5 bits and 2
// hashes, which are for 4 ids each.
func Example_figure5() {
	f, err := partition.Build(partition.Shape{
		Universe: 32, IDBits: 5, Depth: 3, UnitBits: 5, Hashes: 2,
		Full: 5, Count: 4, // split by the number of ids, not by bits
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range []filter.Key{4, 5, 8, 10, 17, 19, 22, 25, 31} {
		f.Add(id)
	}
	fmt.Print("map: ")
	for unit, ids := range f.Units() {
		fmt.Printf(" N3,%d (%d)", unit, ids)
	}
	fmt.Println("\ntree:")
	for n := range f.Nodes() {
		name := fmt.Sprintf("%sN%d,%d", strings.Repeat("  ", n.Depth+1), n.Depth, n.Index)
		if n.Leaf {
			name += fmt.Sprintf(" leaf with %d ids", n.Keys)
		}
		fmt.Println(name)
	}
	// Output:
	// map:  N3,1 (2) N3,2 (2) N3,4 (2) N3,5 (1) N3,6 (1) N3,7 (1)
	// tree:
	//   N0,0
	//     N1,0 leaf with 4 ids
	//     N1,1
	//       N2,2 leaf with 3 ids
	//       N2,3 leaf with 2 ids
}

// In a universe of ids the Key is the id, and the number of keys is exact.
func ExampleConfig_universe() {
	f, err := partition.New(partition.Config{Universe: 1 << 32, FPR: 1e-4})
	if err != nil {
		log.Fatal(err)
	}
	for id := range filter.Key(5000) {
		f.Add(1_000_000 + id)
	}
	_, err = f.Add(1 << 32)
	fmt.Println(f.Len(), errors.Is(err, partition.ErrOutside))
	// Output: 5000 true
}

func ExampleConfig_Shape() {
	s, err := partition.Config{Universe: 1 << 32, FPR: 1e-4}.Shape()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("depth %d, units of %d bits and %d hashes for %d ids\n", s.Depth, s.UnitBits, s.Hashes, s.UnitIDs())
	for _, n := range []uint64{1e4, 1e6, 1e7} {
		p, err := s.Predict(n)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%8d ids spread evenly: %5.0f units, %.0f bits per key\n",
			n, p.Units, p.FastBitsPerKey+p.SlowBitsPerKey)
	}
	// Output:
	// depth 22, units of 20096 bits and 13 hashes for 1024 ids
	//    10000 ids spread evenly:    16 units, 68 bits per key
	//  1000000 ids spread evenly:  1036 units, 49 bits per key
	// 10000000 ids spread evenly: 16384 units, 60 bits per key
}

// Sets of any sizes can be merged, if they were made for the same Config.
func ExampleFilter_Union() {
	config := partition.Config{Universe: 1 << 20}
	small, _ := partition.New(config)
	large, _ := partition.New(config)
	for id := range filter.Key(10) {
		small.Add(7 * id)
	}
	for id := range filter.Key(20_000) {
		large.Add(id)
	}
	if err := small.Union(large); err != nil {
		log.Fatal(err)
	}
	fmt.Println(small.Len(), large.Len())
	// Output: 20000 20000
}
