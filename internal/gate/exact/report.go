package exact

import (
	"math/rand/v2"
	"net/netip"

	"github.com/everbloom-go/everbloom/gate"
)

// Cause is the reason of a wrong verdict.
type Cause string

// The causes.
const (
	FalsePositive   Cause = "false positive of the banned set"
	SpuriousBan     Cause = "spurious ban"
	SpuriousStrike  Cause = "spurious strike"
	MissedStrike    Cause = "missed strike"
	MissingBan      Cause = "missing ban"
	ForgottenBan    Cause = "forgotten ban"
	BlacklistMissed Cause = "blacklisted source"
)

// Report is the result of a check.
type Report struct {
	Packets    uint64 `json:"packets"`
	Legitimate uint64 `json:"legitimate"` // packets that the exact gate lets pass, without those of the white list

	First     *Difference      `json:"first_difference,omitempty"` // that no false positive explains
	Rejected  map[Cause]uint64 `json:"wrongly_rejected"`           // held back for whatever reason
	Passed    map[Cause]uint64 `json:"wrongly_passed"`             // that should have been held back
	Otherwise uint64           `json:"otherwise_different"`        // in the reason, strikes or pattern, not in passing

	// Expected is how many packets the gate should reject wrongly, by the rate that it
	// predicts at each.
	Expected float64 `json:"expected_wrongly_rejected"`

	Bans Bans `json:"bans"`

	// Queries counts answers by what is true, then by what the engine answers, in the
	// order none, good, bad.
	Queries [3][3]uint64 `json:"queries"`
	Both    uint64       `json:"both"` // answers that both sets claim the address

	Tracked Measured   `json:"tracked"`
	Banned  Measured   `json:"banned"`
	Gate    gate.Stats `json:"gate"`
}

// Bans compares the bans of the two.
type Bans struct {
	Right    uint64 `json:"right"`    // by both, with the same packet
	Late     uint64 `json:"late"`     // by the engine, after the exact gate
	Missing  uint64 `json:"missing"`  // by the exact gate only, so far
	Covered  uint64 `json:"covered"`  // of the missing ones, those rejected all the same
	Spurious uint64 `json:"spurious"` // by the engine only, or before the exact gate
}

// Measured is the rate of a set, as predicted and as measured. That of the banned set is
// the rate at which the gate takes absent addresses for banned: with the overflow
// filter, and after confirmation.
type Measured struct {
	Predicted      float64 `json:"predicted_fpr"`
	FPR            float64 `json:"measured_fpr"`
	FalsePositives uint64  `json:"false_positives"` // absent keys that it may contain, by its answer
	Absent         uint64  `json:"absent"`          // absent keys that were asked about
	FalseNegatives uint64  `json:"false_negatives"` // present keys that it takes for absent
	Pinned         uint64  `json:"pinned"`
}

// WronglyRejected returns the number of packets for all causes.
func (r Report) WronglyRejected() uint64 { return sum(r.Rejected) }

// WronglyPassed returns the number of packets for all causes.
func (r Report) WronglyPassed() uint64 { return sum(r.Passed) }

func sum(by map[Cause]uint64) (n uint64) {
	for _, count := range by {
		n += count
	}
	return n
}

// Counts returns what was counted so far, without queries. Its maps change as the
// comparison goes on.
func (c *Check) Counts() Report { return c.report }

// Report asks the engine about every user that the exact gate knows and about so many
// random absent addresses, and returns all results. The comparison may go on afterwards.
func (c *Check) Report(absent int, seed uint64) Report {
	c.report.Tracked, c.report.Banned = Measured{}, Measured{}
	for src := range c.Exact.tracked {
		c.askPresent(src)
	}
	for src := range c.Exact.banned {
		c.askPresent(src)
	}
	c.askAbsent(absent, rand.New(rand.NewPCG(seed, 0x7374726e67657273)))
	r := c.report
	r.Gate = c.Engine.Stats()
	r.Tracked.finish(r.Gate.Tracked.FPR, r.Gate.Tracked.Pinned)
	r.Banned.finish(c.Engine.RejectRate(), r.Gate.Banned.Pinned)
	for src := range c.pending {
		r.Bans.Missing++
		if c.Engine.Query(src).Standing == gate.Bad {
			r.Bans.Covered++
		}
	}
	return r
}

// askPresent asks about an address that is in a set of the exact gate.
func (c *Check) askPresent(src netip.Addr) {
	got, want := c.ask(src)
	good, bad := claims(got)
	if want.Standing == gate.Good && !good && !bad { // an address that is rejected by mistake is not tracked
		c.report.Tracked.FalseNegatives++
	}
	if want.Standing == gate.Bad && !bad {
		c.report.Banned.FalseNegatives++
	}
}

// askAbsent asks about random addresses that are in no set.
func (c *Check) askAbsent(n int, r *rand.Rand) {
	for range n {
		x := r.Uint32()
		src := netip.AddrFrom4([4]byte{byte(x >> 24), byte(x >> 16), byte(x >> 8), byte(x)})
		if c.Exact.Query(src).Standing != gate.None || c.Exact.exceptions[src] {
			continue
		}
		got, _ := c.ask(src)
		good, bad := claims(got)
		c.report.Tracked.count(good)
		c.report.Banned.count(bad)
	}
}

// count takes in the answer about an absent address.
func (m *Measured) count(claimed bool) {
	m.Absent++
	if claimed {
		m.FalsePositives++
	}
}

func (m *Measured) finish(predicted float64, pinned uint64) {
	m.Predicted, m.Pinned = predicted, pinned
	if m.Absent > 0 {
		m.FPR = float64(m.FalsePositives) / float64(m.Absent)
	}
}

// claims returns which sets claim an address, from the answer about it.
func claims(a gate.Answer) (good, bad bool) {
	return a.Standing == gate.Good || a.Both, a.Standing == gate.Bad
}
