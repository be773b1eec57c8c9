package sum

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/gate/exact"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
	"github.com/everbloom-go/everbloom/internal/gate/traffic"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var metflicks = lab.Experiment{
	ID:       "sum/gate",
	Title:    "The packet filter of the challenge, against one that makes no mistakes",
	Question: "How often are all answers right, by the number of addresses and the kind of filter, and does a banned source ever get through?",
	Says: "Programming Challenge: reject packets of addresses on a black list, ban users at the third bad sequence, tell which addresses are good or bad. With many packets or addresses " +
		"\"the actual correct solution [is] only occasionally being found\"; for smaller cases \"the solution should be correct most of the time\"; \"false positives and false negatives are possible\".",
	Params: lab.Params{lab.Int("trials", 24).Full(40), lab.Ints("users", 100, 10_000).Full(100, 1_000, 3_000, 10_000), lab.Int("packets per user", 4).Full(10)},
	Run:    runGate,
	Plots: []lab.View{{
		Name: "right", Title: "Cases in which all answers are right", X: "users", By: "gate", XAxis: lab.Axis{Label: "users", Log: true}, Y: lab.Axis{Label: "share of the cases", Percent: true, Max: 1.02},
		Curves: []lab.Curve{{Measured: "all right"}},
	}},
	Claims: []lab.Claim{
		{Name: "small cases", Printed: "correct most of the time", Where: "Programming Challenge", Of: lab.Of("all right", "gate", arrayGate, "users", 100), Is: lab.Above(lab.Number(0.5))},
		{Name: "large cases", Printed: "the correct solution only occasionally: taken as less than half of the time", Where: "Programming Challenge", Of: lab.Of("all right", "gate", arrayGate, "users", 10_000), Is: lab.Below(lab.Number(0.5)), FullOnly: true},
		{Name: "the larger the case", Printed: "this error is especially pronounced on larger test sizes", Where: "Programming Challenge", Of: lab.Of("all right", "gate", arrayGate), Is: lab.Falls("users")},
		{Kind: lab.Own, Name: "no packet of a banned source passes", Printed: "a ban is never forgotten, whatever the kind", Of: lab.Of("wrongly passed"), Is: lab.Zero()},
		{Kind: lab.Own, Name: "no ban is late or without cause", Printed: "chains, strikes and bans are exact", Of: lab.Of("wrong bans"), Is: lab.Zero()},
		{Kind: lab.Own, Name: "no wrong rejection where hits are confirmed", Printed: "no false positive rejects", Of: lab.Of("wrong rejections", "gate", "evergreen, confirmed"), Is: lab.Zero()},
	},
}

const arrayGate = "collision flags"

// kind is a gate with one kind of filter.
type kind struct {
	name string
	gate.Config
}

// gates are the kinds of filter with a memory at which they err about once in a
// thousand, and one that looks hits up.
var gates = []kind{
	{arrayGate, gate.Config{Kind: "deletable", BitsPerUser: 24, Confirm: gate.ConfirmNever}},
	{"counting", gate.Config{Kind: "counting", BitsPerUser: 48, Confirm: gate.ConfirmNever}},
	{"d-left", gate.Config{Kind: "dleft", BitsPerUser: 22, Confirm: gate.ConfirmNever}},
	{"evergreen, confirmed", gate.Config{Kind: "evergreen"}},
}

func runGate(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	return lab.Find(ctx, e, lab.Sweep{
		Name: "gates", Title: "Generated packets, a tenth of the users evil, as many addresses on the black list as a quarter of the users",
		Dims: []lab.Dim{lab.AmongAll("gate", gates, func(g kind) string { return g.name }), lab.Along("users", e.Ints("users")...)}, Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (lab.Figures, error) {
			report, err := judge(gates[at.Int("gate")].Config, at.Int("users"), e.Int("packets per user"), r)
			return lab.Figures{
				"all right": lab.OneIf(allRight(report)), "wrong rejections": float64(report.WronglyRejected()), "wrongly passed": float64(report.WronglyPassed()), "wrong bans": float64(wrongBans(report)),
			}, err
		},
		Metrics: []lab.Metric{{Name: "all right", Unit: lab.InPercent, Asked: lab.Each(1)}, {Name: "wrong rejections"}, {Name: "wrongly passed"}, {Name: "wrong bans"}},
		Notes:   []string{"All right: no packet is held back or let through that the exact gate treats otherwise, and every user is answered for as by the exact gate.", "A set has 8 KiB at least, so that small cases have a lower rate than 0.001."},
	})
}

func wrongBans(r exact.Report) uint64 { return r.Bans.Late + r.Bans.Spurious }

// allRight counts the answers about users, good or bad, as well.
func allRight(r exact.Report) bool {
	good, bad := r.Queries[1], r.Queries[2]
	return r.WronglyRejected()+r.WronglyPassed()+wrongBans(r)+good[0]+good[2]+bad[0]+bad[1] == 0
}

// judge sends packets through a gate and an exact one.
func judge(c gate.Config, users, each int, r *rand.Rand) (report exact.Report, err error) {
	source, err := traffic.New(traffic.Config{Seed: r.Uint64(), Packets: uint64(users * each), Users: users})
	if err != nil {
		return report, err
	}
	if c.Patterns, err = pattern.Compile(source.Patterns()); err != nil {
		return report, err
	}
	c.Users, c.Banned, c.Blacklist = uint64(users), uint64(users/4+users/10), source.Blacklist()
	both, err := exact.NewCheck(c)
	if err != nil {
		return report, err
	}
	var p packets.Packet
	for err = source.Read(&p); err == nil; err = source.Read(&p) {
		both.Step(&p)
	}
	if !errors.Is(err, io.EOF) {
		return report, err
	}
	return both.Report(1, r.Uint64()), nil
}
