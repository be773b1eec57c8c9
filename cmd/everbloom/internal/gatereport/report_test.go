package gatereport

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/gate/exact"
	"github.com/everbloom-go/everbloom/gate/packets"
	"github.com/everbloom-go/everbloom/gate/pattern"
)

var patterns = []pattern.Pattern{{Name: "rare", Words: []uint32{1}}, {Name: "<b>often</b>", Words: []uint32{2}}}

// filled returns a recorder that has seen so many packets, every tenth a strike.
func filled(n int) *Recorder {
	r := NewRecorder(patterns, func() float64 { return 0.01 })
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
		r.Count(v)
		if v.Reason == gate.Struck {
			r.Strike(p, v)
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
	event := r.Strike(&packets.Packet{Src: netip.MustParseAddr("::1"), Number: 7, At: 5}, gate.Verdict{Action: gate.Ban, Reason: gate.Struck, Strikes: 3})
	if want := (Event{7, 5, netip.MustParseAddr("::1"), true, "rare", 3}); event != want {
		t.Errorf("event: %+v, want %+v", event, want)
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
		Reasons: map[string]uint64{"banned": 1800, "listed": 90, "spared": 10},
		Lost:    gate.Lost{Chains: 1, Strikes: 2, Users: 3, Exact: true, Overflow: 4},
		Good:    gate.Set{Info: filter.Info{Kind: "deletable", Keys: 10, Overfull: true}, Pinned: 6},
	}
	s := r.Summary(stats, 0.5)
	s.Inputs, s.PassedOver = []string{"a.pcap", "<script>"}, 12
	s.Check = &exact.Report{
		Otherwise: 9,
		Packets:   5000, Welcome: 4000, Expected: 1.5, Both: 1,
		Rejected: map[exact.Cause]uint64{exact.FalsePositive: 3, exact.SpareFilter: 1}, Passed: map[exact.Cause]uint64{exact.MissingBan: 2},
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
		"packets           5,000, 10.0 k per second", "dropped           7, each completed a pattern", "passed over       12 frames that are not IP",
		"rejected          1,900: 1,800 banned, 90 listed, 10 spared", "deletable, 10 keys, 0 B, rate 0 %, 6 pinned, overfull",
		"1 beginnings of patterns, 2 strikes, 3 packets of users who could not enter the good set, 4 bans in the spare filter, exact confirmation",
		"wrongly rejected  4 of 4,000 packets, 1.50 expected: 1 false positive of the spare filter, 3 false positive of the bad set",
		"wrongly passed    2: 2 missing ban", "else different    9, in reason, strikes or pattern", "packet 77 of 1.2.3.4: reject (banned), should be pass (clean)", "in both sets      1",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestPageIsWholeAndHarmless(t *testing.T) {
	var b strings.Builder
	if err := everything().HTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"<!DOCTYPE html>", "prefers-color-scheme: dark", "&lt;script&gt;", "&lt;b&gt;often&lt;/b&gt;", "<polyline class=\"good\"", "9.9.9.9", "both sets claim it", "</html>"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	for _, bad := range []string{"<script", "http://", "https://", "NaN", "Inf", "<b>"} {
		if strings.Contains(page, bad) {
			t.Errorf("there is %q", bad)
		}
	}
	b.Reset()
	if err := (Summary{}).HTML(&b); err != nil || strings.Contains(b.String(), "NaN") {
		t.Errorf("an empty summary: %v", err)
	}
}

func TestSummaryIsJSON(t *testing.T) {
	text, err := json.Marshal(everything())
	if err != nil || !strings.Contains(string(text), `"standing":"bad"`) {
		t.Errorf("%s, %v", text, err)
	}
}
