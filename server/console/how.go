package console

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/server/internal/picture"
)

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
	v.FalseRate = fmt.Sprintf("Of %d keys that were never added, the filter takes %d for present, %s", probes, found, rateText(float64(found)/probes))
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
	switch action {
	case "clear":
		steps, key = "", ""
	case "undo":
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
