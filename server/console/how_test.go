package console

import (
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
)

// TestTrialsSayWhatHappens goes to where filters err, with every kind.
func TestTrialsSayWhatHappens(t *testing.T) {
	for _, kind := range kinds.All() {
		one, err := newTrial(kind.Name, "+alice\r\n+bob\r\n?what\r\n")
		if err != nil {
			t.Fatal(err)
		}
		if text, right := one.look("alice"); !right || len(one.steps) != 2 || !strings.Contains(text, "It is.") {
			t.Errorf("%s: alice %s %v", kind.Name, text, one.steps)
		}
		for range 3 {
			one.addSome()
		}
		v, err := one.view("alice")
		if err != nil || len(v.Keys) < 30 && one.last.err == nil || len(v.Denied) > 0 {
			t.Errorf("%s: %d keys, %v are denied, %v", kind.Name, len(v.Keys), v.Denied, err)
		}
		for _, name := range v.False {
			if text, right := one.look(name); right || !strings.Contains(text, "false positive") {
				t.Errorf("%s: %s %s", kind.Name, name, text)
			}
		}
		for _, p := range v.Parts {
			if len(p.Cells) > 0 && !strings.HasPrefix(string(p.Figure()), "<svg") {
				t.Error(kind.Name, p.Title, "has no picture")
			}
		}
		if _, can := one.filter.(filter.Deleter); can {
			one.do("-alice")
			text, _ := one.result("alice")
			if _, denied := one.look("alice"); text != "was deleted." && !strings.Contains(text, "pinned") || !denied && one.truth["alice"] > 0 {
				t.Errorf("%s: alice %s", kind.Name, text)
			}
		}
	}
}

// TestTrialsShowPinnedKeysAndFalseNegatives finds both, in the kinds that have them.
func TestTrialsShowPinnedKeysAndFalseNegatives(t *testing.T) {
	one, err := newTrial("deletable", "")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		one.addSome()
	}
	v, err := one.view("")
	if err != nil {
		t.Fatal(err)
	}
	pinned := 0
	for _, k := range v.Keys {
		if k.Pinned {
			pinned++
			text, right := one.act(doDelete, k.Name)
			if right || !strings.Contains(text, "is pinned") {
				t.Errorf("%s %s", k.Name, text)
			}
		}
	}
	if pinned == 0 {
		t.Error("no key is pinned")
	}
	if one, err = newTrial("counting", ""); err != nil {
		t.Fatal(err)
	}
	one.addSome()
	if v, err = one.view(""); err != nil || len(v.False) == 0 {
		t.Fatal("no false positive", err)
	}
	text, _ := one.act(doDelete, v.False[0])
	if v, err = one.view(""); err != nil || !strings.Contains(text, "never was added") || len(v.Denied) == 0 {
		t.Error(text, v.Denied, err)
	}
	if text, right := one.look(v.Denied[0]); right || !strings.Contains(text, "denies it") {
		t.Error(text)
	}
}

// TestTrialsEnd refuses too many steps and keys that are too long.
func TestTrialsEnd(t *testing.T) {
	one, err := newTrial("bloom", strings.Repeat("+a\n", 10*maxSteps))
	if err != nil || len(one.steps) != maxSteps {
		t.Error(len(one.steps), err)
	}
	if text, _ := one.act(doAdd, "b"); !strings.Contains(text, "at most 300 steps") {
		t.Error(text)
	}
	if one, err = newTrial("bloom", ""); err != nil {
		t.Fatal(err)
	}
	if text, _ := one.act(doAdd, strings.Repeat("x", 101)); !strings.Contains(text, "too long") {
		t.Error(text)
	}
	if _, err := newTrial("none", ""); err == nil {
		t.Error("a kind that is not there")
	}
}

// TestTrialsStaySmall has each kind grow often. Without a limit elastic, which doubles, takes
// gigabytes after twenty steps.
func TestTrialsStaySmall(t *testing.T) {
	for _, kind := range kinds.All() {
		one, err := newTrial(kind.Name, strings.Repeat(stepGrow+"\n", 10))
		if err != nil {
			t.Fatal(err)
		}
		if i := one.filter.Info(); i.FastBits+i.SlowBits > 2*maxBits {
			t.Errorf("%s has %d bits", kind.Name, i.FastBits+i.SlowBits)
		}
		text, right := one.act("grow", "")
		if _, can := one.filter.(filter.Resizer); can && right == (kind.Name == "elastic") {
			t.Errorf("%s: %s", kind.Name, text)
		}
	}
}
