package everbloom_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
)

// inTemporaryFolder changes to a new folder and returns the way back.
func inTemporaryFolder() (back func()) {
	home, err1 := os.Getwd()
	temp, err2 := os.MkdirTemp("", "everbloom")
	if err := errors.Join(err1, err2, os.Chdir(temp)); err != nil {
		log.Fatal(err)
	}
	return func() { _ = errors.Join(os.Chdir(home), os.RemoveAll(temp)) }
}

// What stands between the first statement and the output stands in the README.
func Example() {
	defer inTemporaryFolder()()

	set, err := everbloom.New(everbloom.Needs{Items: 1_000_000, FPR: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	set.AddString("alice")
	fmt.Println(set.MayContainString("alice")) // true
	fmt.Println(set.MayContainString("bob"))   // false, or once in a hundred times true

	if err := set.Save("names.bloom"); err != nil {
		log.Fatal(err)
	}
	set, err = everbloom.Open("names.bloom")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(set.MayContainString("alice")) // true

	// Output:
	// true
	// false
	// true
}

// The best kind for a set comes first, with what it costs and what speaks
// against it.
func ExamplePlan() {
	for _, needs := range []everbloom.Needs{
		{Items: 1_000_000, FPR: 0.01},
		{Items: 1_000_000, FPR: 0.01, Spare: everbloom.TotalMemory},
	} {
		choices, err := everbloom.Plan(needs)
		if err != nil {
			log.Fatal(err)
		}
		best := choices[0]
		fmt.Printf("%s, %.2f bits per key: %s\n", best.Kind, best.FastBitsPerKey+best.SlowBitsPerKey, best.Why)
	}

	// Output:
	// blocked, 10.10 bits per key: the fastest, one cache line per query; 5 to 10 % larger than bloom at rates between 1 % and 0.1 %, more beyond
	// bloom, 9.59 bits per key: the smallest that can be merged; a query reads a cache line per hash
}

// Sets that were made for the same needs can be merged, wherever they were
// filled.
func ExampleSet_Union() {
	needs := everbloom.Needs{Items: 1000, FPR: 0.001}
	monday, err1 := everbloom.New(needs)
	tuesday, err2 := everbloom.New(needs)
	if err := errors.Join(err1, err2); err != nil {
		log.Fatal(err)
	}
	monday.AddString("alice")
	tuesday.AddString("bob")

	if err := monday.Union(tuesday); err != nil {
		log.Fatal(err)
	}
	fmt.Println(monday.MayContainString("alice"), monday.MayContainString("bob"), monday.Len())

	other, err := everbloom.New(everbloom.Needs{Items: 1000, FPR: 0.001, Hash: filter.XXH3(42)})
	if err != nil {
		log.Fatal(err)
	}
	err = monday.Union(other)
	fmt.Println(errors.Is(err, filter.ErrIncompatible), err)

	// Output:
	// true true 2
	// true everbloom: hash is xxh3 in one and xxh3:42 in the other: filters are incompatible
}

// A filter of a chosen shape, with a hash whose secret keeps others from
// constructing keys that collide.
func ExampleNewSet() {
	f, err := bloom.Build(bloom.Shape{Bits: 1 << 16, Hashes: 7})
	if err != nil {
		log.Fatal(err)
	}
	set := everbloom.NewSet(f, filter.NewSipHash())
	set.AddString("203.0.113.7")
	fmt.Println(set.MayContainString("203.0.113.7"))
	fmt.Println("hash:", set.Hash()) // the secret does not show

	// Output:
	// true
	// hash: siphash
}

// A file says what it holds before it is loaded.
func ExampleDescribe() {
	set, err := everbloom.New(everbloom.Needs{Items: 1000, FPR: 0.01, Kind: "bloom", Shards: 4})
	if err != nil {
		log.Fatal(err)
	}
	set.AddString("alice")
	var file bytes.Buffer
	if _, err := set.WriteTo(&file); err != nil {
		log.Fatal(err)
	}
	d, err := everbloom.Describe(&file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Kind, d.Hash, d.Shards, "shards, each", d.Shape)
	fmt.Println(d.Summary.Keys, "key")

	// Output:
	// bloom xxh3 4 shards, each bits=3010 hashes=7 salt=0
	// 1 key
}
