package console

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A Console answers requests below /console/.
type Console struct {
	source   Source
	history  *history
	logins   logins
	pages    *pages
	parts    parts
	gate     *gateWatch // nil if there is none
	group    bool       // the server is one of a cluster
	handler  http.Handler
	streams  chan struct{} // one for each stream that may be open
	location *time.Location
}

// maxStreams is how many pages may be open at once.
const maxStreams = 4096

// New returns a console over a source, which also shows the gate behind a socket, unless the
// path is empty.
func New(s Source, gate string) *Console {
	c := &Console{source: s, history: newHistory(), streams: make(chan struct{}, maxStreams), location: time.Local}
	c.logins.users = make(map[string]login)
	c.pages = newPages()
	c.gate, c.group = newGateWatch(gate), s.Cluster() != nil
	mux := http.NewServeMux()
	mux.HandleFunc("GET /console/static/{name}", c.pages.static)
	mux.HandleFunc("GET /console/login", c.loginPage)
	mux.HandleFunc("POST /console/login", c.loginForm)
	mux.HandleFunc("POST /console/logout", c.logout)
	set := page{name: "set", view: c.set, every: 1, query: setQuery}
	mux.HandleFunc("GET /console/set", c.setPage(set))
	mux.HandleFunc("GET /console/live/set", c.stream(set))
	for _, page := range []page{
		{name: "", view: c.overview, every: 1, query: onlySpan},
		{name: "sets", view: c.sets, every: 5, query: setsQuery},
		{name: "create", view: c.create},
		{name: "how", view: c.how},
		{name: "commands", view: c.commands, every: 1},
		{name: "cluster", view: c.clusterPage, every: 1},
		{name: "gate", view: c.gatePage, every: 1, query: onlySpan},
	} {
		path := cmp.Or(page.name, "{$}")
		mux.HandleFunc("GET /console/"+path, c.show(page))
		mux.HandleFunc("GET /console/live/"+path, c.stream(page))
	}
	mux.HandleFunc("GET /console/plan", c.withUser(c.planPart))
	mux.HandleFunc("POST /console/how", c.show(page{view: c.how}))
	mux.HandleFunc("POST /console/how/part", c.withUser(c.howPartial))
	mux.HandleFunc("POST /console/create", c.withUser(c.createForm))
	mux.HandleFunc("POST /console/set", c.withUser(c.setForm))
	mux.HandleFunc("POST /console/gate", c.withUser(c.gateForm))
	mux.HandleFunc("GET /console/file", c.withUser(c.file))
	mux.HandleFunc("/console/", func(w http.ResponseWriter, r *http.Request) {
		c.fail(w, r, http.StatusNotFound, "There is no such page.")
	})
	c.handler = http.NewCrossOriginProtection().Handler(mux)
	return c
}

// Run keeps the history and drives the streams until ctx ends.
func (c *Console) Run(ctx context.Context) {
	if c.gate != nil {
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() { c.gate.run(ctx) })
	}
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	c.history.step(c.source, time.Now())
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticks.C:
			c.history.step(c.source, now)
		}
	}
}

// policy lets a page load what comes from the console, and nothing else.
const policy = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"

// maxBody bounds what a form may send.
const maxBody = 1 << 20

// ServeHTTP implements http.Handler.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if _, open := c.source.Default(); open && !isLocal(r.Host) {
		http.Error(w, "a server without users has its console at localhost, 127.0.0.1 or [::1]", http.StatusMisdirectedRequest)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	c.handler.ServeHTTP(w, r)
}

// isLocal reports whether a page was asked for by a name of this machine. Another name may
// belong to a stranger's page that has itself resolved to this machine.
func isLocal(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
