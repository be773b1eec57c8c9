// Package merging holds what kinds that can be merged share: the check that two filters
// are of one shape, and unions in two steps.
package merging

import "github.com/everbloom-go/everbloom/filter"

// A Preparer is a Merger that can find out whether a union will succeed before
// anything changes. A set of several filters needs that where a union may lack room.
type Preparer interface {
	filter.Merger

	// PrepareUnion does all of Union that can fail and leaves the filter as it is.
	// finish completes the union, or gives it up if it is not to be committed, and must
	// be called once. Until then a filter that is not [filter.Concurrent] must not be changed;
	// a Concurrent one may keep changes waiting. finish fails only for want of memory
	// that other changes have used up in between.
	PrepareUnion(other filter.Filter) (finish func(commit bool) error, err error)
}

// Union is the Union of a filter in terms of PrepareUnion.
func Union(f Preparer, other filter.Filter) error {
	finish, err := f.PrepareUnion(other)
	if err != nil {
		return err
	}
	return finish(true)
}

// OnCommit returns what PrepareUnion returns where completing cannot fail and there is
// nothing to give up.
func OnCommit(complete func()) (finish func(commit bool) error) {
	return func(commit bool) error {
		if commit {
			complete()
		}
		return nil
	}
}

// Prepare is the PrepareUnion of kinds in which nothing can fail but the comparison of the
// shapes.
func Prepare[F Shaped[S], S comparable](f F, other filter.Filter, unite func(o F)) (finish func(commit bool) error, err error) {
	o, err := Peer(f, other)
	if err != nil {
		return nil, err
	}
	return OnCommit(func() { unite(o) }), nil
}
