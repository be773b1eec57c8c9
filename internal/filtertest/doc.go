// Package filtertest tests filters. It knows what must hold for every kind and
// finds out from the filter itself, by its abilities and its Info, what is to be
// checked. The tests of a kind are then short:
//
//	var subject = filtertest.Subject{
//		Name: "bloom",
//		New:  func(items uint64, fpr float64) (filter.Filter, error) { return bloom.New(bloom.Config{Items: items, FPR: fpr}) },
//		Read: func(r io.Reader) (filter.Filter, error) { return bloom.Read(r) },
//	}
//
//	func TestConformance(t *testing.T) { filtertest.Run(t, subject) }
//	func TestModel(t *testing.T)       { filtertest.Model(t, subject, 1, 100_000) }
//	func FuzzModel(f *testing.F)       { filtertest.Fuzz(f, subject) }
//
// [Run] looks at each property by itself. [Model] and [Fuzz] run lists of
// commands against a [Set], the exact reference, and find what only a sequence
// of operations shows. Keys come from a [Stream], so that a run can be repeated
// and a key that is meant to be absent never is present by accident.
//
// [AddAndDelete] and [Invariants] run the same engine with other weights of its
// commands on filters of any shape: the one on a set that changes for long, the other
// with a check of the inside of the filter after each command.
//
// [Codec] has the tests of a kind's stored form: files that must be read forever,
// forged ones that must be refused, and a fuzz target for the reader.
//
// # What is tolerated
//
// Whatever is measured is judged by the binomial spread of the measurement, four
// standard deviations, and by [RateSlack] on top of it, because the rate of a
// filter is itself random: filters of equal shape fill unevenly. Keys and seeds
// are fixed, so that a kind passes always or never.
//
// Errors that a kind may answer with are tolerated wherever the vocabulary of
// package filter allows them, and must have changed nothing: ErrFull from a
// filter of bounded size, ErrPinned from Delete, and an error that wraps
// [errors.ErrUnsupported] from one half of an ability, such as the intersection
// of a kind that can only be united.
//
// [Exact] is a filter that never errs. It stands in for a kind wherever a test
// needs some filter whose answers are known.
package filtertest
