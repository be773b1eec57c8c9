package exact

import (
	"net/netip"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// Check runs an engine and an exact gate side by side.
type Check struct {
	Engine *gate.Engine
	Exact  *Gate

	report    Report
	pending   map[netip.Addr]bool // banned by the exact gate and not by the engine
	banned    map[netip.Addr]bool // by the engine
	early     map[netip.Addr]bool // of these, the ones that the exact gate has not banned
	predicted float64             // rate of the banned set when last asked
}

// A Difference is a packet with two verdicts.
type Difference struct {
	Number uint64       `json:"number"`
	Src    netip.Addr   `json:"src"`
	Got    gate.Verdict `json:"got"`
	Want   gate.Verdict `json:"want"`
}

// NewCheck returns a comparison of two gates for one Config.
func NewCheck(c gate.Config) (*Check, error) {
	e, err := gate.New(c)
	if err != nil {
		return nil, err
	}
	return &Check{
		Engine: e, Exact: New(c),
		report:  Report{Rejected: map[Cause]uint64{}, Passed: map[Cause]uint64{}},
		pending: map[netip.Addr]bool{}, banned: map[netip.Addr]bool{}, early: map[netip.Addr]bool{},
	}, nil
}

// sampling is how many packets lie between two readings of the predicted rate, which is
// costly for some kinds.
const sampling = 4096

// Step sends a packet to both gates and compares the verdicts. A query is answered by
// both and counted.
func (c *Check) Step(p *packets.Packet) (got, want gate.Verdict) {
	if p.Query {
		c.ask(p.Src)
		return got, want
	}
	if p.Payload != nil {
		flow := p.Flow()
		want = c.Exact.StepPayload(p.Src, flow[:], p.Payload, p.At)
	} else {
		want = c.Exact.StepWords(p.Src, p.Words, p.At)
	}
	return c.Follow(p, want), want
}

// Follow sends a packet to the engine alone and compares its verdict with that of the
// exact gate. So several checks can share one exact gate: one steps, the others follow.
func (c *Check) Follow(p *packets.Packet, want gate.Verdict) (got gate.Verdict) {
	got = p.Judge(c.Engine)
	c.report.Packets++
	if c.report.Packets%sampling == 1 {
		c.predicted = c.Engine.RejectRate()
	}
	if want.Passed() && want.Reason != gate.Whitelisted {
		c.report.Legitimate++
		c.report.Expected += c.predicted
	}
	_, src := c.Exact.identify(p.Src)
	c.countBans(src, got, want)
	if got.Action != want.Action || got.Reason != want.Reason || got.Pattern != want.Pattern || got.Strikes != want.Strikes {
		c.differ(p.Number, src, got, want)
	}
	return got
}

// ask compares the answers about an address.
func (c *Check) ask(src netip.Addr) (got, want gate.Answer) {
	got, want = c.Engine.Query(src), c.Exact.Query(src)
	c.report.Queries[want.Standing][got.Standing]++
	if got.Both {
		c.report.Both++
	}
	return got, want
}

// countBans compares the bans of the two. A ban that the engine gives before the exact
// gate is spurious, and not missing as well.
func (c *Check) countBans(src netip.Addr, got, want gate.Verdict) {
	engine, exact := got.Action == gate.Ban, want.Action == gate.Ban
	if engine {
		c.banned[src] = true
	}
	switch {
	case engine && exact:
		c.report.Bans.Right++
	case engine && c.pending[src]:
		delete(c.pending, src)
		c.report.Bans.Late++
	case engine:
		c.report.Bans.Spurious++
		c.early[src] = true
	case exact && c.early[src]:
		delete(c.early, src)
	case exact:
		c.pending[src] = true
	}
}

// differ records a difference and its cause, by whether the packet passes.
func (c *Check) differ(number uint64, src netip.Addr, got, want gate.Verdict) {
	r := &c.report
	falsePositive := got.Action == gate.Reject && !c.banned[src]
	if r.First == nil && !falsePositive {
		r.First = &Difference{Number: number, Src: src, Got: got, Want: want}
	}
	switch {
	case want.Passed() && !got.Passed():
		r.Rejected[c.whyRejected(src, got)]++
	case got.Passed() && !want.Passed():
		r.Passed[c.whyPassed(src, want)]++
	default:
		r.Otherwise++ // both let it pass, or both hold it back
	}
}

func (c *Check) whyRejected(src netip.Addr, got gate.Verdict) Cause {
	switch {
	case c.early[src]:
		return SpuriousBan
	case got.Reason == gate.Struck:
		return SpuriousStrike
	}
	return FalsePositive
}

func (c *Check) whyPassed(src netip.Addr, want gate.Verdict) Cause {
	switch {
	case want.Action != gate.Reject:
		return MissedStrike
	case c.banned[src]:
		return ForgottenBan
	case c.pending[src]:
		return MissingBan
	}
	return BlacklistMissed
}
