package demo

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// changes are the versions of a block list: those of a public one, or made up.
type changes struct {
	versions [][]string // lines: +entry or -entry
	at       int
	made     []string // entries that were made up and are in the list
}

// historyFile is where the history of a public block list is, in the folder of data.
const historyFile = "ip/bitwire-outbound-churn.txt.gz"

// mostEntries of a version are taken: the first one has them all.
const mostEntries = 20_000

// A list that is made up grows to so many entries, and then changes.
const (
	madeEntries = 8000
	madeStep    = 600
)

// readChanges reads the history. If there is none, or it cannot be read, it is made up.
func readChanges() (c changes) {
	f, err := os.Open(filepath.Join(os.Getenv("EVERBLOOM_DATA"), historyFile))
	if err != nil {
		return c
	}
	defer func() { _ = f.Close() }() // it was only read
	plain, err := gzip.NewReader(f)
	if err != nil {
		return c
	}
	for lines := bufio.NewScanner(plain); lines.Scan(); {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "@"):
			c.versions = append(c.versions, nil)
		case len(c.versions) > 0 && line != "" && len(c.versions[len(c.versions)-1]) < mostEntries:
			last := &c.versions[len(c.versions)-1]
			*last = append(*last, line)
		}
	}
	return c
}

// next returns what the next version adds and deletes. After the last one it is made up.
func (c *changes) next(rng *rand.Rand) (added, gone []string) {
	if c.at < len(c.versions) {
		for _, line := range c.versions[c.at] {
			if entry, ok := strings.CutPrefix(line, "+"); ok {
				added = append(added, entry)
			} else if entry, ok := strings.CutPrefix(line, "-"); ok {
				gone = append(gone, entry)
			}
		}
		c.at++
		return added, gone
	}
	n := 50 + rng.IntN(100)
	if len(c.made) < madeEntries {
		n = madeStep
	}
	for range n {
		added = append(added, fmt.Sprintf("%d.%d.%d.%d", 1+rng.IntN(223), rng.IntN(256), rng.IntN(256), rng.IntN(256)))
	}
	c.made = append(c.made, added...)
	if len(c.made) > madeEntries {
		end := min(rng.IntN(150), len(c.made)-n)
		gone, c.made = c.made[:end], c.made[end:]
	}
	return added, gone
}
