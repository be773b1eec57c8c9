package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// person matches words that name a person where a caller, a goroutine or a program is
// meant. "whose" is not among them: it is said of things as well.
var person = regexp.MustCompile(`(?i)\b(somebody|someone|nobody|everybody|everyone|anybody|anyone|whoever|whom|who)\b`)

// wordProblems finds such words in the comments and names of a file. Texts that are
// shown or quoted are not looked at.
func wordProblems(f goFile) []string {
	var out []string
	add := func(n ast.Node, word string) {
		out = append(out, fmt.Sprintf("%s: %q: name the caller, the goroutine or the program instead", f.place(n), word))
	}
	for _, group := range f.syn.Comments {
		for _, c := range group.List {
			if word := person.FindString(c.Text); word != "" {
				add(c, word)
			}
		}
	}
	ast.Inspect(f.syn, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && person.MatchString(id.Name) {
			add(id, id.Name)
		}
		return true
	})
	return out
}

// Unlike the other checks this one sees the other modules of the tree as well.
func TestCommentsAndNamesSpeakOfNoPersons(t *testing.T) {
	walk(t, func(name string, data []byte) {
		if path.Ext(name) != ".go" || strings.Contains(name, "testdata/") || name == "internal/archtest/words_test.go" {
			return
		}
		f, err := parse(filepath.Join(root, name), name, data)
		if err != nil {
			t.Error(err)
			return
		}
		report(t, wordProblems(f))
	})
}

func TestWordCheckRefusesPersons(t *testing.T) {
	const text = `package p

// f is called by who holds the lock,
// or by a caller whose lock is held.
func f(nobody int) string {
	return "nobody is missed" // Everyone knows.
}
`
	wantProblems(t, wordProblems(source(t, "a.go", text)), `a.go:3: "who"`, `a.go:6: "Everyone"`, `a.go:5: "nobody"`)
}
