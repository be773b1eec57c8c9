package perennial

// Check reports whether the filter's invariants hold.
func (f *Filter) Check() error { return f.check() }
