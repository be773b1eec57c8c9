package main

import (
	"encoding/csv"
	"encoding/xml"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestJourneysEndAsTheyMust(t *testing.T) {
	picture := filepath.Join(t.TempDir(), "tiny.svg")
	if status, _, log := command("-n 200,20k -probes 2000 -journey " + picture); status != fine {
		t.Fatalf("status %d, logged %s", status, log)
	}
	figures, err := os.Open(strings.Replace(picture, ".svg", ".csv", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer figures.Close()
	rows, err := csv.NewReader(figures).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string]string{}
	for _, row := range rows[1:] {
		ends[row[0]] += row[5]
	}
	want := map[string]string{
		"everbloom perennial": "came back", "everbloom evergreen": "came back", "cuckoo filter for 20 k": "came back", "Go map": "came back",
		"everbloom scalable": "cannot delete", "Boom scalable": "cannot delete", "bits-and-blooms for 2 k": "cannot delete",
		"cuckoo filter for 2 k": "full",
	}
	if !maps.Equal(ends, want) {
		t.Errorf("journeys end %v, want %v", ends, want)
	}
	drawn, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(drawn, new(struct{})); err != nil {
		t.Errorf("the picture: %v", err)
	}
	// Both panels have all of them, except that a map has no rate.
	for mark, n := range map[string]int{">Go map<": 1, ">cuckoo filter for 20 k<": 2, ">cuckoo filter for 2 k: full<": 2, ">asked: 1 %<": 1} {
		if got := strings.Count(string(drawn), mark); got != n {
			t.Errorf("the picture has %d times %s, want %d", got, mark, n)
		}
	}
}

func TestJourneyReportsFalseNegativesAndLostKeys(t *testing.T) {
	o := quick()
	for want, spoil := range map[string]func(*set){
		"FALSE NEGATIVES": func(s *set) { has := s.has; s.has = func(b block) int { return max(0, has(b)-1) } },
		"to be deleted":   func(s *set) { s.del = func(block) int { return 0 } },
	} {
		var j journey
		err := j.travel(exact("spoilt", spoil), request{n: 100, fpr: 0.01, size: 8}, route(100, 1000), o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
