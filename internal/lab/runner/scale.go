package runner

// scale turns the share of one experiment into that of all. Experiments take
// seconds or an hour; those that ran before count by the time they took, the
// others as much as the average of those.
type scale struct {
	weights []float64 // of those to run
	done    float64
	total   float64
	left    int
}

// newScale weighs the outcomes that are not there yet.
func newScale(outcomes []Outcome, full bool) *scale {
	s := &scale{}
	known, sum := 0, 0.0
	for _, o := range outcomes {
		if o.Record != nil && o.Record.Full == full {
			known++
			sum += o.Record.Seconds
		}
	}
	average := 1.0
	if sum > 0 {
		average = sum / float64(known)
	}
	for _, o := range outcomes {
		if o.Stored {
			continue
		}
		weight := average
		if o.Record != nil && o.Record.Full == full && o.Record.Seconds > 0 {
			weight = o.Record.Seconds
		}
		s.weights = append(s.weights, weight)
		s.total += weight
	}
	s.left = len(s.weights)
	return s
}

// share is that of the whole work when the present experiment has done a share of
// its own.
func (s *scale) share(own float64) float64 {
	return (s.done + own*s.weights[len(s.weights)-s.left]) / s.total
}

// next says that the present experiment is over.
func (s *scale) next() {
	s.done += s.weights[len(s.weights)-s.left]
	s.left--
}
