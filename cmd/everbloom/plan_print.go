package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// print shows what to take, a table that fits 80 columns, and reasons.
func (p *plan) print(choices []everbloom.Choice) error {
	if p.json {
		return printJSON(p.stdout, choices)
	}
	shown := choices
	if !p.all {
		shown = first(choices)
	}
	var text strings.Builder
	width := min(max(p.width(), 40), 100)
	say := func(line string) { writeWrapped(&text, line, width) }
	best, others := choices[0], shown
	if best.Fits {
		say("take " + best.Kind + ": " + best.Why)
		others = shown[1:]
	} else {
		say("no kind fits:")
	}
	text.WriteString("\n")
	p.printTable(&text, shown)
	text.WriteString("\n")
	say("order: " + p.order(shown))
	if hidden := len(choices) - len(shown); hidden > 0 {
		say(fmt.Sprintf("others: %d more with --all", hidden))
	}
	for _, note := range p.notes(choices) {
		say("note: " + note)
	}
	text.WriteString("\n")
	for _, c := range others {
		say(c.Kind + ": " + c.Why)
	}
	_, err := io.WriteString(p.stdout, strings.TrimRight(text.String(), "\n")+"\n")
	return err
}

// printTable shows one line per choice. A strings.Builder never fails.
func (p *plan) printTable(w *strings.Builder, choices []everbloom.Choice) {
	fmt.Fprintf(w, "%s at a rate of %s\n", quantity.Keys(p.items()), quantity.Rate(p.rate()))
	rates := make([]float64, len(choices))
	for i, c := range choices {
		rates[i] = c.FPR
	}
	rate := quantity.RateFormat(rates...)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "kind\tfits\tsize\tfast\tslow\trate\thit\tmiss")
	_, _ = fmt.Fprintln(t, "\t\t\tbits/key\tbits/key\t\tlines\tlines")
	for _, c := range choices {
		_, _ = fmt.Fprintln(t, p.row(c, rate))
	}
	_ = t.Flush()
}

// row shows one choice; of a filter that cannot be made there is nothing to say.
func (p *plan) row(c everbloom.Choice, rate func(float64) string) string {
	fits := "no"
	switch {
	case c.Fits:
		fits = "yes"
	case c.Weaker:
		fits = "weaker"
	}
	if totalBits(c) == 0 {
		return fmt.Sprintf("%s\t%s\t–\t–\t–\t–\t–\t–", c.Kind, fits)
	}
	return fmt.Sprintf("%s\t%s\t%s\t%.2f\t%.2f\t%s\t%.1f\t%.1f", c.Kind, fits, quantity.Bytes(totalBits(c)*float64(p.items())/8),
		c.FastBitsPerKey, c.SlowBitsPerKey, rate(c.FPR), c.HitLines, c.MissLines)
}

func totalBits(c everbloom.Choice) float64 { return c.FastBitsPerKey + c.SlowBitsPerKey }

// order says why the choices are in their order.
func (p *plan) order(choices []everbloom.Choice) string {
	by := map[everbloom.Resource]string{
		everbloom.Time:        "cache lines per query",
		everbloom.FastMemory:  "memory that queries read",
		everbloom.TotalMemory: "memory",
	}[p.Spare]
	text := fmt.Sprintf("the kind that build takes, then by %s (--spare %s)", by, p.Spare)
	least, most, weaker := math.Inf(1), 0.0, false
	for _, c := range choices {
		if c.Fits {
			least, most = min(least, totalBits(c)), max(most, totalBits(c))
		}
		weaker = weaker || c.Weaker
	}
	if most > 10*least {
		text += "; those with ten times the memory of another after the others"
	}
	if last := choices[len(choices)-1]; last.Fits && totalBits(last) == least && len(choices) > 1 {
		text += "; " + last.Kind + ", the smallest, in any case"
	}
	if weaker {
		text += "; those that promise less after all that fit"
	}
	return text
}

