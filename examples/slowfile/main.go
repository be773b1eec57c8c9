// Command slowfile holds a large set with its slow memory on disk. Queries read the
// fast memory only, about 20 bits per key at one false positive in a thousand; adding
// and deleting also use the file, which is scratch space and removed at the end.
//
//	$ go run ./examples/slowfile -keys 20000
//	20000 keys added, 5000 deleted
//	15000 keys, of which 0 are not found
//
// With -v it also tells times and memory. 50 million keys, the default, took 128 MiB of
// memory and 422 MiB on disk, and 40 s of processor time. With -slow "", in ordinary
// memory, they took 544 MiB and 28 s.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/everbloom-go/everbloom"
)

func main() {
	log.SetFlags(0)
	keys := flag.Uint64("keys", 50_000_000, "number of keys")
	slow := flag.String("slow", filepath.Join(os.TempDir(), "everbloom-slow"),
		"scratch `FILE` for slow memory; empty for ordinary memory")
	verbose := flag.Bool("v", false, "tell times and memory, too")
	flag.Parse()
	logf := func(string, ...any) {}
	if *verbose {
		logf = log.Printf
	}
	if err := run(*keys, *slow, os.Stdout, logf); err != nil {
		log.Fatal("slowfile: ", err)
	}
}

// run adds keys, deletes a quarter and asks for the others.
func run(keys uint64, slow string, out io.Writer, logf func(string, ...any)) error {
	set, err := everbloom.New(everbloom.Needs{Delete: true, SlowFile: slow})
	if err != nil {
		return err
	}
	defer func() { _ = set.Close() }() // removes the file
	start := time.Now()
	for i := range keys {
		if _, err := set.AddUint64(i); err != nil {
			return err
		}
	}
	report(logf, "adding", time.Since(start), keys, slow)
	start = time.Now()
	for i := range keys / 4 {
		if err := set.DeleteUint64(i); err != nil {
			return err
		}
	}
	report(logf, "deleting", time.Since(start), keys/4, slow)
	start = time.Now()
	lost := 0
	for i := keys / 4; i < keys; i++ {
		if !set.MayContainUint64(i) {
			lost++
		}
	}
	report(logf, "asking", time.Since(start), keys-keys/4, slow)
	_, err = fmt.Fprintf(out, "%d keys added, %d deleted\n%d keys, of which %d are not found\n",
		keys, keys/4, set.Info().Keys, lost)
	return err
}

// report logs the time of an operation, the Go heap, and the size of the file.
func report(logf func(string, ...any), what string, took time.Duration, n uint64, slow string) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	size := int64(0)
	if info, err := os.Stat(slow); err == nil {
		size = info.Size()
	}
	logf("%-8s %5.0f ns per key, %4d MiB in memory, %4d MiB on disk",
		what, float64(took.Nanoseconds())/float64(max(n, 1)), m.HeapAlloc>>20, size>>20)
}
