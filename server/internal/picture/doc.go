// Package picture draws small filters cell by cell, with what a key touches in them.
//
//	f, _ := picture.Small("bloom")
//	f.Add(k)
//	parts, _ := picture.Draw(f, &k)
//
// Everything is read from the filter itself, through its accessors or the form in which it is
// stored. Where a key has positions that depend on nothing else, they are those that it sets
// in an empty filter of the same shape.
package picture
