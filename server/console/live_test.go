package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPartsAreRenderedOnce has many look at one page: it is rendered once for a tick and for
// those that may see the same, whatever else their addresses have.
func TestPartsAreRenderedOnce(t *testing.T) {
	c := &Console{pages: newPages()}
	rendered := 0
	p := page{name: "sets", query: setsQuery, view: func(*http.Request, User) (frame, error) {
		rendered++
		return frame{Page: "commands", View: commandsView{}}, nil
	}}
	for tick := range uint64(3) {
		for i := range 100 {
			for _, u := range []User{{Name: "a"}, {Name: "b"}, {Name: "c", Prefix: "shop:"}, {Name: "d", Admin: true}} {
				r := httptest.NewRequest(http.MethodGet, fmt.Sprintf("/console/live/sets?x=%d&by=none%d&page=-%d&reverse=%d", i, i, i, i), http.NoBody)
				if _, err := c.event(r, part{p, p.known(r).Encode(), u, tick}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if rendered != 9 {
		t.Errorf("rendered %d times, want 3 in each of 3 ticks", rendered)
	}
}

// TestPartsAreBounded renders more than is kept: what was kept first stays.
func TestPartsAreBounded(t *testing.T) {
	var p parts
	rendered := 0
	render := func() ([]byte, error) { rendered++; return make([]byte, maxParts/2), nil }
	for _, key := range []string{"a", "b", "c", "a", "c"} {
		if _, err := p.get(1, key, render); err != nil {
			t.Fatal(err)
		}
	}
	if rendered != 4 || len(p.texts) != 2 {
		t.Errorf("rendered %d times, kept %d", rendered, len(p.texts))
	}
	if _, err := p.get(2, "c", render); err != nil || len(p.texts) != 1 {
		t.Errorf("kept %d in the next tick, %v", len(p.texts), err)
	}
}

// TestPagesKnowTheirParameters compares what is left of addresses.
func TestPagesKnowTheirParameters(t *testing.T) {
	for address, want := range map[string]string{
		"sets?by=rate&page=2&reverse=yes&prefix=a&x=y": "by=rate&page=2&prefix=a&reverse=1",
		"sets?by=none&page=x":                          "by=name",
		"set?name=a&span=day&span=month&x=y":           "name=a&span=day",
		"set?number=1-00000000&span=10m":               "number=1-00000000",
		"set?x=y":                                      "",
		"?span=month&x=y":                              "span=month",
		"?span=none":                                   "",
	} {
		query := map[string]func(*http.Request) string{
			"sets": func(r *http.Request) string { return setsQuery(r).Encode() },
			"set":  func(r *http.Request) string { return setQuery(r).Encode() },
			"":     func(r *http.Request) string { return onlySpan(r).Encode() },
		}
		name, _, _ := strings.Cut(address, "?")
		if got := query[name](httptest.NewRequest(http.MethodGet, "/console/"+address, http.NoBody)); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
