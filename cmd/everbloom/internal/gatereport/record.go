// Package gatereport records what a gate does and reports it: as JSON, as text, and as a
// page with charts.
package gatereport

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/gate/event"
	"github.com/everbloom-go/everbloom/internal/gate/exact"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// Point is the state after some number of packets.
type Point struct {
	Packets  uint64  `json:"packets"`
	At       int64   `json:"at,omitempty"` // time of the last packet, nanoseconds since 1970
	Passed   uint64  `json:"passed"`
	Dropped  uint64  `json:"dropped"`
	Rejected uint64  `json:"rejected"`
	Bans     uint64  `json:"bans"`
	Rate     float64 `json:"reject_rate"` // predicted, at which sources that are not banned are rejected

	// If an exact gate judges as well: the packets that it lets pass, how many of them
	// were rejected, and how many should have been by the predicted rate.
	Legitimate uint64  `json:"legitimate,omitempty"`
	Wrong      uint64  `json:"wrongly_rejected,omitempty"`
	Expected   float64 `json:"expected_wrongly_rejected,omitempty"`
}

// Shares returns the measured and the predicted share of legitimate packets that were
// rejected.
func (p Point) Shares() (measured, predicted float64) {
	legitimate := float64(max(1, p.Legitimate))
	return float64(p.Wrong) / legitimate, p.Expected / legitimate
}

// Answered is a query and its answer.
type Answered struct {
	Src netip.Addr `json:"src"`
	gate.Answer
}

// PatternCount is how often a pattern was completed.
type PatternCount struct {
	Name    string `json:"name"`
	Strikes uint64 `json:"strikes"`
}

// Traffic describes the sources of generated packets.
type Traffic struct {
	Seed      uint64 `json:"seed"`
	Honest    uint64 `json:"honest"`
	Evil      uint64 `json:"evil"`
	Listed    uint64 `json:"listed"`     // on the black list
	LockedOut uint64 `json:"locked_out"` // honest users whose packets are rejected in the end
	MapBytes  uint64 `json:"map_bytes"`  // of a Go map of all addresses
}

// Summary is the result of a run.
type Summary struct {
	Inputs  []string `json:"inputs,omitempty"`
	Seconds float64  `json:"seconds"` // reading and judging

	// Skipped is how many frames of captures are no packets, by what they are.
	Skipped map[string]uint64 `json:"skipped,omitempty"`

	// Confirmed says that hits of the banned set are looked up exactly.
	Confirmed bool `json:"confirmed"`

	Traffic  *Traffic       `json:"traffic,omitempty"`
	Gate     gate.Stats     `json:"gate"`
	Patterns []PatternCount `json:"patterns"` // that were completed, the most frequent first
	Events   []event.Event  `json:"latest"`
	Bans     []event.Event  `json:"bans,omitempty"`     // at most [MaxBans]
	Talkers  []Talker       `json:"talkers,omitempty"`  // that sent most, if they were counted
	Rejects  []Talker       `json:"rejected,omitempty"` // that were rejected most
	Queries  []Answered     `json:"queries,omitempty"`
	Omitted  uint64         `json:"queries_omitted,omitempty"` // answers beyond [MaxQueries]
	Began    int64          `json:"began,omitempty"`           // time of the first packet, nanoseconds since 1970
	Points   []Point        `json:"points"`
	Check    *exact.Report  `json:"check,omitempty"`
}

// Recorder counts verdicts. It is for one goroutine at a time.
type Recorder struct {
	patterns []pattern.Pattern
	strikes  []uint64
	packets  uint64
	actions  [4]uint64 // packets by verdict
	points   []Point
	every    uint64 // packets between two points, a power of two
	latest   []event.Event
	bans     []event.Event
	allBans  bool // are kept
	talkers  *top // nil if sources are not counted
	rejected *top
	began    int64 // time of the first packet
	at       int64 // and of the last
	queries  []Answered
	omitted  uint64 // queries
	look     func(*Point)
}

const (
	maxPoints = 64
	maxLatest = 12

	// MaxBans is how many bans a summary keeps.
	MaxBans = 10_000

	// MaxQueries is how many answers a summary keeps.
	MaxQueries = 1000
)

