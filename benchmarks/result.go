package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// An op is something that is timed.
type op string

const (
	insert op = "insert"
	hit    op = "hit"
	miss   op = "miss"
	remove op = "delete"
)

// inBatches names the batch form of an operation.
func (o op) inBatches(size int) op { return op(fmt.Sprintf("%s%d", o, size)) }

// batchSizes are the batches that are measured.
var batchSizes = []int{64, 1024}

// A cell is the setting of one table.
type cell struct {
	N       uint64  `json:"n"`
	FPR     float64 `json:"fpr"`
	KeySize int     `json:"keysize"`
	Threads int     `json:"threads"`
}

// facts are what is measured once per contender and set of keys, whatever the clock says.
type facts struct {
	Bits     float64        `json:"bits_per_key"`        // heap growth
	Says     float64        `json:"says,omitempty"`      // what the filter itself says, 0 if nothing
	Positive int            `json:"positives"`           // of Probes absent keys
	Probes   int            `json:"probes"`              //
	Missed   float64        `json:"missed,omitempty"`    // share of present keys that were not found
	Refused  int            `json:"refused,omitempty"`   // keys the filter had no room for
	Allocs   map[op]float64 `json:"allocations_per_key"` // by operation
	Note     string         `json:"note,omitempty"`      //
}

// FPR returns the measured rate of false positives.
func (f facts) FPR() float64 { return float64(f.Positive) / float64(f.Probes) }

// A result is one row of one table.
type result struct {
	cell
	Contender string           `json:"contender"`
	Skipped   string           `json:"skipped,omitempty"` // why there are no figures
	Facts     *facts           `json:"facts,omitempty"`   // shared by the rows of one set of keys
	Nanos     map[op][]float64 `json:"ns_per_key"`        // one sample per round
}

// record adds the sample of one round.
func (r *result) record(o op, t tally) {
	if r.Nanos == nil {
		r.Nanos = map[op][]float64{}
	}
	r.Nanos[o] = append(r.Nanos[o], t.perKey())
}

// A report is everything a run has found.
type report struct {
	Machine  machine  `json:"machine"`
	Settings string   `json:"settings"`
	Results  []result `json:"results"`
	Broken   []string `json:"broken_promises,omitempty"`
}

// find returns the row of a contender in a cell, nil if there is none with figures.
func (r *report) find(c cell, name string) *result {
	i := slices.IndexFunc(r.Results, func(x result) bool {
		return x.cell == c && x.Contender == name && x.Skipped == ""
	})
	if i < 0 {
		return nil
	}
	return &r.Results[i]
}

// cells returns the settings of the tables in the order they were measured.
func (r *report) cells() (all []cell) {
	for _, x := range r.Results {
		if !slices.Contains(all, x.cell) {
			all = append(all, x.cell)
		}
	}
	return all
}

// save writes the report to a file.
func (r *report) save(path string) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return fmt.Errorf("benchmarks: raw results: %w", err)
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
