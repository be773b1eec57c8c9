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
	"github.com/everbloom-go/everbloom/internal/quantity"
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
)

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
		t.last.err = filter.Grow(t.filter)
	default:
		return
	}
	t.steps = append(t.steps, step)
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

// howView is what the page shows that explains filters.
type howView struct {
	Kinds     []kinds.Kind
	Kind      kinds.Kind
	Steps     string
	Key       string
	Shown     string // the key whose cells are marked
	Answer    string
	Right     bool
	CanDelete bool
	CanGrow   bool
	Info      filter.Info
	Keys      []howKey
	Parts     []howPart
	More      int // parts that are not drawn
	False     []string
	FalseRate string
	Denied    []string
}

// A howKey is a key that is in the set.
type howKey struct {
	Name   string
	Times  int
	Pinned bool
}

// view describes the trial, with what a key touches.
func (t *trial) view(name string) (*howView, error) {
	v := &howView{Kinds: kinds.All(), Kind: t.kind, Steps: strings.Join(t.steps, "\n"), Shown: name, Info: t.filter.Info()}
	_, v.CanDelete = t.filter.(filter.Deleter)
	_, v.CanGrow = t.filter.(filter.Resizer)
	var key *filter.Key
	if name != "" {
		k := keyOf(name)
		key = &k
	}
	parts, err := picture.Draw(t.filter, key)
	if err != nil {
		return nil, err
	}
	v.More = max(len(parts)-partsMost, 0)
	for _, p := range parts[:len(parts)-v.More] {
		v.Parts = append(v.Parts, howPart{p})
	}
	for _, name := range t.order {
		n := t.truth[name]
		if n > 0 {
			v.Keys = append(v.Keys, howKey{name, n, t.pinned(name)})
		}
		if n > 0 && !t.filter.MayContain(keyOf(name)) {
			v.Denied = append(v.Denied, name)
		}
	}
	t.probe(v)
	return v, nil
}

// probe asks about keys that were never added.
func (t *trial) probe(v *howView) {
	found := 0
	for i := range probes {
		name := fmt.Sprint("visitor", i+1)
		if t.truth[name] > 0 || !t.filter.MayContain(keyOf(name)) {
			continue
		}
		if found++; found <= probesMost {
			v.False = append(v.False, name)
		}
	}
	v.FalseRate = fmt.Sprintf("Of %d keys that were never added, the filter takes %d for present, %s", probes, found, quantity.Rate(float64(found)/probes))
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

// how does what a form asks for. It has nothing to do with the sets of the server.
func (c *Console) how(r *http.Request, _ User) (frame, error) {
	kind := r.FormValue("kind")
	if kind == "" {
		kind = "bloom"
	}
	key, action := r.PostFormValue("key"), r.PostFormValue("do")
	if look := r.PostFormValue("look"); look != "" {
		key, action = look, doAsk
	}
	key = strings.NewReplacer("\r", "", "\n", "").Replace(key)
	steps := r.PostFormValue("steps")
	switch {
	case action == "clear":
		steps, key = "", ""
	case action == "undo":
		steps, key = steps[:max(strings.LastIndexByte(strings.TrimRight(steps, "\r\n"), '\n'), 0)], ""
	}
	t, err := newTrial(kind, steps)
	if err != nil {
		return frame{}, err
	}
	answer, right := t.act(action, key)
	shown := key
	if action == "some" || action == "grow" {
		shown = ""
	}
	v, err := t.view(shown)
	if err != nil {
		return frame{}, err
	}
	v.Answer, v.Right, v.Key = answer, right, key
	return frame{Title: "How it works", Page: "how", View: v}, nil
}

// act does what a button says, and tells what became of it.
func (t *trial) act(action, key string) (answer string, right bool) {
	before := len(t.steps)
	switch action {
	case doAdd:
		t.do(stepAdd + key)
	case doDelete:
		t.do(stepDelete + key)
	case "grow":
		t.do(stepGrow)
	case "some":
		t.addSome()
		return "", true
	default:
		if key == "" {
			return "", true
		}
		return t.look(key)
	}
	switch {
	case len(key) > maxKey:
		return fmt.Sprintf("is too long: at most %d bytes.", maxKey), false
	case len(t.steps) == before:
		return fmt.Sprintf("Nothing was done: at most %d steps. Start again.", maxSteps), false
	}
	return t.result(key)
}

// howPartial answers with what a form of the page asks for, without the frame.
func (c *Console) howPartial(w http.ResponseWriter, r *http.Request, u User) {
	f, err := c.how(r, u)
	if err != nil {
		c.failed(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := c.pages.templates.ExecuteTemplate(w, "trial", f.View); err != nil {
		return // the browser is gone
	}
}