// NewRecorder returns a recorder for a gate with these patterns. It calls look at times,
// to fill in what verdicts do not tell.
func NewRecorder(patterns []pattern.Pattern, look func(*Point)) *Recorder {
	return &Recorder{patterns: patterns, strikes: make([]uint64, len(patterns)), every: 1, look: look}
}

// CountSources makes the recorder count packets by source, too, which takes time.
func (r *Recorder) CountSources() { r.talkers, r.rejected = newTop(), newTop() }

// KeepBans makes the recorder keep all bans, for Bans.
func (r *Recorder) KeepBans() { r.allBans = true }

// Bans returns the bans that were kept: the first [MaxBans], or all.
func (r *Recorder) Bans() []event.Event { return r.bans }

// Count counts the verdict on a packet.
func (r *Recorder) Count(p *packets.Packet, v gate.Verdict) {
	r.packets++
	r.actions[v.Action]++
	if r.talkers != nil {
		r.talkers.count(p.Src)
		if v.Action == gate.Reject {
			r.rejected.count(p.Src)
		}
	}
	if p.At != 0 {
		r.at = p.At
		r.began = cmp.Or(r.began, p.At)
	}
	if r.packets&(r.every-1) == 0 {
		r.mark()
	}
}

// Pattern returns the name of the pattern that a packet completed.
func (r *Recorder) Pattern(v gate.Verdict) string { return r.patterns[v.Pattern].Name }

// Strike records a verdict whose reason is [gate.Struck], after Count.
func (r *Recorder) Strike(v gate.Verdict, e event.Event) {
	r.strikes[v.Pattern]++
	if len(r.latest) == maxLatest {
		r.latest = slices.Delete(r.latest, 0, 1)
	}
	r.latest = append(r.latest, e)
	if e.Kind == event.Ban && (r.allBans || len(r.bans) < MaxBans) {
		r.bans = append(r.bans, e)
	}
}

// mark keeps a point. When there are too many, every second one is dropped.
func (r *Recorder) mark() {
	r.points = append(r.points, r.point())
	if len(r.points) < maxPoints {
		return
	}
	for i := range maxPoints / 2 {
		r.points[i] = r.points[2*i+1]
	}
	r.points = r.points[:maxPoints/2]
	r.every *= 2
}

// point returns the present state.
func (r *Recorder) point() Point {
	p := Point{
		Packets: r.packets, At: r.at,
		Passed: r.actions[gate.Pass], Dropped: r.actions[gate.Drop], Rejected: r.actions[gate.Reject], Bans: r.actions[gate.Ban],
	}
	r.look(&p)
	return p
}

// Answer records the answer to a query, if there is room for it.
func (r *Recorder) Answer(src netip.Addr, a gate.Answer) {
	if len(r.queries) == MaxQueries {
		r.omitted++
		return
	}
	r.queries = append(r.queries, Answered{src, a})
}

// Omitted returns how many answers there was no room for.
func (r *Recorder) Omitted() uint64 { return r.omitted }

// Now returns the present state and the latest events.
func (r *Recorder) Now() (Point, []event.Event) { return r.point(), slices.Clone(r.latest) }

// Summary puts everything together.
func (r *Recorder) Summary(s gate.Stats, seconds float64) Summary {
	out := Summary{Seconds: seconds, Gate: s, Events: slices.Clone(r.latest), Queries: r.queries, Omitted: r.omitted, Points: slices.Clone(r.points), Bans: r.bans[:min(len(r.bans), MaxBans)], Began: r.began}
	if r.talkers != nil {
		out.Talkers, out.Rejects = r.talkers.most(), r.rejected.most()
	}
	for i, n := range r.strikes {
		if n > 0 {
			out.Patterns = append(out.Patterns, PatternCount{r.patterns[i].Name, n})
		}
	}
	slices.SortStableFunc(out.Patterns, func(a, b PatternCount) int { return int(b.Strikes) - int(a.Strikes) })
	if n := len(out.Points); r.packets > 0 && (n == 0 || out.Points[n-1].Packets != r.packets) {
		out.Points = append(out.Points, r.point())
	}
	return out
}
