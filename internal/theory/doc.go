// Package theory holds the formulas that several kinds of filter share, as pure
// functions of plain numbers.
//
// One notation throughout, whatever the papers call things (see
// docs/notation.md): n keys, m bits, k hashes, f the false-positive rate. Each
// function names its source by the tag of a page in docs/papers, writes the
// formula with the source's symbols, and says whether it is exact, a bound or an
// approximation. Formulas of one kind only stand in that kind's own theory.go.
package theory
