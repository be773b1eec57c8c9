// Command dedup prints the lines of its standard input that it has not seen
// before. It needs 2 bytes per line instead of the lines themselves; about one new
// line in a thousand is taken for an old one.
//
//	$ printf '%s\n' ann bob ann zoe bob | go run ./examples/dedup
//	ann
//	bob
//	zoe
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/everbloom-go/everbloom"
)

func main() {
	log.SetFlags(0)
	if err := dedup(os.Stdin, os.Stdout); err != nil {
		log.Fatal("dedup: ", err)
	}
}

func dedup(in io.Reader, out io.Writer) error {
	seen, err := everbloom.New(everbloom.Needs{Items: 1_000_000, FPR: 0.001})
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		isNew, err := seen.Add(lines.Bytes())
		if err != nil {
			return err
		}
		if isNew {
			_, _ = fmt.Fprintln(w, lines.Text()) // Flush reports the first error
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return w.Flush()
}
