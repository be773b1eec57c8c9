package evergreen

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

// A history is a list of versions, each with what has changed since the one
// before; the first has the whole set.
type history struct {
	versions [][]change
	real     bool
}

type change struct {
	key filter.Key
	add bool // or delete
}

// historyFile is where the real one is, in the folder with the data.
const historyFile = "ip/bitwire-outbound-churn.txt.gz"

// readHistory reads a log with a line "@ time commit" for each version, "+x" for
// entries new in it and "-x" for those that are gone.
func readHistory(path string) (history, error) {
	file, err := os.Open(path)
	if err != nil {
		return history{}, err
	}
	defer func() { _ = file.Close() }() // only read
	plain, err := gzip.NewReader(file)
	if err != nil {
		return history{}, fmt.Errorf("%s: %w", path, err)
	}
	h, err := parseHistory(plain)
	if err != nil {
		return history{}, fmt.Errorf("%s: %w", path, err)
	}
	h.real = true
	return h, nil
}

func parseHistory(r io.Reader) (history, error) {
	var h history
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		text := lines.Text()
		switch {
		case text == "":
		case text[0] == '@':
			h.versions = append(h.versions, nil)
		case (text[0] == '+' || text[0] == '-') && len(h.versions) > 0:
			last := &h.versions[len(h.versions)-1]
			*last = append(*last, change{key: filter.Hash{}.String(text[1:]), add: text[0] == '+'})
		default:
			return h, fmt.Errorf("line %d is not of a change log: %q", number, text)
		}
	}
	if len(h.versions) == 0 && lines.Err() == nil {
		return h, io.ErrUnexpectedEOF
	}
	return h, lines.Err()
}

// The real history has 198 versions. It begins with 180,280 entries; half of the
// versions have fewer than 50 new ones, one has 8,848; two new entries in five had
// been there before.
const (
	typicalShare = 49.0 / 180_280
	largestShare = 8_848.0 / 180_280
	oldFriends   = 0.41
)

// inventHistory makes one of that sort: sizes of versions with a heavy tail, keys
// that go and come back.
func inventHistory(r *rand.Rand, start, versions int) history {
	k, next := walk.NewKeys(r), 0
	var there, gone []filter.Key
	take := func(from *[]filter.Key) filter.Key {
		i := r.IntN(len(*from))
		key := (*from)[i]
		(*from)[i] = (*from)[len(*from)-1]
		*from = (*from)[:len(*from)-1]
		return key
	}
	count := func() int {
		return int(min(typicalShare*math.Exp(2*r.NormFloat64()), largestShare) * float64(start))
	}
	enter := func(key filter.Key) change {
		there = append(there, key)
		return change{key, true}
	}
	first := make([]change, start)
	for ; next < start; next++ {
		first[next] = enter(k.Member(next))
	}
	h := history{versions: [][]change{first}}
	for len(h.versions) < versions {
		var version []change
		for range min(count(), len(there)) {
			key := take(&there)
			gone = append(gone, key)
			version = append(version, change{key, false})
		}
		for range count() {
			if len(gone) > 0 && r.Float64() < oldFriends {
				version = append(version, enter(take(&gone)))
				continue
			}
			version = append(version, enter(k.Member(next)))
			next++
		}
		h.versions = append(h.versions, version)
	}
	return h
}

// count returns how many additions and deletions there are.
func (h history) count() (adds, deletes int) {
	for _, v := range h.versions {
		for _, c := range v {
			if c.add {
				adds++
			} else {
				deletes++
			}
		}
	}
	return adds, deletes
}
