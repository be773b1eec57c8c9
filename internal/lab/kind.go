package lab

import (
	"fmt"
	"slices"
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

// words are the outcomes of each kind, in the order from good to bad.
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

// Tally counts checks, kind by kind.
func Tally(checks []Check) string {
	counts := map[string]int{}
	var order []string
	for _, kind := range Kinds() {
		for _, verdict := range []Verdict{Reproduced, Differs, Shown} {
			word := words[kind][verdict]
			for _, c := range checks {
				if c.kind() == kind && c.Verdict == verdict {
					counts[word]++
				}
			}
			if counts[word] > 0 && word != "shown" && !slices.Contains(order, word) {
				order = append(order, word)
			}
		}
	}
	if counts["shown"] > 0 {
		order = append(order, "shown")
	}
	if len(order) == 0 {
		return "no checks"
	}
	for i, word := range order {
		order[i] = fmt.Sprintf("%d %s", counts[word], word)
	}
	return strings.Join(order, ", ")
}
