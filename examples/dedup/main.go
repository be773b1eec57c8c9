// Command dedup prints the lines of its standard input that it has not seen
// before. It keeps about ten bytes per line instead of the lines themselves, and
// grows with its input. The verb uniq of the tool everbloom does the same and
// remembers lines from one run to the next.
//
//	$ printf '%s\n' ann bob ann zoe bob | go run ./examples/dedup
//	ann
//	bob
//	zoe
package main

import (
	"bufio"
	"errors"
	"io"
	"log"
	"os"

	"github.com/everbloom-go/everbloom"
)

// maxLine is the number of bytes that a line may have.
const maxLine = 16 << 20

func main() {
	log.SetFlags(0)
	if err := dedup(os.Stdin, os.Stdout); err != nil {
		log.Fatal("dedup: ", err)
	}
}

func dedup(in io.Reader, out io.Writer) (err error) {
	seen, err := everbloom.New(everbloom.Needs{Grow: true})
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	defer func() { err = errors.Join(err, w.Flush()) }() // also after an error: these lines count as seen
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		isNew, err := seen.Add(lines.Bytes())
		if err != nil {
			return err
		}
		if isNew {
			_, _ = w.Write(lines.Bytes()) // Flush reports the first error
			_ = w.WriteByte('\n')
		}
	}
	return lines.Err()
}
