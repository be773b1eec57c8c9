package console

import (
	"net/http"
	"testing"
)

// TestPartsAreRenderedOnce has many look at one page: it is rendered once for a tick and for
// those that may see the same.
func TestPartsAreRenderedOnce(t *testing.T) {
	c := &Console{pages: newPages()}
	rendered := 0
	p := page{view: func(*http.Request, User) (frame, error) {
		rendered++
		return frame{Page: "commands", View: commandsView{}}, nil
	}}
	for tick := range uint64(3) {
		for range 100 {
			for _, u := range []User{{Name: "a"}, {Name: "b"}, {Name: "c", Prefix: "shop:"}, {Name: "d", Admin: true}} {
				r, err := http.NewRequest(http.MethodGet, "/console/live/commands", http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := c.part(p, r, u, tick); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if rendered != 9 {
		t.Errorf("rendered %d times, want 3 in each of 3 ticks", rendered)
	}
}
