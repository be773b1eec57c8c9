package exact

import (
	"encoding/json"
	"math"
	"net/netip"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
	"github.com/everbloom-go/everbloom/internal/gate/traffic"
)

// run sends generated traffic through a check.
func run(t *testing.T, tc traffic.Config, gc gate.Config) Report {
	t.Helper()
	g, err := traffic.New(tc)
	if err != nil {
		t.Fatal(err)
	}
	if gc.Patterns, err = pattern.Compile(g.Patterns()); err != nil {
		t.Fatal(err)
	}
	gc.Blacklist, gc.Hash = g.Blacklist(), filter.XXH3(1)
	c, err := NewCheck(gc)
	if err != nil {
		t.Fatal(err)
	}
	var p packets.Packet
	for g.Read(&p) == nil {
		c.Step(&p)
	}
	return c.Report(20_000, tc.Seed)
}

// TestNoPacketOfABannedSourcePasses holds for every kind over several seeds. Packets are
// wrongly rejected no more often than the banned set predicts.
func TestNoPacketOfABannedSourcePasses(t *testing.T) {
	const users, packetsEach = 1000, 20_000
	bits := map[string]float64{"deletable": 20, "counting": 40, "dleft": 32}
	seeds := effort.PickVariant[uint64](2, 4, 20)
	for _, kind := range gate.Kinds() {
		var wrong, expected, spread float64
		for seed := range seeds {
			r := run(t,
				traffic.Config{Seed: seed, Packets: packetsEach, Users: users, Blacklisted: 300},
				gate.Config{Kind: kind, Users: users, Banned: 400, BitsPerUser: bits[kind]})
			if r.WronglyPassed() != 0 {
				t.Fatalf("%s, seed %d: %v", kind, seed, r.Passed)
			}
			if r.Gate.Lost.Any() || r.Bans.Right < 50 || r.Bans.Spurious+r.Bans.Late != 0 {
				t.Errorf("%s, seed %d: bans %+v, lost %+v", kind, seed, r.Bans, r.Gate.Lost)
			}
			if r.Banned.FalseNegatives != 0 || r.Bans.Missing != r.Bans.Covered {
				t.Errorf("%s, seed %d: %d false negatives of the banned set, bans %+v", kind, seed, r.Banned.FalseNegatives, r.Bans)
			}
			wrong += float64(r.WronglyRejected())
			expected += r.Expected
			spread += r.Expected * packetsEach / users // all packets of a user share their fate
		}
		if limit := expected + 5*math.Sqrt(spread) + packetsEach/users; wrong > limit {
			t.Errorf("%s: %.0f packets wrongly rejected, expected %.1f, at most %.1f", kind, wrong, expected, limit)
		}
	}
}

// TestTrackedUsersAreLostByInexactKindsOnly has tracked sets that err often. Kinds that
// ignore duplicates exactly have no false negatives; the check counts those of others.
func TestTrackedUsersAreLostByInexactKindsOnly(t *testing.T) {
	const packetCount = 40_000
	for kind, bits := range map[string]float64{"evergreen": 200, "deletable": 12, "counting": 24, "dleft": 24, "elastic": 8000} {
		r := run(t,
			traffic.Config{Seed: 2, Packets: packetCount, Users: 5000, Evil: 0.3},
			gate.Config{Kind: kind, Users: 5000, Banned: 3000, BitsPerUser: bits, Confirm: gate.ConfirmAlways})
		if exact := kind == "evergreen" || kind == "elastic"; exact && r.Tracked.FalseNegatives != 0 {
			t.Errorf("%s: %d false negatives", kind, r.Tracked.FalseNegatives)
		}
		if r.WronglyPassed()+r.WronglyRejected() != 0 {
			t.Errorf("%s: %v, %v", kind, r.Passed, r.Rejected)
		}
		if diff := math.Abs(r.Tracked.FPR - r.Tracked.Predicted); diff > 6*math.Sqrt(r.Tracked.Predicted/20_000)+0.1*r.Tracked.Predicted {
			t.Errorf("%s: tracked set claims %.4f of absent addresses, predicted %.4f", kind, r.Tracked.FPR, r.Tracked.Predicted)
		}
	}
}

