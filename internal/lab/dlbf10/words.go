package dlbf10

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// dictionary is the list of words that keys are drawn from.
type dictionary struct {
	words  []string
	origin string // a sentence for the notes of a result
}

// wordFile is where the real list is in a data folder.
const wordFile = "words/american-english-large.txt.gz"

// openDictionary returns the real words if there is a data folder, and made-up ones
// otherwise.
func openDictionary(folder string) (dictionary, error) {
	if folder == "" {
		return madeUp(), nil
	}
	var words []string
	err := lab.Lines(folder, wordFile, func(word string) error { words = append(words, word); return nil })
	slices.Sort(words)
	words = slices.Compact(words)
	if err == nil && len(words) < 2*maxSample {
		err = fmt.Errorf("%d words, at least %d", len(words), 2*maxSample)
	}
	if err != nil {
		return dictionary{}, fmt.Errorf("dlbf10: dictionary: %w", err)
	}
	return dictionary{words, fmt.Sprintf("Keys are words of a real dictionary, %d of them.", len(words))}, nil
}

// madeUpWords is the size of the dictionary in the paper.
const madeUpWords = 145_000

// madeUp returns the same made-up words every time.
var madeUp = sync.OnceValue(func() dictionary {
	return dictionary{makeWords(madeUpWords), fmt.Sprintf("Keys are %d made-up words.", madeUpWords)}
})

// The made-up words are built like English ones: stems of one to four syllables
// with the endings that dictionaries list, so that neighbours differ in a letter or
// two, which is what a hash has to cope with.
var (
	onsets  = strings.Fields("b c d f g h j k l m n p r s t v w br ch cl cr dr fl gr pl pr sh sl sp st str th tr")
	vowels  = strings.Fields("a e i o u ai ea ee ie oo ou")
	codas   = []string{"", "", "", "b", "ck", "d", "l", "ll", "m", "n", "nd", "ng", "nt", "p", "r", "rt", "s", "ss", "st", "t", "x"}
	endings = []string{"", "s", "ed", "ing", "er", "ly", "ness", "'s"}
)

// makeWords returns n words, all different, in a fixed order.
func makeWords(n int) []string {
	r := rand.New(rand.NewPCG(1970, 2010))
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	seen := make(map[string]bool, n)
	words := make([]string, 0, n)
	for len(words) < n {
		var stem strings.Builder
		for range 1 + r.IntN(4) {
			stem.WriteString(pick(onsets) + pick(vowels) + pick(codas))
		}
		for _, end := range endings[:1+r.IntN(len(endings))] {
			if w := stem.String() + end; !seen[w] && len(words) < n {
				seen[w] = true
				words = append(words, w)
			}
		}
	}
	return words
}

// keys hashes all words.
func (d dictionary) keys(h filter.Hash) []filter.Key {
	keys := make([]filter.Key, len(d.words))
	for i, w := range d.words {
		keys[i] = h.String(w)
	}
	return keys
}

// openKeys returns the hashed words, and a note on where they are from.
func openKeys(e *lab.Env) (keys []filter.Key, note string, err error) {
	d, err := openDictionary(e.Data)
	if err != nil {
		return nil, "", err
	}
	return d.keys(filter.Hash{}), d.origin, nil
}

// maxSample keeps samples far smaller than dictionaries.
const maxSample = 1_000

// sample draws n different keys, at most maxSample.
func sample(r *rand.Rand, from []filter.Key, n int) []filter.Key {
	chosen := make([]filter.Key, 0, n)
	for len(chosen) < n {
		if k := from[r.IntN(len(from))]; !slices.Contains(chosen, k) {
			chosen = append(chosen, k)
		}
	}
	return chosen
}

// absent draws n keys that are not among the members; they may repeat.
func absent(r *rand.Rand, from []filter.Key, n int, members []filter.Key) []filter.Key {
	chosen := make([]filter.Key, 0, n)
	for len(chosen) < n {
		if k := from[r.IntN(len(from))]; !slices.Contains(members, k) {
			chosen = append(chosen, k)
		}
	}
	return chosen
}
