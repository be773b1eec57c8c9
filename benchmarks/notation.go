package main

import (
	"flag"
	"fmt"
	"strings"
)

// listFlag defines a flag that takes a list with commas.
func listFlag[T any](fs *flag.FlagSet, list *[]T, name, help string, parse func(string) (T, error)) {
	fs.Func(name, help, func(text string) error {
		*list = nil
		for item := range strings.SplitSeq(text, ",") {
			x, err := parse(strings.TrimSpace(item))
			if err != nil {
				return err
			}
			*list = append(*list, x)
		}
		return nil
	})
}

// setTo returns a flag's function that keeps what parse makes of the text.
func setTo[T any](to *T, parse func(string) (T, error)) func(string) error {
	return func(text string) (err error) {
		*to, err = parse(text)
		return err
	}
}

// threadsText writes a number of threads.
func threadsText(threads int) string {
	if threads == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", threads)
}