// notes says what the table cannot.
func (p *plan) notes(choices []everbloom.Choice) (notes []string) {
	best := choices[0]
	if !best.Fits {
		return nil
	}
	if p.Delete {
		notes = append(notes, p.costOfDeleting(choices)...)
	}
	if p.items() < mapIsFine {
		notes = append(notes, fmt.Sprintf("a Go map is fine for so few keys: %s as short strings take about %s, and it never errs",
			quantity.Keys(p.items()), quantity.Bytes(mapBytes*float64(p.items()))))
	} else if note := p.hashesInstead(best); note != "" {
		notes = append(notes, note)
	}
	if !p.Delete && !p.Grow && !p.Merge {
		notes = append(notes, "for a set that never changes once it is built, a static fuse filter is smaller, 9 bits per key at 0.4 %; it is not offered here")
	}
	if p.Untrusted {
		notes = append(notes, "keys are hashed with a secret that is stored in the file: it merges only with filters that share the secret (build --like)")
	}
	return notes
}

// A Go map of short strings takes 60 to 85 bytes for each.
const (
	mapIsFine = 1000
	mapBytes  = 80
)

// costOfDeleting compares best, the first choice, with that of a set that does not delete
// and of one whose deletes are known, and names the kinds that delete with weaker promises
// in less memory.
func (p *plan) costOfDeleting(choices []everbloom.Choice) (notes []string) {
	best := choices[0]
	needs := p.Needs
	needs.Delete, needs.KnownDeletes = false, false
	if without, err := everbloom.Plan(needs); err == nil && totalBits(without[0]) < totalBits(best) {
		notes = append(notes, fmt.Sprintf("deleting costs memory: %s takes %.1f bits per key, %s without --delete %.1f",
			best.Kind, totalBits(best), without[0].Kind, totalBits(without[0])))
	}
	needs = p.Needs
	needs.KnownDeletes = true
	if promised, err := everbloom.Plan(needs); err == nil && promised[0].Kind != best.Kind {
		notes = append(notes, fmt.Sprintf("if only keys that were added are deleted, --known-deletes: %s takes %.1f bits per key in place of %.1f",
			promised[0].Kind, totalBits(promised[0]), totalBits(best)))
	}
	var compact []everbloom.Choice
	for _, c := range choices {
		if c.Weaker && totalBits(c) < totalBits(best) {
			compact = append(compact, c)
		}
	}
	if len(compact) == 0 {
		return notes
	}
	slices.SortStableFunc(compact, func(a, b everbloom.Choice) int { return cmp.Compare(totalBits(a), totalBits(b)) })
	var names []string
	for _, c := range compact[:min(3, len(compact))] {
		names = append(names, fmt.Sprintf("%s %.1f", c.Kind, totalBits(c)))
	}
	return append(notes, fmt.Sprintf("kinds with weaker promises take fewer bits per key if build names them with --kind: %s", strings.Join(names, ", ")))
}

// hashesInstead says so where a plain table of the keys' hashes is no larger: one of a
// known size is 85 % full, one that grows by doubling 59 % on average.
func (p *plan) hashesInstead(best everbloom.Choice) string {
	table := 64 / 0.85
	how := "a sorted list takes 64 bits per key, a hash set 75"
	if p.Delete || p.Grow {
		table = 64 / 0.59
		how = "a hash set that grows takes 75 to 150 bits per key, 108 on average"
	}
	if totalBits(best) < table {
		return ""
	}
	rate := float64(p.items()) * math.Exp2(-64)
	return fmt.Sprintf("store 64-bit hashes instead: %s, %s takes %.0f; the rate is then %.1g", how, best.Kind, totalBits(best), rate)
}

// writeWrapped writes text and a newline, broken at spaces so that no line has more than
// width characters if its words allow; the following lines are indented. A number and
// its % stay together.
func writeWrapped(w *strings.Builder, text string, width int) {
	const indent, joined = "  ", "\u00a0"
	used := 0
	for i, word := range strings.Split(strings.ReplaceAll(text, " %", joined+"%"), " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case used+1+n > width:
			w.WriteString("\n" + indent)
			used = len(indent)
		default:
			w.WriteString(" ")
			used++
		}
		w.WriteString(strings.ReplaceAll(word, joined, " "))
		used += n
	}
	w.WriteString("\n")
}
