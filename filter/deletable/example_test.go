package deletable_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
)

func Example() {
	f, err := deletable.New(deletable.Config{Items: 1000, FPR: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	var hash filter.Hash
	f.Add(hash.String("apple"))
	f.Add(hash.String("pear"))
	fmt.Println(f.Delete(hash.String("apple")))
	fmt.Println(f.MayContain(hash.String("apple")), f.MayContain(hash.String("pear")))
	// Output:
	// <nil>
	// false true
}

// The three outcomes.
func ExampleFilter_Delete() {
	f, err := deletable.New(deletable.Config{Items: 1000, FPR: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	var hash filter.Hash
	for _, word := range []string{"once", "twice", "twice"} {
		f.Add(hash.String(word))
	}
	for _, word := range []string{"once", "once", "twice"} {
		switch err := f.Delete(hash.String(word)); {
		case err == nil:
			fmt.Println(word, "is gone")
		case errors.Is(err, filter.ErrNotFound):
			fmt.Println(word, "was not there")
		case errors.Is(err, filter.ErrPinned):
			fmt.Println(word, "stays: it cannot be told from others")
		}
	}
	// Output:
	// once is gone
	// once was not there
	// twice stays: it cannot be told from others
}

func ExampleConfig_Shape() {
	for _, share := range []float64{0.5, 0.9, 0.99} {
		s, err := deletable.Config{Items: 1_000_000, FPR: 0.01, Deletability: share}.Shape()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.1f bits per key: %d hashes, regions of %d; %.1f %% can be deleted, rate %.2f %%\n",
			float64(s.Bits)/1e6, s.Hashes, s.RegionBits(), 100*s.Deletability(1_000_000), 100*s.FPR(1_000_000))
	}
	// Output:
	// 10.4 bits per key: 6 hashes, regions of 12; 52.3 % can be deleted, rate 1.00 %
	// 11.5 bits per key: 5 hashes, regions of 6; 90.1 % can be deleted, rate 1.00 %
	// 17.2 bits per key: 5 hashes, regions of 3; 99.0 % can be deleted, rate 0.34 %
}

// Fig. 1 of [DlBF10]: 32 bits, of which the first four say where keys collided. The
// salt is one of 16 that lets all three keys be deleted.
func ExampleChoose() {
	shape := deletable.Shape{Bits: 32, Hashes: 3, Regions: 4}
	var hash filter.Hash
	x, y, z := hash.String("x"), hash.String("y"), hash.String("z")
	keys := []filter.Key{x, y, z}
	f, number, err := deletable.Choose(shape, keys, deletable.AllDeletable(keys...), 16)
	if err != nil {
		log.Fatal(err)
	}
	packet := f.AppendRaw(nil)
	fmt.Printf("candidate %d: %s\n", number, draw(shape, packet))

	there, err := deletable.FromRaw(shape.Candidate(number), packet)
	if err != nil {
		log.Fatal(err)
	}
	for i, k := range keys {
		err := there.Delete(k)
		fmt.Printf("without %c:   %s %v\n", "xyz"[i], draw(shape, there.AppendRaw(nil)), err)
	}
	// Output:
	// candidate 2: 1000 0000110 0000010 1100100 0000000
	// without x:   1000 0000110 0000010 0100100 0000000 <nil>
	// without y:   1000 0000110 0000010 0000000 0000000 <nil>
	// without z:   1000 0000110 0000000 0000000 0000000 <nil>
}
