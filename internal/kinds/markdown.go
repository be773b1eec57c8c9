package kinds

import "strings"

// columns are the heads of the table of kinds and what stands below them.
var columns = []struct {
	head string
	cell func(Kind) string
}{
	{"kind", func(k Kind) string { return k.Name }},
	{"grows", func(k Kind) string { return yes(k.Grows) }},
	{"delete", func(k Kind) string { return k.Deleting }},
	{"adding twice", func(k Kind) string { return k.Duplicates.String() }},
	{"deleting an absent key", func(k Kind) string { return k.AbsentDelete }},
	{"past capacity", func(k Kind) string { return k.PastCapacity }},
	{"merge", func(k Kind) string { return k.Merging }},
	{"concurrent", func(k Kind) string { return yes(k.Abilities().Concurrent) }},
}

// none stands in a cell for an ability that a kind has not.
const none = "–"

func yes(can bool) string {
	if can {
		return "yes"
	}
	return none
}

// Markdown returns the table of all kinds in Markdown, as it stands in the
// README.
func Markdown() string { return markdown(table) }

func markdown(rows []Kind) string {
	var b strings.Builder
	for _, c := range columns {
		b.WriteString("| " + c.head + " ")
	}
	b.WriteString("|\n" + strings.Repeat("|---", len(columns)) + "|\n")
	for _, k := range rows {
		for _, c := range columns {
			b.WriteString("| " + escape(c.cell(k)) + " ")
		}
		b.WriteString("|\n")
	}
	return b.String()
}

// escape keeps a text inside its cell.
func escape(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
