package main

import (
	"flag"
	"fmt"
	"math"
	"strconv"
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

func parseInt(text string) (int, error) { return strconv.Atoi(text) }

// parseCount reads a number of keys: 500, 10k, 1.5M.
func parseCount(text string) (uint64, error) {
	return scaled(text, []unit{{"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"", 1}})
}

// parseSize reads a number of bytes: 4GiB, 512MiB, 1000.
func parseSize(text string) (uint64, error) {
	return scaled(text, []unit{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}, {"", 1}})
}

// A unit is what may follow a number, and what it stands for.
type unit struct {
	name  string
	times float64
}

// scaled reads a number followed by the first of the units that fits.
func scaled(text string, units []unit) (uint64, error) {
	for _, u := range units {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		x, err := strconv.ParseFloat(number, 64)
		if err != nil || !(x*u.times >= 0 && x*u.times < 1<<63) {
			break
		}
		return uint64(math.Round(x * u.times)), nil
	}
	return 0, fmt.Errorf("%q is not a number with one of the usual units", text)
}

// parseRate reads a rate: 1%, 0.1%, 0.01.
func parseRate(text string) (float64, error) {
	number, ok := strings.CutSuffix(text, "%")
	if !ok {
		return strconv.ParseFloat(text, 64)
	}
	// Shifting the decimal point in the text gives the same float as writing the share.
	return strconv.ParseFloat(number+"e-2", 64)
}

// countText writes a number of keys as people say it: 10 k, 1 M, 1234.
func countText(n uint64) string {
	switch {
	case n >= 1e6 && n%1e5 == 0:
		return fmt.Sprintf("%g M", float64(n)/1e6)
	case n >= 1e3 && n%100 == 0:
		return fmt.Sprintf("%g k", float64(n)/1e3)
	}
	return strconv.FormatUint(n, 10)
}

// percent writes a share in per cent with up to three digits.
func percent(share float64) string { return fmt.Sprintf("%.3g %%", share*100) }

// threadsText writes a number of threads.
func threadsText(threads int) string {
	if threads == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", threads)
}
