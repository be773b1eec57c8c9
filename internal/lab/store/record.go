package store

import (
	"slices"
	"time"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// version of the stored form. Results can be found again, so older ones are not
// read.
const version = 2

// Record is a result and how it came about.
type Record struct {
	Version int        `json:"version"`
	ID      string     `json:"id"`
	Full    bool       `json:"full"`
	Params  []Setting  `json:"params"`
	Seed    uint64     `json:"seed"`
	Origin  Origin     `json:"origin"`
	Workers int        `json:"workers"`
	Started time.Time  `json:"started"`
	Seconds float64    `json:"seconds"`
	Result  lab.Result `json:"result"`

	// Data are the files of real data that were there for the experiment.
	Data []lab.DataFile `json:"data,omitempty"`
}

// Setting is a parameter as text.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Settings writes parameters down.
func Settings(p lab.Params) []Setting {
	out := make([]Setting, len(p))
	for i, param := range p {
		out[i] = Setting{param.Name, param.String()}
	}
	return out
}

// Mode is the word for quick or full.
func (r *Record) Mode() string {
	if r.Full {
		return "full"
	}
	return "quick"
}

// Current reports whether the experiment still has the parameters of the record.
func (r *Record) Current(x lab.Experiment) bool {
	return slices.Equal(r.Params, Settings(x.Params.In(r.Full)))
}

// Repeats reports whether a run with this environment and program would only
// repeat the record. Of the folder with data only the files count that the
// experiment can use, by their names and sizes.
func (r *Record) Repeats(x lab.Experiment, e *lab.Env, commit string) bool {
	return r.Full == e.Full && r.Current(x) && r.Seed == e.Seed && r.Origin.Commit == commit && slices.Equal(r.Data, x.Files(e.Data))
}

// Took is how long the run took, as people read it.
func (r *Record) Took() string { return quantity.Duration(time.Duration(r.Seconds * 1e9)) }
