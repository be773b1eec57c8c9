package everbloom_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
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

	set, err := everbloom.New(everbloom.Needs{Items: 10_000, FPR: 0.01, Delete: true})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := set.AddString("alice"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(set.MayContainString("alice")) // true
	fmt.Println(set.MayContainString("bob"))   // false, or once in a hundred times true
	fmt.Println(set.DeleteString("alice"))     // <nil>
	fmt.Println(set.DeleteString("bob"))       // key not found, and nothing has changed
	fmt.Println(set.Save("users.bloom"))       // <nil>, and everbloom.Open reads it back

	// Output:
	// true
	// false
	// <nil>
	// evergreen: delete: key not found
	// <nil>
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

// Kinds that store their keys tell for certain, where MayContain may err.
func ExampleSet_Contains() {
	set, err := everbloom.New(everbloom.Needs{Kind: "evergreen"})
	if err != nil {
		log.Fatal(err)
	}
	set.AddString("alice")
	fmt.Println(set.ContainsString("alice"))
	fmt.Println(set.ContainsString("bob"))

	// Output:
	// true <nil>
	// false <nil>
}

// Keys are listed as hashes: the bytes they were made from are not stored.
func ExampleSet_Keys() {
	set, err := everbloom.New(everbloom.Needs{Kind: "evergreen"})
	if err != nil {
		log.Fatal(err)
	}
	set.AddString("alice")
	keys, err := set.Keys()
	if err != nil {
		log.Fatal(err)
	}
	for k := range keys {
		fmt.Println(k == set.Hash().String("alice"))
	}

	// Output:
	// true
}

// A copy does not follow the set that it was made of.
func ExampleSet_Clone() {
	set, err := everbloom.New(everbloom.Needs{Items: 1000})
	if err != nil {
		log.Fatal(err)
	}
	set.AddString("alice")
	before, err := set.Clone()
	if err != nil {
		log.Fatal(err)
	}
	set.AddString("bob")
	fmt.Println(before.MayContainString("alice"), before.MayContainString("bob"), set.Equal(before))

	// Output:
	// true false false
}

// What is in one set and not in another: the users that left since yesterday.
func ExampleSet_Difference() {
	needs := everbloom.Needs{Delete: true}
	yesterday, err1 := everbloom.New(needs)
	today, err2 := everbloom.New(needs)
	if err := errors.Join(err1, err2); err != nil {
		log.Fatal(err)
	}
	yesterday.AddString("alice")
	yesterday.AddString("bob")
	today.AddString("bob")

	if err := yesterday.Difference(today); err != nil {
		log.Fatal(err)
	}
	fmt.Println(yesterday.MayContainString("alice"), yesterday.MayContainString("bob"))

	// Output:
	// true false
}

// Batches take hashed keys and tell of each whether it was new.
func ExampleSet_AddBatch() {
	set, err := everbloom.New(everbloom.Needs{Items: 1000})
	if err != nil {
		log.Fatal(err)
	}
	set.AddString("bob")
	var keys []filter.Key
	for _, name := range []string{"alice", "bob", "carol"} {
		keys = append(keys, set.Hash().String(name))
	}
	added := make([]bool, len(keys))
	n, err := set.AddBatch(keys, added)
	fmt.Println(n, added, err)

	// Output:
	// 2 [true false true] <nil>
}

// All keys of a map, a slice or any other sequence, in one line.
func ExampleAddSeq() {
	users := map[string]int{"alice": 7, "bob": 3}
	set, err := everbloom.New(everbloom.Needs{Items: 1000})
	if err != nil {
		log.Fatal(err)
	}
	n, err := everbloom.AddSeq(set, maps.Keys(users), set.Hash().String)
	fmt.Println(n, err, set.MayContainString("bob"))

	// Output:
	// 2 <nil> true
}

// Structs become keys by their values.
func ExampleKeyFunc() {
	type session struct {
		User string
		Day  int
	}
	set, err := everbloom.New(everbloom.Needs{Items: 1000})
	if err != nil {
		log.Fatal(err)
	}
	key, err := everbloom.KeyFunc[session](set.Hash())
	if err != nil {
		log.Fatal(err)
	}
	set.AddKey(key(session{"alice", 17}))
	fmt.Println(set.MayContainKey(key(session{"alice", 17})), set.MayContainKey(key(session{"alice", 18})))

	// Output:
	// true false
}

// A set may be a part of a longer stream: reading leaves what follows it.
func ExampleSet_ReadFrom() {
	set, err := everbloom.New(everbloom.Needs{Items: 1000})
	if err != nil {
		log.Fatal(err)
	}
	set.AddString("alice")
	var stream bytes.Buffer
	if _, err := set.WriteTo(&stream); err != nil {
		log.Fatal(err)
	}
	stream.WriteString("and then some")

	var restored everbloom.Set
	if _, err := restored.ReadFrom(&stream); err != nil {
		log.Fatal(err)
	}
	fmt.Println(restored.MayContainString("alice"), stream.String())

	// Output:
	// true and then some
}

// A cleared set can be filled again, at the size that it has.
func ExampleSet_Clear() {
	set, err := everbloom.New(everbloom.Needs{Items: 1000})
	if err != nil {
		log.Fatal(err)
	}
	set.AddString("alice")
	fmt.Println(set.Clear(), set.MayContainString("alice"))

	// Output:
	// <nil> false
}

// Info is a line for logs, and a struct for programs.
func ExampleSet_Info() {
	f, err := bloom.Build(bloom.Shape{Bits: 1 << 16, Hashes: 7})
	if err != nil {
		log.Fatal(err)
	}
	set := everbloom.NewSet(f, filter.Hash{})
	for i := range uint64(5000) {
		set.AddUint64(i)
	}
	info := set.Info()
	fmt.Println(info)
	fmt.Println(info.Overfull)

	// Output:
	// bloom: about 4987 keys, false-positive rate 0.00205, 8192 bytes, 13.1 bits per key, hash xxh3
	// false
}

// ExampleUpdate changes a file that other programs may change, too.
func ExampleUpdate() {
	defer inTemporaryFolder()()
	const path = "seen.bloom"
	set, err := everbloom.New(everbloom.Needs{Items: 1000})
	if err != nil {
		log.Fatal(err)
	}
	if err := set.Save(path); err != nil {
		log.Fatal(err)
	}

	err = everbloom.Update(context.Background(), path, func(set *everbloom.Set) error {
		_, err := set.AddString("alice")
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	seen, err := everbloom.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(seen.MayContainString("alice"))
	// Output: true
}
