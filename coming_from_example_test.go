package everbloom_test

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"log"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
)

// The code between the first statement and the output of these functions is that of
// docs/coming-from.md.

func Example_comingFromBitsAndBlooms() {
	defer inTemporaryFolder()()

	set, err := everbloom.New(everbloom.Needs{Items: 1_000_000, FPR: 0.01, Spare: everbloom.TotalMemory})
	if err != nil {
		log.Fatal(err)
	}
	added, _ := set.AddString("alice") // this set is never full
	fmt.Println("was there before:", !added)
	fmt.Println("may be there:", set.MayContainString("alice"))

	var stored bytes.Buffer
	if err := gob.NewEncoder(&stored).Encode(set); err != nil {
		log.Fatal(err)
	}

	// Output:
	// was there before: false
	// may be there: true
}

func Example_comingFromBlobloom() {
	defer inTemporaryFolder()()

	f, err := bloom.NewBlocked(bloom.Config{Items: 1_000_000, FPR: 0.01}) // without locks
	if err != nil {
		log.Fatal(err)
	}
	h := uint64(0x9e3779b97f4a7c15) // a hash that the program has already
	f.Add(filter.Key(h))
	fmt.Println(f.MayContain(filter.Key(h)))

	set := everbloom.NewSet(f, filter.Hash{}) // for many goroutines
	fmt.Println(set.MayContainKey(filter.Key(h)))

	// Output:
	// true
	// true
}

func Example_comingFromCuckoo() {
	defer inTemporaryFolder()()

	set, err := everbloom.New(everbloom.Needs{Items: 100_000, FPR: 0.001, Delete: true})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := set.Add([]byte("alice")); err != nil {
		log.Fatal(err) // out of memory: the set itself is never full
	}
	err = set.Delete([]byte("bob"))
	fmt.Println("absent:", errors.Is(err, filter.ErrNotFound))

	// Output:
	// absent: true
}

func Example_comingFromBoomFilters() {
	defer inTemporaryFolder()()

	scalable, err1 := everbloom.New(everbloom.Needs{Items: 10_000, FPR: 0.01, Kind: "scalable"})
	counting, err2 := everbloom.New(everbloom.Needs{Items: 10_000, FPR: 0.01, Kind: "counting"})
	if err := errors.Join(err1, err2); err != nil {
		log.Fatal(err)
	}
	scalable.AddString("alice")
	counting.AddString("alice")
	counting.AddString("alice")
	fmt.Println("as often as added:", counting.DeleteString("alice"), counting.MayContainString("alice"))

	// Output:
	// as often as added: <nil> true
}

func Example_comingFromRedisBloom() {
	defer inTemporaryFolder()()

	set, err := everbloom.New(everbloom.Needs{Items: 1000, FPR: 0.01, Grow: true})
	if err != nil {
		log.Fatal(err)
	}
	keys := []filter.Key{set.Hash().String("alice"), set.Hash().String("bob")}
	if _, err := set.AddBatch(keys, nil); err != nil {
		log.Fatal(err)
	}
	found := make([]bool, len(keys))
	set.MayContainBatch(keys, found)
	fmt.Println(found)
	if err := set.Save("names.bloom"); err != nil {
		log.Fatal(err)
	}

	// Output:
	// [true true]
}
