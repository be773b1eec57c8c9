package picture

import (
	"errors"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/kinds"
)

// answer returns what the picture says about the key that was drawn.
func answer(kind string, parts []Part) bool {
	for _, p := range parts {
		touched, on, marked := 0, 0, 0
		for _, c := range p.Cells {
			if !c.Touched {
				continue
			}
			touched++
			if c.On {
				on++
			}
			if c.Zone == Marked {
				marked++
			}
		}
		isList := kind == "evergreen" && len(parts) == 1
		switch {
		case kind == "dleft" && marked > 0, isList && touched > 0, p.Asked && touched > 0 && on == touched:
			return true
		}
	}
	return false
}

// slots counts the cells of slots that a key touches in lines.
func slots(parts []Part) (n int) {
	for _, p := range parts {
		for i, c := range p.Cells {
			if c.Touched && i >= headBits && c.Zone != Map {
				n++
			}
		}
	}
	return n
}

// TestPicturesAnswerAsFiltersDo asks every kind and its picture about present and absent keys,
// while keys come and go and the filter grows.
func TestPicturesAnswerAsFiltersDo(t *testing.T) {
	keys := filtertest.Stream{Seed: 1}.Keys(60)
	for _, kind := range kinds.All() {
		f, err := Small(kind.Name)
		if err != nil {
			t.Fatal(err)
		}
		yes := 0
		for i, k := range keys[:30] {
			if _, err := f.Add(k); err != nil && !errors.Is(err, filter.ErrFull) {
				t.Fatal(kind.Name, err)
			}
			if i%4 == 3 {
				_ = filter.Delete(f, keys[i-1]) // some kinds cannot
			}
			if r, ok := f.(filter.Resizer); ok && i == 10 {
				if err := r.Grow(); err != nil {
					t.Fatal(kind.Name, err)
				}
			}
			if i%3 != 0 {
				continue
			}
			for _, asked := range keys {
				parts, err := Draw(f, &asked)
				if err != nil {
					t.Fatal(kind.Name, err)
				}
				may := f.MayContain(asked)
				if may {
					yes++
				}
				if kind.Name == "perennial" {
					if may && slots(parts) == 0 {
						t.Fatalf("perennial, %d keys: a key that may be there has no slots", i+1)
					}
				} else if got := answer(kind.Name, parts); got != may {
					t.Fatalf("%s, %d keys: the picture says %v, the filter %v", kind.Name, i+1, got, may)
				}
			}
			if parts, err := Draw(f, nil); err != nil || len(parts) == 0 {
				t.Fatal(kind.Name, parts, err)
			}
		}
		if yes < 70 {
			t.Errorf("%s: only %d keys were found", kind.Name, yes)
		}
	}
}

// TestPicturesAreSmall draws no more than fits a page.
func TestPicturesAreSmall(t *testing.T) {
	for _, kind := range kinds.All() {
		f, err := Small(kind.Name)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := Draw(f, nil)
		cells := 0
		for _, p := range parts {
			cells += len(p.Cells)
		}
		if err != nil || cells > 3000 {
			t.Errorf("%s: %d cells in %d parts: %v", kind.Name, cells, len(parts), err)
		}
		t.Logf("%s: %d cells in %d parts", kind.Name, cells, len(parts))
	}
	if _, err := Small("none"); err == nil {
		t.Error("a kind that is not there is drawn")
	}
}
