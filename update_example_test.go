package everbloom_test

import (
	"context"
	"fmt"
	"log"

	"github.com/everbloom-go/everbloom"
)

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
