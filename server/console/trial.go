package console

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/server/internal/picture"
)

// A trial is a small filter and what was done with it. Nothing of it is kept: each request
// brings all steps, and they are done again.
type trial struct {
	kind   kinds.Kind
	filter filter.Filter
	steps  []string
	truth  map[string]int // how often each key is in the set
	order  []string       // the keys that were ever added
	last   stepResult
}

// stepResult is what became of a step.
type stepResult struct {
	added bool
	err   error
}

// A step is a line: what is done, and the key.
const (
	stepAdd    = "+"
	stepDelete = "-"
	stepGrow   = "^"
)

// The sizes of a trial.
const (
	maxSteps   = 300
	maxKey     = 100 // bytes
	addedKeys  = 10  // by one button
	probes     = 500 // absent keys that are asked
	probesMost = 8   // of them that are shown
	partsMost  = 16
	maxBits    = 1 << 20 // of a filter that may still grow
)

// errLarge is the outcome of growing a filter that is too large to be drawn.
var errLarge = errors.New("console: the filter is too large to be drawn")

// newTrial does the steps. Lines that are no steps are left out.
func newTrial(kind, steps string) (*trial, error) {
	k, err := kinds.ByName(kind)
	if err != nil {
		return nil, problem{http.StatusNotFound, err.Error()}
	}
	t := &trial{kind: k, truth: make(map[string]int)}
	if t.filter, err = picture.Small(kind); err != nil {
		return nil, err
	}
	for line := range strings.Lines(steps) {
		t.do(strings.TrimRight(line, "\r\n"))
	}
	return t, nil
}

// keyOf hashes a key. The hash has no secret, so that a trial is the same each time.
func keyOf(name string) filter.Key { return filter.Hash{}.String(name) }

// do does a step, unless there are too many.
func (t *trial) do(step string) {
	if step == "" || len(t.steps) >= maxSteps || len(step) > maxKey+1 {
		return
	}
	name := step[1:]
	switch step[:1] {
	case stepAdd:
		t.last.added, t.last.err = t.filter.Add(keyOf(name))
		if t.last.err == nil {
			t.add(name)
		}
	case stepDelete:
		if t.last.err = filter.Delete(t.filter, keyOf(name)); t.last.err == nil && t.truth[name] > 0 {
			t.truth[name]--
		}
	case stepGrow:
		t.last.err = t.grow()
	default:
		return
	}
	t.steps = append(t.steps, step)
}

// grow has the filter grow, unless it is large. Some kinds double with each step.
func (t *trial) grow() error {
	if i := t.filter.Info(); i.FastBits+i.SlowBits > maxBits {
		return errLarge
	}
	return filter.Grow(t.filter)
}

func (t *trial) add(name string) {
	if !slices.Contains(t.order, name) {
		t.order = append(t.order, name)
	}
	if t.truth[name] == 0 || t.filter.Info().Duplicates == filter.DuplicatesCounted {
		t.truth[name]++
	}
}

// addSome adds keys that were not added yet.
func (t *trial) addSome() {
	for n, i := 0, 1; n < addedKeys && i < maxSteps; i++ {
		if name := fmt.Sprint("user", i); !slices.Contains(t.order, name) {
			t.do(stepAdd + name)
			n++
		}
	}
}

// look says what the filter answers about a key, and whether that is true.
func (t *trial) look(name string) (text string, right bool) {
	may, is := t.filter.MayContain(keyOf(name)), t.truth[name] > 0
	switch {
	case may && is:
		return "may be in the set. It is.", true
	case may:
		return "may be in the set, says the filter. It is not: this is a false positive.", false
	case is:
		return "was added, and the filter denies it: another key was deleted that never had been added, and took it along.", false
	}
	return "is not in the set, for certain.", true
}

// result says what became of the last step.
func (t *trial) result(name string) (text string, right bool) {
	err := t.last.err
	switch step := t.steps[len(t.steps)-1][:1]; {
	case errors.Is(err, filter.ErrPinned):
		return "is pinned: all its bits are where keys collided, so that none may be cleared. It stays.", false
	case errors.Is(err, filter.ErrNotFound):
		return "was not in the set. Nothing was deleted.", true
	case errors.Is(err, filter.ErrFull):
		return "is refused: the filter is full.", false
	case errors.Is(err, errLarge):
		return "The filter is as large as can be drawn.", false
	case err != nil:
		return err.Error(), false
	case step == stepGrow:
		return "The filter has grown.", true
	case step == stepDelete && !slices.Contains(t.order, name):
		return "was deleted, although it never was added: what was taken out belongs to other keys.", false
	case step == stepDelete:
		return "was deleted.", true
	case t.last.added:
		return "was added.", true
	}
	return "was added. It looked as if it was there already.", true
}

// pinned reports whether a key cannot be deleted now, by trying it with a copy.
func (t *trial) pinned(name string) bool {
	s, ok := t.filter.(filter.Snapshotter)
	if !t.kind.Pins || !ok {
		return false
	}
	var b bytes.Buffer
	if _, err := s.Snapshot().WriteTo(&b); err != nil {
		return false
	}
	f, err := t.kind.Read(&b)
	return err == nil && errors.Is(filter.Delete(f, keyOf(name)), filter.ErrPinned)
}
