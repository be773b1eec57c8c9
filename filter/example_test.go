package filter_test

import (
	"errors"
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// Every kind is used in the same way; this one keeps the keys themselves.
func Example() {
	var h filter.Hash
	f := filtertest.NewExact(filtertest.ExactConfig{Items: 100})

	added, err := f.Add(h.String("hello"))
	fmt.Println("added:", added, err)
	fmt.Println("hello:", f.MayContain(h.Bytes([]byte("hello"))))
	fmt.Println("world:", f.MayContain(h.String("world")))

	err = filter.Delete(f, h.String("world"))
	fmt.Println("not found:", errors.Is(err, filter.ErrNotFound))
	// Output:
	// added: true <nil>
	// hello: true
	// world: false
	// not found: true
}

func ExampleHash() {
	var h filter.Hash // XXH3, seed 0
	fmt.Println(h.String("hello") == h.Bytes([]byte("hello")))
	fmt.Printf("%#x\n", uint64(h.Uint64(42)))

	secret := filter.NewSipHash() // for keys that an adversary may choose
	fmt.Println(secret, secret.Secret())
	// Output:
	// true
	// 0xd5a6f8c838df27c8
	// siphash true
}

func ExampleParseHash() {
	h, err := filter.ParseHash("murmur3:7")
	fmt.Println(h == filter.Murmur3(7), err)
	_, err = filter.ParseHash("md5")
	fmt.Println(err)
	// Output:
	// true <nil>
	// filter: hash "md5" is unknown: take xxh3, siphash or murmur3
}

func ExampleAbilitiesOf() {
	var f *filtertest.Exact // no filter is needed, only its type
	can := filter.AbilitiesOf(f)
	fmt.Println("delete:", can.Delete, "concurrent:", can.Concurrent)
	// Output: delete: true concurrent: false
}
