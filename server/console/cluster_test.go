package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestClusterPage shows a partition that is led, one that is not, and a node that is gone; a
// server that is alone has no such page.
func TestClusterPage(t *testing.T) {
	source := newManySets(0, "ab")
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		New(source, "").ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
		return w.Code, w.Body.String()
	}
	if code, _ := get("/console/cluster"); code != 404 {
		t.Error("alone:", code)
	}
	source.cluster = &Cluster{
		Problems: []string{"partition 1 has no leader"},
		Nodes:    []Node{{Name: "n1", Address: "192.0.2.1:6379", Self: true, Leads: 1}, {Name: "n2", Silence: 7 * time.Second, Gone: true}},
		Partitions: []Partition{
			{Number: 0, Leader: "n1", Epoch: 3, Copies: []Copy{{Held: true, Leads: true, Lease: 4200 * time.Millisecond}, {Held: true, Behind: 12}}},
			{Number: 1, Copies: []Copy{{Held: true}, {}}},
		},
	}
	code, page := get("/console/cluster")
	for _, want := range []string{"partition 1 has no leader", "n1 (this one)", "7.0 s ago", "<b>leads</b>, 4.2 s left", "12 behind", "follows", "no leader</span>", ">–<"} {
		if code != 200 || !strings.Contains(page, want) {
			t.Errorf("%d: %q is missing in %s", code, want, page)
		}
	}
	if _, page := get("/console/"); !strings.Contains(page, `href="/console/cluster"`) {
		t.Error("no link to the page")
	}
}
