package compare

import (
	"errors"
	"fmt"
	"sync"
)

// crewSize is how many goroutines add, and ask, at a time.
const crewSize = 4

// tryConcurrent has several goroutines add keys to one filter, each its own, and ask
// for those that it has added. Kinds that do not claim to stand this are not tried:
// they would only break.
func (b bench) tryConcurrent() (trial, error) {
	if !b.kind.Abilities().Concurrent {
		return trial{dash, true}, nil
	}
	f, err := b.make(b.n)
	if err != nil {
		return trial{}, err
	}
	var (
		crew   sync.WaitGroup
		lost   [crewSize]int
		failed [crewSize]error
		share  = b.n / crewSize
	)
	for i := range crewSize {
		crew.Go(func() {
			for j := range share {
				if _, err := f.Add(b.keys.Member(i*share + j)); err != nil {
					failed[i] = err
					return
				}
				lost[i] += denied(f, b.keys, i*share+j/2, 1) + denied(f, b.keys, i*share+j, 1)
			}
		})
	}
	crew.Wait()
	all := denied(f, b.keys, 0, crewSize*share)
	for _, n := range lost {
		all += n
	}
	t := trial{words: fmt.Sprintf("%d goroutines: %d of %d members denied", crewSize, all, crewSize*share), ok: all == 0 && share > 0}
	return t, errors.Join(failed[:]...)
}