// step sends one packet to both gates of a check.
func step(c *Check, src string, words ...uint32) {
	c.Step(&packets.Packet{Src: netip.MustParseAddr(src), Words: words, Number: c.report.Packets + 1})
}

var source = netip.MustParseAddr("1.1.1.1")

func small(t *testing.T) *Check {
	t.Helper()
	a, err := pattern.Compile([]pattern.Pattern{{Name: "x", Words: []uint32{7}}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewCheck(gate.Config{Users: 1000, Patterns: a, Blacklist: []netip.Prefix{netip.MustParsePrefix("9.9.9.9/32")}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCausesAreFound tampers with one of the two gates in every way.
func TestCausesAreFound(t *testing.T) {
	t.Run("false positive", func(t *testing.T) {
		c := small(t)
		step(c, "1.1.1.1", 1)
		c.Engine.Blacklist(netip.MustParsePrefix("1.1.1.1/32"))
		step(c, "1.1.1.1", 1)
		step(c, "1.1.1.1", 7)
		step(c, "1.1.1.1", 7)
		step(c, "1.1.1.1", 7)
		r := c.Report(100, 1)
		if r.Rejected[FalsePositive] != 3 || r.First != nil || r.WronglyRejected() != 3 || r.Otherwise != 1 || r.Legitimate != 4 {
			t.Errorf("%+v", r) // the last packet is held back by both
		}
		if r.Bans.Missing != 1 || r.Bans.Covered != 1 {
			t.Errorf("bans: %+v", r.Bans)
		}
	})
	t.Run("spurious ban", func(t *testing.T) {
		c := small(t)
		c.Engine.Step(source, 7, 0)
		step(c, "1.1.1.1", 7)
		step(c, "1.1.1.1", 7)
		step(c, "1.1.1.1", 1)
		if r := c.Report(0, 1); r.Bans.Spurious != 1 || r.First == nil || r.First.Number != 1 || r.Rejected[SpuriousBan] != 2 || r.WronglyRejected() != 2 || r.Otherwise != 1 {
			t.Errorf("%+v", r)
		}
		step(c, "1.1.1.1", 7) // now the exact gate bans, too
		step(c, "1.1.1.1", 1)
		if r := c.Report(0, 1); r.Bans != (Bans{Spurious: 1}) || r.WronglyRejected() != 2 {
			t.Errorf("an early ban: %+v, %v", r.Bans, r.Rejected)
		}
	})
	t.Run("missing and late ban", func(t *testing.T) {
		c := small(t)
		c.Exact.StepWords(source, []uint32{7}, 0)
		for range 2 {
			step(c, "1.1.1.1", 7)
		}
		if r := c.Report(0, 1); r.Bans.Missing != 1 || r.Bans.Covered != 0 || r.Passed[MissedStrike] != 1 || r.WronglyPassed() != 1 {
			t.Errorf("%+v, %v", r.Bans, r.Passed)
		}
		step(c, "1.1.1.1", 1)
		step(c, "1.1.1.1", 7)
		if r := c.Report(0, 1); r.Bans.Late != 1 || r.Bans.Missing != 0 || r.Passed[MissingBan] != 1 || r.WronglyPassed() != 2 || r.Otherwise != 2 {
			t.Errorf("%+v, %v, %d", r.Bans, r.Passed, r.Otherwise) // the late packet is held back by both
		}
	})
	t.Run("forgotten and missed", func(t *testing.T) {
		c := small(t)
		for range 3 {
			step(c, "1.1.1.1", 7)
		}
		for _, src := range []string{"1.1.1.1", "9.9.9.9"} {
			if err := c.Engine.Unban(netip.MustParseAddr(src)); err != nil {
				t.Fatal(err)
			}
			step(c, src, 1)
		}
		if r := c.Report(0, 1); r.Passed[ForgottenBan] != 1 || r.Passed[BlacklistMissed] != 1 || r.WronglyPassed() != 2 || r.Banned.FalseNegatives != 2 {
			t.Errorf("%+v", r)
		}
	})
}

// TestStrikesThatOneOfThemMissedAreCauses drops flagged packets, and has one of the two
// inside a chain that the other does not know.
func TestStrikesThatOneOfThemMissedAreCauses(t *testing.T) {
	a, err := pattern.Compile([]pattern.Pattern{{Name: "xx", Words: []uint32{7, 7}}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewCheck(gate.Config{Users: 1000, Patterns: a, DropFlagged: true})
	if err != nil {
		t.Fatal(err)
	}
	c.Exact.StepWords(source, []uint32{7}, 0)
	step(c, "1.1.1.1", 7)
	if r := c.Report(0, 1); r.Passed[MissedStrike] != 1 || r.WronglyPassed() != 1 || r.Otherwise != 0 {
		t.Errorf("dropped by the exact gate only: %v, %d", r.Passed, r.Otherwise)
	}
	step(c, "1.1.1.1", 7)
	if r := c.Report(0, 1); r.Rejected[SpuriousStrike] != 1 || r.WronglyRejected() != 1 || r.Otherwise != 0 {
		t.Errorf("dropped by the engine only: %v, %d", r.Rejected, r.Otherwise)
	}
}

// TestPredictedRateIsThatOfAllThatRejects has a banned set that errs often: confirmed, it
// must not; and a gate with far more bans than its banned set takes.
func TestPredictedRateIsThatOfAllThatRejects(t *testing.T) {
	for _, c := range []struct {
		name        string
		config      gate.Config
		least, most float64
	}{
		{"confirmed", gate.Config{Kind: "deletable", Confirm: gate.ConfirmAlways, BitsPerUser: 10}, 0, 0},
		{"not confirmed", gate.Config{Kind: "deletable", BitsPerUser: 10}, 0.01, 0.2},
		{"more bans than expected", gate.Config{Kind: "dleft", Banned: 1000}, 0, 0.01},
	} {
		c.config.Users = 1000
		if c.config.Banned == 0 {
			c.config.Banned = 6000
		}
		check, err := NewCheck(c.config)
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint32(6000) {
			x := i * 0x9E3779B1
			p := netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(x >> 24), byte(x >> 16), byte(x >> 8), byte(x)}), 32)
			check.Engine.Blacklist(p)
			check.Exact.Blacklist(p)
		}
		m := check.Report(20_000, 1).Banned
		if m.Predicted < c.least || m.Predicted > c.most || math.Abs(m.FPR-m.Predicted) > 6*math.Sqrt(m.Predicted/20_000)+0.1*m.Predicted {
			t.Errorf("%s: %.4f of absent addresses are taken for banned, predicted %.4f", c.name, m.FPR, m.Predicted)
		}
	}
}

func TestQueriesFillTheMatrix(t *testing.T) {
	c := small(t)
	step(c, "1.1.1.1", 1)
	for _, src := range []string{"1.1.1.1", "9.9.9.9", "2.2.2.2"} {
		c.Step(&packets.Packet{Src: netip.MustParseAddr(src), Query: true})
	}
	c.Engine.Blacklist(netip.MustParsePrefix("2.2.2.2/32"))
	c.Step(&packets.Packet{Src: netip.MustParseAddr("2.2.2.2"), Query: true})
	want := [3][3]uint64{gate.None: {gate.None: 1, gate.Bad: 1}, gate.Good: {gate.Good: 1}, gate.Bad: {gate.Bad: 1}}
	if c.report.Queries != want || c.report.Packets != 1 {
		t.Errorf("%v, want %v", c.report.Queries, want)
	}
}

func TestReportIsJSON(t *testing.T) {
	c := small(t)
	c.Engine.Blacklist(netip.MustParsePrefix("1.1.1.1/32"))
	c.Exact.Blacklist(netip.MustParsePrefix("3.3.3.3/32"))
	step(c, "1.1.1.1", 1)
	step(c, "3.3.3.3", 1)
	text, err := json.Marshal(c.Report(10, 1))
	for _, part := range []string{`"wrongly_rejected":{"false positive of the banned set":1}`, `"Action":"reject"`, `"measured_fpr"`, `"number":2,"src":"3.3.3.3"`} {
		if err != nil || !strings.Contains(string(text), part) {
			t.Errorf("%s, %v: no %s", text, err, part)
		}
	}
}
