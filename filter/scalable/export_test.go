package scalable

// Check reports whether the filter is what its documentation says.
func (f *Filter) Check() error { return f.check() }
