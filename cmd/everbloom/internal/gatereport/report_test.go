package gatereport

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/growth"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/gate/event"
	"github.com/everbloom-go/everbloom/internal/gate/exact"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

var patterns = []pattern.Pattern{{Name: "rare", Words: []uint32{1}}, {Name: "<b>often</b>", Words: []uint32{2}}}

// filled returns a recorder that has seen so many packets, every tenth a strike.
func filled(n int) *Recorder {
	r := NewRecorder(patterns, func(p *Point) { p.Rate, p.Legitimate, p.Wrong, p.Expected = 0.01, p.Packets, p.Packets/100, 1 })
	for i := range n {
		p := &packets.Packet{Src: netip.MustParseAddr("1.2.3.4"), Number: uint64(i + 1)}
		v := gate.Verdict{Pattern: -1}
		switch {
		case i%100 == 9:
			v = gate.Verdict{Action: gate.Ban, Reason: gate.Struck, Strikes: 3}
		case i%10 == 9:
			v = gate.Verdict{Reason: gate.Struck, Strikes: 1, Pattern: 1}
		case i%3 == 0:
			v = gate.Verdict{Action: gate.Reject, Reason: gate.Banned, Pattern: -1}
		}
		r.Count(p, v)
		if v.Reason == gate.Struck {
			r.Strike(v, event.Of(p, v, r.Pattern(v), "in"))
		}
	}
	return r
}

func TestRecorderCounts(t *testing.T) {
	r := filled(1000)
	r.Answer(netip.MustParseAddr("9.9.9.9"), gate.Answer{Standing: gate.Bad, Both: true})
	s := r.Summary(gate.Stats{Packets: 1000}, 0.5)
	if len(s.Patterns) != 2 || s.Patterns[0] != (PatternCount{"<b>often</b>", 90}) || s.Patterns[1] != (PatternCount{"rare", 10}) {
		t.Errorf("patterns: %v", s.Patterns)
	}
	if len(s.Events) != maxLatest || s.Events[maxLatest-1].Number != 1000 || len(s.Queries) != 1 {
		t.Errorf("events: %v, queries: %v", s.Events, s.Queries)
	}
	now, latest := r.Now()
	if last := s.Points[len(s.Points)-1]; now.Packets != 1000 || now.Bans != 10 || last.Packets != 1000 || len(latest) != maxLatest {
		t.Errorf("now: %+v", now)
	}
	if len(s.Bans) != 10 || s.Bans[0].Number != 10 || s.Bans[0].Pattern != "rare" {
		t.Errorf("bans: %v", s.Bans)
	}
}

// TestPointsStayFew holds that they are evenly spaced however many packets there are.
func TestPointsStayFew(t *testing.T) {
	s := filled(1_000_000).Summary(gate.Stats{}, 1)
	if n := len(s.Points); n < maxPoints/4 || n > maxPoints {
		t.Fatalf("%d points", n)
	}
	step := s.Points[1].Packets - s.Points[0].Packets
	for i := 1; i < len(s.Points)-1; i++ {
		if s.Points[i].Packets-s.Points[i-1].Packets != step {
			t.Fatalf("point %d: %d, step %d", i, s.Points[i].Packets, step)
		}
	}
}

// everything is a summary that has something of all.
func everything() Summary {
	r := filled(5000)
	r.Answer(netip.MustParseAddr("9.9.9.9"), gate.Answer{Standing: gate.Bad, Both: true})
	stats := gate.Stats{
		Packets: 5000, Passed: 3000, Dropped: 7, Rejected: 1900, Bans: 50, Strikes: 500,
		Reasons: map[string]uint64{"banned": 1800, "listed": 90, "over-limit": 10},
		Lost:    gate.Lost{Chains: 1, Strikes: 2, Users: 3, Exact: true, Overflow: 4, Bans: 5},
		Tracked: gate.Set{Info: filter.Info{Kind: "deletable", Keys: 10, Overfull: true}, Pinned: 6},
	}
	s := r.Summary(stats, 0.5)
	s.Inputs, s.Skipped = []string{"a.pcap", "<script>"}, map[string]uint64{"ARP": 12, "LLDP": 1, "too short": 12}
	s.Check = &exact.Report{
		Otherwise: 9,
		Packets:   5000, Legitimate: 4000, Expected: 1.5, Both: 1,
		Rejected: map[exact.Cause]uint64{exact.FalsePositive: 4, exact.SpuriousBan: 5}, Passed: map[exact.Cause]uint64{exact.MissingBan: 2},
		First: &exact.Difference{Number: 77, Src: netip.MustParseAddr("1.2.3.4"), Got: gate.Verdict{Action: gate.Reject, Reason: gate.Banned}},
	}
	return s
}

