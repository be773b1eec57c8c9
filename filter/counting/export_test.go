package counting

// Counter returns the value of counter i.
func (f *Filter) Counter(i uint64) int {
	at := i * f.width
	return int(f.words[at/64] >> (at % 64) & f.top)
}

// Saturated returns the number of counters that are stuck.
func (f *Filter) Saturated() uint64 { return f.saturated }
