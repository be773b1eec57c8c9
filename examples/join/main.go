// Command join pairs the lines of two files that begin with the same word. Unlike
// join(1) it does not need them sorted:
//
//	$ printf '%s\n' 'ann 1' 'bob 2' > few; printf '%s\n' 'zoe x' 'bob y' 'ann z' 'kim u' > many; go run ./examples/join many few
//	ann z 1
//	bob y 2
//	join: of the 4 lines of the larger file the filter skipped 2
//
// This is a Bloom join. A filter of the smaller file's words picks the lines of the
// larger one that may have a partner. Only these are kept, or would be sent if the files
// were on two machines; one in a hundred is kept for nothing. Then the smaller file is
// read again, and its lines find their partners exactly.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"log"
	"os"
	"strings"

	"github.com/everbloom-go/everbloom"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("join: ")
	if len(os.Args) != 3 {
		log.Fatal("usage: join FILE FILE")
	}
	left, err1 := os.Open(os.Args[1])
	right, err2 := os.Open(os.Args[2])
	if err := errors.Join(err1, err2); err != nil {
		log.Fatal(err)
	}
	lines, skipped, err := join(left, right, os.Stdout)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("of the %d lines of the larger file the filter skipped %d", lines, skipped)
}

// join writes pairs, left before right, in the order of the smaller file. It returns
// how many lines the larger one has, and how many of them need not be kept.
func join(left, right io.ReadSeeker, out io.Writer) (lines, skipped int, err error) {
	small, large, pair := left, right, func(s, l string) string { return s + l }
	size, err1 := left.Seek(0, io.SeekEnd)
	other, err2 := right.Seek(0, io.SeekEnd)
	if other < size {
		small, large, pair, size = right, left, func(s, l string) string { return l + s }, other
	}
	// How many words there are can only be guessed, so the filter must be able to grow.
	words, err3 := everbloom.New(everbloom.Needs{Items: 1 + uint64(size)/32, FPR: 0.01, Grow: true, Spare: everbloom.TotalMemory})
	if err = errors.Join(err1, err2, err3); err != nil {
		return 0, 0, err
	}
	for word := range rows(small, &err) {
		_, err = words.AddString(word)
	}
	kept := map[string][]string{}
	for word, rest := range rows(large, &err) {
		lines++
		if words.MayContainString(word) {
			kept[word] = append(kept[word], rest)
		} else {
			skipped++
		}
	}
	w := bufio.NewWriter(out)
	for word, rest := range rows(small, &err) {
		for _, other := range kept[word] {
			_, _ = fmt.Fprintln(w, word+pair(rest, other)) // Flush reports the first error
		}
	}
	return lines, skipped, errors.Join(err, w.Flush())
}

// rows gives the first word of every line and the rest of it, until there is an error.
func rows(f io.ReadSeeker, err *error) iter.Seq2[string, string] {
	return func(yield func(word, rest string) bool) {
		if *err == nil {
			_, *err = f.Seek(0, io.SeekStart)
		}
		lines := bufio.NewScanner(f)
		for *err == nil && lines.Scan() {
			line := lines.Text()
			end := strings.IndexAny(line+" ", " \t")
			if !yield(line[:end], line[end:]) {
				return
			}
		}
		*err = errors.Join(*err, lines.Err())
	}
}
