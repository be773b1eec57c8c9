package lab

import (
	"fmt"
	"strings"
)

// Kind says what a check is about. Counts are kept per kind: a formula of a paper
// that contradicts itself is no failed reproduction, and a promise of this project
// is none that a paper made.
type Kind string

// The kinds.
const (
	Paper    Kind = "paper"    // what a paper prints: reproduced, or it differs
	Erratum  Kind = "erratum"  // arithmetic or logic in print that no run can change
	Own      Kind = "own"      // what this project states: it holds, or fails
	Question Kind = "question" // what a paper leaves open: answered
)

// Kinds returns all kinds in the order in which they are shown.
func Kinds() []Kind { return []Kind{Paper, Erratum, Own, Question} }

// Means tells what the kind is, for the head of a page.
func (k Kind) Means() string {
	return map[Kind]string{
		Paper:    "what the papers print",
		Erratum:  "errors in print, which no run can change",
		Own:      "what this project states",
		Question: "what the papers leave open",
	}[k]
}

// words are the outcomes of each kind.
var words = map[Kind]map[Verdict]string{
	Paper:    {Reproduced: "reproduced", Differs: "differs", Shown: "shown"},
	Erratum:  {Reproduced: "right after all", Differs: "erratum", Shown: "shown"},
	Own:      {Reproduced: "holds", Differs: "fails", Shown: "shown"},
	Question: {Reproduced: "answered", Differs: "fails", Shown: "answered"},
}

// Word is the verdict in the words of its kind.
func (c Check) Word() string { return words[c.kind()][c.Verdict] }

func (c Check) kind() Kind {
	if c.Kind == "" {
		return Paper
	}
	return c.Kind
}

// Tally counts the checks by outcome, in words: "4 reproduced, 1 differs, 2 answered".
func (r *Result) Tally() string { return Tally(r.Checks) }

// Tally counts checks by outcome, kind by kind.
func Tally(checks []Check) string {
	counts := map[string]int{}
	for _, c := range checks {
		counts[c.Word()]++
	}
	var parts []string
	for _, word := range []string{"reproduced", "differs", "erratum", "right after all", "holds", "fails", "answered", "shown"} {
		n := counts[word]
		if word == "erratum" && n > 1 {
			word = "errata"
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	if len(parts) == 0 {
		return "no checks"
	}
	return strings.Join(parts, ", ")
}