func TestTextSaysEverything(t *testing.T) {
	var b strings.Builder
	if err := everything().Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"packets           5,000, 10.0 k per second", "dropped           7, each completed a pattern", "skipped           frames: 12 ARP, 12 too short, 1 LLDP",
		"rejected          1,900: 1,800 banned, 90 listed, 10 over-limit", "deletable, 10 keys, 0 B, rate 0 %, 6 pinned, overfull",
		"1 beginnings of patterns, 2 strikes, 3 packets of users that could not be tracked, 4 bans kept beside the banned set, 5 bans that were forgotten, exact confirmation",
		"false positives   4 of 4,000 packets that an exact gate passes, 1.50 predicted\n", "wrongly rejected  5 more: 5 spurious ban\n",
		"wrongly passed    2: 2 missing ban", "other reason      9 packets", "packet 77 of 1.2.3.4: reject (banned), should be pass (clean)", "in both sets      1",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// svgNames are names, which nothing loads.
var svgNames = strings.NewReplacer(`xmlns="http://www.w3.org/2000/svg"`, "", `xmlns:xlink="http://www.w3.org/1999/xlink"`, "", `href="data:text/plain;base64,`, "")

// external is what would make a page load something.
var external = []string{"<script", "http:", "https:", "src=", "href=", "url(", "@import", "<link"}

func write(t *testing.T, p Page) string {
	t.Helper()
	var b strings.Builder
	if err := p.HTML(&b); err != nil {
		t.Fatal(err)
	}
	text := svgNames.Replace(b.String())
	for _, bad := range append([]string{"NaN", "Inf", "<b>often", "e-45"}, external...) {
		if strings.Contains(text, bad) {
			t.Errorf("there is %q", bad)
		}
	}
	return b.String()
}

func TestPageIsWholeAndHarmless(t *testing.T) {
	page := write(t, Page{Summary: everything()})
	for _, want := range []string{
		"<!DOCTYPE html>", "prefers-color-scheme: dark", "width=device-width", "&lt;script&gt;", "&lt;b&gt;often&lt;/b&gt;",
		"2 packets passed that should have been held back; 9 packets rejected by mistake.",
		">packets judged so far</text>", ">share of legitimate packets</text>", "9.9.9.9", "both sets claim it", "</html>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
}

// TestPageOfADemoComparesAndShowsGrowth has all that only a demo has. The memory of a map
// may be lost in what other goroutines give back.
func TestPageOfADemoComparesAndShowsGrowth(t *testing.T) {
	with, without := everything(), everything()
	with.Confirmed, with.Check = true, &exact.Report{Legitimate: 4000}
	with.Traffic = &Traffic{Honest: 45_000, Evil: 5000, Listed: 12_500, MapBytes: 5 << 20}
	without.Traffic = &Traffic{Honest: 45_000, LockedOut: 57}
	steps := []growth.Step{{Keys: 10, FPR: 0.01, Bits: 80, Fixed: 0.01}, {Keys: 100, FPR: 0.0101, Bits: 81, MapBits: 300, Fixed: 1}, {Keys: 10, Shrinking: true, Bits: 80, MapBits: 3000}}
	page := write(t, Page{Summary: with, Without: &without, Growth: &growth.Report{Kind: "evergreen", Asked: 0.01, Steps: steps}})
	for _, want := range []string{
		"No packet of a banned source passed, and no honest user was locked out.", "57 honest users would have been locked out",
		"A set grew from 10 to 100 keys and shrank again at 1.0 % of false positives and 81 bits per key, and lost none.",
		"packets of 45,000 honest users, 5,000 evil ones and 12,500 listed sources", "a Go map of the addresses takes 5.00 MiB",
		"<b>57</b>honest users locked out if filters are trusted: 9 packets, 2 predicted",
		"<b>0</b>honest users locked out if each hit is confirmed, in the same memory",
		"with confirmation, measured", "Bloom for 10 keys", "Go map of 64-bit keys", "bits per key",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
}

// TestPageOfFewPacketsHasNoCharts holds that axes without data are not drawn.
func TestPageOfFewPacketsHasNoCharts(t *testing.T) {
	for packets, charts := range map[int]int{0: 0, 1: 0, 4: 0, 20: 3} {
		page := write(t, Page{Summary: filled(packets).Summary(gate.Stats{}, 1)})
		if got := strings.Count(page, "<figure>"); got != charts {
			t.Errorf("%d packets: %d charts, want %d", packets, got, charts)
		}
	}
}

func TestSummaryIsJSON(t *testing.T) {
	text, err := json.Marshal(everything())
	if err != nil || !strings.Contains(string(text), `"standing":"bad"`) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestPageHasAClockWhereTimesAreKnown has packets a minute apart.
func TestPageHasAClockWhereTimesAreKnown(t *testing.T) {
	r := NewRecorder(patterns, func(*Point) {})
	r.CountSources()
	r.Count(&packets.Packet{Src: netip.MustParseAddr("::1"), At: 1}, gate.Verdict{Pattern: -1}) // of 1970
	for i := range 1000 {
		p := &packets.Packet{Src: netip.AddrFrom4([4]byte{10, 0, 0, byte(i * i % 7)}), Number: uint64(i + 1), At: 1_700_000_000_000_000_000 + int64(i)*60e9}
		v := gate.Verdict{Action: gate.Reject, Reason: gate.Banned, Pattern: -1}
		if i%100 == 9 {
			v = gate.Verdict{Action: gate.Ban, Reason: gate.Struck, Strikes: 3}
		}
		r.Count(p, v)
		if v.Reason == gate.Struck {
			r.Strike(v, event.Of(p, v, r.Pattern(v), "in"))
		}
	}
	page := write(t, Page{Summary: r.Summary(gate.Stats{Room: 10, States: 5, Limit: 4096, Bytes: 1024, Bans: 10}, 1)})
	for _, want := range []string{
		"hours since 2023-11-14 22:", "<td class=\"t\">2023-11-14 22:22:20</td>", `download="bans.nft" href="data:text/plain;base64,`,
		"Top sources", "<td>10.0.0.1</td>", "1.00 KiB of 4.00 KiB", `value="0.500"`, "All 10, as they came",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
}

// TestTopFindsTheMostFrequent has a few sources that send much among very many.
func TestTopFindsTheMostFrequent(t *testing.T) {
	top := newTop()
	for i := range 300_000 {
		top.count(netip.AddrFrom4([4]byte{1, byte(i >> 16), byte(i >> 8), byte(i)}))
		if i%20 == 0 {
			top.count(netip.AddrFrom4([4]byte{9, 9, 9, byte(i / 20 % 3)}))
		}
	}
	list := top.most()
	if len(list) != shown || len(top.packets) > maxSources {
		t.Fatalf("%d shown, %d kept", len(list), len(top.packets))
	}
	for _, s := range list[:3] {
		if s.Src.As4()[0] != 9 || s.Packets > 5000 || s.Packets < 5000-300_000/maxSources-10 {
			t.Errorf("%v", s)
		}
	}
}

func TestOneIsNotMany(t *testing.T) {
	var s Summary
	s.Gate.Passed, s.Gate.Bans = 1, 1
	facts := fmt.Sprint(Page{Summary: s}.Facts())
	for _, want := range []string{"{0 packets ", "{1 packet passed}", "{1 source banned for completed patterns}"} {
		if !strings.Contains(facts, want) {
			t.Errorf("no %q in %s", want, facts)
		}
	}
}
