// Package everbloom keeps sets that change in little memory: Bloom filters that
// know what you need.
//
// Say what your set does, get a [Set] of the right kind, safe for use by many
// goroutines, that can be saved and opened again:
//
//	set, err := everbloom.New(everbloom.Needs{Items: 1_000_000, FPR: 0.01})
//	set.AddString("alice")
//	set.MayContainString("alice") // true
//	set.MayContainString("bob")   // false, or once in a hundred times true
//	err = set.Save("names.bloom")
//	set, err = everbloom.Open("names.bloom")
//
// A key that is in the set is always found: there are no false negatives. A key that
// is not in it is found, too, about as often as the FPR that was asked for.
//
// [Plan] shows which kinds of filter fulfil given [Needs], and why. The kinds
// themselves, with everything they can do, are the packages below filter; the
// vocabulary they share is package [github.com/everbloom-go/everbloom/filter].
package everbloom
