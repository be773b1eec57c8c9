package server

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"io"
	"math"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/timing"
	"github.com/everbloom-go/everbloom/server/console"
)

// A browser follows links as a browser does, one page after the other.
type browser struct {
	t    *testing.T
	base string
	http http.Client
}

func browse(t *testing.T, s *Server) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, "http://" + s.WebAddr().String(), http.Client{Jar: jar, Timeout: time.Minute}}
}

// get returns the status and the text of a page.
func (b *browser) get(path string) (int, string) {
	b.t.Helper()
	return b.answer(b.http.Get(b.base + path))
}

// post sends a form.
func (b *browser) post(path string, pairs ...string) (int, string) {
	b.t.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return b.answer(b.http.PostForm(b.base+path, form))
}

func (b *browser) answer(r *http.Response, err error) (int, string) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

// target returns the address on a page that follows some text.
func (b *browser) target(path, before string) string {
	b.t.Helper()
	_, text := b.get(path)
	_, rest, found := strings.Cut(text, before)
	link, _, _ := strings.Cut(rest, `"`)
	if link, _, _ = strings.Cut(html.UnescapeString(link), "#"); !found {
		b.t.Fatalf("no %s on %s", before, path)
	}
	return link
}

// want checks the status of a page and that it has some texts.
func (b *browser) want(code int, parts ...string) func(int, string) {
	b.t.Helper()
	return func(got int, text string) {
		b.t.Helper()
		if got != code {
			b.t.Errorf("status %d, want %d: %.300s", got, code, text)
		}
		for _, p := range parts {
			if !strings.Contains(text, p) {
				b.t.Errorf("no %q in %s", p, text)
			}
		}
	}
}

// startWeb runs a server in memory with a console.
func startWeb(t *testing.T, settings ...string) *Server {
	t.Helper()
	return start(t, append([]string{"log", "memory", "http", "127.0.0.1:0"}, settings...)...)
}

func setPath(name string) string { return "/console/set?" + url.Values{"name": {name}}.Encode() }

// TestConsoleWalk does with a set what its page offers.
func TestConsoleWalk(t *testing.T) {
	b := browse(t, startWeb(t))
	b.want(200, "There are no sets yet")(b.get("/"))
	b.want(200, "perennial", "EB.CREATE NAME ITEMS 10000 FPR 0.01 KNOWNDELETES", "Items: 10000, FPR: 0.01, Delete: true, KnownDeletes: true", "<svg")(b.get("/console/plan?items=10k&rate=1%25&known=1"))
	b.want(200, "keys: ")(b.get("/console/create?items=none&rate=1%25"))
	b.want(200, "No kind")(b.get("/console/create?items=1k&rate=1e-300"))
	b.want(422, "needs a name")(b.post("/console/create", "items", "1k", "rate", "1%"))
	b.want(200, "evergreen", "made for 1,000", "Delete</button>", "are a list")(b.post("/console/create", "name", "tea", "items", "1k", "rate", "1%", "delete", "1"))
	b.want(422, "item exists")(b.post("/console/create", "name", "tea", "items", "1k", "rate", "1%"))
	tea := setPath("tea")
	b.want(200, "EB.ADD tea &#34;green tea&#34; black", "<b>green tea</b> added", "<b>2</b>keys")(b.post(tea, "do", "add", "items", "green tea\r\nblack\r\n"))
	b.want(200, "<b>black</b> may be in the set", "<b>white</b> is not in the set")(b.post(tea, "do", "ask", "items", "black\nwhite"))
	b.want(200, "<b>black</b> deleted", "<b>white</b> was not in the set", "<b>1</b>key, 1 deleted")(b.post(tea, "do", "delete", "items", "black\nwhite"))
	b.want(200, "at least one item")(b.post(tea, "do", "add", "items", "\n"))
	b.want(200, "it expires", "PEXPIRE tea 3600000")(b.post(tea, "do", "expire", "in", "1h"))
	b.want(200, "Write a time")(b.post(tea, "do", "expire", "in", "soon"))
	b.want(200, "it does not expire")(b.post(tea, "do", "persist"))
	b.want(200, `<svg class="heat"`, "blocks, those of the oldest")(b.post("/console/create", "name", "cup", "items", "1k", "rate", "1%", "kind", "scalable"))
	b.want(200, "A set of that name exists")(b.post(tea, "do", "rename", "to", "cup"))
	b.want(200, "<h1>pot</h1>", "<b>1</b>key")(b.post(tea, "do", "rename", "to", "pot"))
	b.want(404, "There is no set of this name")(b.get(tea))
	code, file := b.get("/console/file?name=pot")
	if set, err := everbloom.Read(strings.NewReader(file)); err != nil || code != 200 || !set.MayContainString("green tea") {
		t.Error("the download", code, err)
	}
	b.want(200, "<h1>Sets</h1>", "1 to 1 of 1 set<")(b.post(setPath("pot"), "do", "drop"))
	b.want(400, "nothing that is known")(b.post(setPath("cup"), "do", "dance"))
	b.want(200, "Slow log")(b.get("/console/commands"))
	b.want(404, "no such page")(b.get("/console/nothing"))
	b.want(404)(b.get("/console/static/frame.html"))
	b.want(404, "does not change")(b.get("/console/live/create"))
}

// TestConsoleExplains tries filters of all kinds, on pages of their own: no command runs, and
// no set is made.
func TestConsoleExplains(t *testing.T) {
	s := startWeb(t)
	b := browse(t, s)
	b.want(200, "The set is empty", "<svg", "How it works</h1>", "Start again")(b.get("/console/how"))
	b.want(404, "no kind is called")(b.get("/console/how?kind=none"))
	for _, kind := range []string{"bloom", "blocked", "counting", "deletable", "dleft", "scalable", "partition", "dynamic", "parallel", "elastic", "perennial", "evergreen"} {
		b.want(200, "<b>&lt;a&gt;</b> was added.", "<svg", `&#43;&lt;a&gt;</textarea>`, "</html>")(b.post("/console/how?kind="+kind, "do", "add", "key", "<a>"))
		code, text := b.post("/console/how/part?kind="+kind, "do", "ask", "key", "<a>", "steps", "+<a>\r\n+b")
		if b.want(200, "may be in the set. It is.", `class="touch"`)(code, text); strings.Contains(text, "<html") || strings.Contains(text, "<a>") {
			t.Error(kind, text)
		}
	}
	b.want(200, "&#43;a</textarea>", "1 key is in")(b.post("/console/how/part", "do", "undo", "steps", "+a\r\n+b"))
	b.want(200, "The set is empty")(b.post("/console/how/part", "do", "undo", "steps", "+a"))
	b.want(200, "11 keys are in the set", "&#43;user10</textarea>")(b.post("/console/how/part", "do", "some", "steps", "+a"))
	b.want(200, "has grown", "257 blocks")(b.post("/console/how/part", "kind", "evergreen", "do", "grow", "steps", "+a"))
	if n := s.host.Stats.Commands.Load(); n != 0 {
		t.Error(n, "commands ran")
	}
}

// TestConsoleHostileNames shows names and items as text, whatever they are.
func TestConsoleHostileNames(t *testing.T) {
	s := startWeb(t, "slowlog-log-slower-than", "0")
	b, c := browse(t, s), dial(t, s.Addr().String())
	for name, shows := range map[string]string{
		`<script>alert(1)</script>`:   "&lt;script&gt;alert(1)&lt;/script&gt;",
		`"><img src=x onerror=x>`:     `&#34;&gt;&lt;img src=x onerror=x&gt;`,
		"\xff\x00\r\n\r\ndata: x":     `&#34;\xff\x00\r\n\r\ndata: x&#34;`,
		"a\u202egpj.exe":              `&#34;a\u202egpj.exe&#34;`,
		" ":                           `&#34; &#34;`,
		strings.Repeat("long", 10000): "… (40,000 bytes)",
		"../../etc?name=x&do=drop#":   "../../etc?name=x&amp;do=drop#",
		"javascript:alert(1)":         "javascript:alert(1)",
	} {
		c.do("FLUSHALL")
		if reply := c.do("CF.ADD", name, "item"); reply != ":1" {
			t.Fatal(reply)
		}
		for _, path := range []string{"/console/sets", setPath(name)} {
			code, text := b.get(path)
			if b.want(200, shows)(code, text); strings.Contains(text, name) && strings.ContainsAny(name, "<>\"\r\x00\u202e") {
				t.Errorf("%q stands in %s as it is", name, path)
			}
		}
		b.want(200, "<b>item</b> may be in the set", "is not in the set")(b.post(setPath(name), "do", "ask", "items", "item\n"+name))
		b.want(200, "<b>item</b> deleted")(b.post(setPath(name), "do", "delete", "items", "item"))
		if code, text := b.get("/console/commands"); code != 200 || !strings.Contains(text, "EB.DEL") || strings.Contains(text, "<script>a") || strings.Contains(text, "<img") {
			t.Error("the slow log:", code, text)
		}
		page := b.target("/console/sets", `<td><a href="`)
		b.want(200, "<b>item</b> is not in the set")(b.post(b.target(page, `<form class="card" method="post" action="`), "do", "ask", "items", "item"))
		b.want(200)(b.get(b.target(page, `<a class="button" href="`)))
	}
}

// TestConsoleRoles has users see and do what they may.
func TestConsoleRoles(t *testing.T) {
	tokens, lines := make(map[string]string), ""
	for _, u := range [][3]string{{"root", "admin", "*"}, {"reader", "read", "*"}, {"writer", "write", "*"}, {"shop", "admin", "shop:"}, {"empty", "read", "empty:"}} {
		token, line, err := NewToken(u[0], u[1], u[2])
		if err != nil {
			t.Fatal(err)
		}
		tokens[u[0]] = token
		lines += line + "\n"
	}
	users := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startWeb(t, "users", users, "gate", filepath.Join(t.TempDir(), "none"))
	login := func(name string) *browser {
		b := browse(t, s)
		b.want(200, "<h1>Overview</h1>", "Log out")(b.post("/console/login", "name", name, "token", tokens[name], "to", "//elsewhere.example/"))
		return b
	}
	stranger := browse(t, s)
	for _, path := range []string{"", "sets", "set?name=a", "create", "commands", "gate", "how", "plan", "file?name=a", "live/", "live/sets", "live/gate"} {
		b := *stranger
		b.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		b.want(303)(b.get("/console/" + path))
	}
	stranger.want(401)(stranger.post("/console/set?name=a", "do", "drop"))
	stranger.want(401)(stranger.post("/console/gate", "do", "reload"))
	stranger.want(403, "no user of that name")(stranger.post("/console/login", "name", "root", "token", tokens["shop"]))

	root := login("root")
	for _, name := range []string{"shop:a", "other"} {
		root.want(200)(root.post("/console/create", "name", name, "items", "1k", "rate", "1%", "delete", "1"))
	}
	for _, name := range []string{"reader", "writer"} {
		b := login(name)
		b.want(200, "other", "shop:a", "read only")(b.get("/console/sets"))
		b.want(200, "is not in the set", "role admin")(b.post("/console/set?name=other", "do", "ask", "items", "x"))
		for _, do := range []string{"add", "delete", "expire", "persist", "rename", "drop"} {
			b.want(403, "role admin")(b.post("/console/set?name=other", "do", do, "items", "x", "to", "x", "in", "1h"))
		}
		b.want(403, "role admin")(b.post("/console/create", "name", "mine", "items", "1k", "rate", "1%"))
		b.want(403, "role admin")(b.get("/console/file?name=other"))
		b.want(403, "role admin")(b.post("/console/gate", "do", "ban", "addr", "192.0.2.1"))
		if _, text := b.get("/console/commands"); strings.Contains(text, "Slow log") {
			t.Error(name, "sees the slow log")
		}
	}
	empty := login("empty")
	empty.want(200, "No set that you may see")(empty.get("/console/"))
	shop := login("shop")
	if _, text := shop.get("/console/sets"); strings.Contains(text, "other") || !strings.Contains(text, "shop:a") {
		t.Error("shop sees", text)
	}
	if _, text := shop.get("/console/commands"); strings.Contains(text, "Slow log") {
		t.Error("shop sees the commands of others")
	}
	shop.want(404)(shop.get("/console/set?name=other"))
	shop.want(403, "see all keys")(shop.get("/console/gate"))
	shop.want(403, "see all keys")(shop.post("/console/gate", "do", "ban", "addr", "192.0.2.1"))
	shop.want(404)(shop.get("/console/file?name=other"))
	shop.want(422, "NOPERM")(shop.post("/console/create", "name", "outside", "items", "1k", "rate", "1%"))
	shop.want(200, "NOPERM")(shop.post("/console/set?name=shop:a", "do", "rename", "to", "outside"))
	shop.want(200, "<h1>Log in</h1>")(shop.post("/console/logout"))
	shop.want(200, "<h1>Log in</h1>")(shop.get("/console/sets"))
}

// TestConsoleRefusesOtherSites takes changes from its own pages only, and a server without
// users answers only to names of its own machine.
func TestConsoleRefusesOtherSites(t *testing.T) {
	s := startWeb(t)
	b := browse(t, s)
	send := func(method, host string, header ...string) int {
		r, err := http.NewRequest(method, b.base+"/console/set?name=x", strings.NewReader("do=drop"))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		code, _ := b.answer(b.http.Do(r))
		return code
	}
	own := s.WebAddr().String()
	for _, c := range []struct {
		method, host string
		want         int
		header       []string
	}{
		{"POST", own, 404, []string{"Sec-Fetch-Site", "same-origin"}},
		{"POST", own, 403, []string{"Sec-Fetch-Site", "cross-site"}},
		{"POST", own, 403, []string{"Sec-Fetch-Site", "same-site"}},
		{"POST", own, 403, []string{"Origin", "http://elsewhere.example"}},
		{"POST", own, 404, []string{"Origin", "http://" + own}},
		{"GET", "localhost:1", 404, nil},
		{"GET", "[::1]:1", 404, nil},
		{"GET", "elsewhere.example", 421, nil},
		{"GET", "127.0.0.1.elsewhere.example", 421, nil},
		{"POST", "elsewhere.example", 421, []string{"Origin", "http://elsewhere.example"}},
	} {
		if got := send(c.method, c.host, c.header...); got != c.want {
			t.Errorf("%s of %s with %v: %d, want %d", c.method, c.host, c.header, got, c.want)
		}
	}
}

// TestConsoleIsSmall adds up the first page with all that it loads, which names no other host
// and has neither style nor script inside, and times it with 10,000 sets.
func TestConsoleIsSmall(t *testing.T) {
	s := startWeb(t)
	b, c := browse(t, s), dial(t, s.Addr().String())
	for i := range 10_000 {
		c.conn.Write(encode("BF.ADD", fmt.Sprintf("set:%05d", i), "x"))
		if i%100 == 99 {
			for range 100 {
				c.reply()
			}
		}
	}
	shownBy := console.New(shown{s}, "")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	shownBy.Run(ctx) // one step
	sizes := 0
	for _, path := range []string{"/console/", "/console/static/style.css", "/console/static/script.js", "/console/static/icon.svg"} {
		code, text := b.get(path)
		if sizes += len(text); code != 200 {
			t.Error(path, code)
		}
	}
	if t.Logf("first page: %d bytes", sizes); sizes > 100_000 {
		t.Errorf("the first page takes %d bytes", sizes)
	}
	for _, path := range []string{"/console/", "/console/sets", "/console/sets?by=rate", "/console/create", "/console/commands", setPath("set:00001")} {
		_, text := b.get(path)
		for _, bad := range []string{"http:", "https:", " style=", "<style", "<script>", " onclick"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %q", path, bad)
			}
		}
	}
	b.want(200, "101 to 200 of 10,000 sets", "set:00100", "set:00199", "← previous", "next →")(b.get("/console/sets?page=1"))
	b.want(200, "10,000 of 10,000 sets")(b.get("/console/sets?page=1000"))
	b.want(200, "1 to 10 of 10 sets", "▼")(b.get("/console/sets?prefix=set:0123&by=name&reverse=1"))
	b.want(200, "is kept for the 1,000 largest sets")(b.get(setPath("set:09999")))
	recorder := &discard{header: make(http.Header)}
	for _, path := range []string{"/console/", "/console/sets", "/console/sets?by=memory", "/console/sets?by=bits"} {
		r, err := http.NewRequest(http.MethodGet, "http://localhost"+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		best := time.Hour
		timing.Pinned(func() {
			for range 5 {
				begun := timing.Thread()
				shownBy.ServeHTTP(recorder, r)
				best = min(best, timing.Thread()-begun)
			}
		})
		if t.Logf("%s: %v of CPU time", path, best); best > 50*time.Millisecond && !effort.Variant {
			t.Errorf("%s takes %v of CPU time", path, best)
		}
	}
}

// discard is an answer that nothing reads.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

// TestConsoleStream sees changes arrive by events, until the set is gone or the server ends.
func TestConsoleStream(t *testing.T) {
	s, stop := run(t, "log", "memory", "http", "127.0.0.1:0")
	c := dial(t, s.Addr().String())
	c.do("BF.ADD", "x", "1")
	set, commands := follow(t, s, "set?name=x"), follow(t, s, "commands")
	set.wait("<b>1</b>key;")
	c.do("BF.MADD", "x", "2", "3")
	set.wait("<b>3</b>keys")
	commands.wait("BF.MADD") // after a second, and so commands are watched
	c.do("BF.MADD", "x", "<4>")
	commands.wait("<code>BF.MADD x &lt;4&gt;</code>")
	c.do("DEL", "x")
	set.end()
	if err := stop(); err != nil {
		t.Error(err)
	}
	commands.end()
}

// A stream is the lines of a stream of events.
type stream struct {
	*bufio.Scanner
	t *testing.T
}

func follow(t *testing.T, s *Server, path string) *stream {
	t.Helper()
	r, err := http.Get("http://" + s.WebAddr().String() + "/console/live/" + path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Body.Close() })
	if got := r.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatal(got)
	}
	return &stream{bufio.NewScanner(r.Body), t}
}

// wait reads until some text comes.
func (s *stream) wait(part string) {
	s.t.Helper()
	for s.Scan() {
		if line := s.Text(); line != "" && !strings.HasPrefix(line, "data: ") {
			s.t.Fatalf("%q is not a line of an event", line)
		}
		if strings.Contains(s.Text(), part) {
			return
		}
	}
	s.t.Fatal("the stream ended before", part)
}

// end reads to the end, which must come.
func (s *stream) end() {
	for s.Scan() {
		continue
	}
}

// TestConsoleSortsByWhatItShows compares the order of a column with its numbers.
func TestConsoleSortsByWhatItShows(t *testing.T) {
	s := startWeb(t)
	b, c := browse(t, s), dial(t, s.Addr().String())
	for i, kind := range []string{"scalable", "perennial", "dleft", "bloom", "counting"} {
		c.do("EB.CREATE", kind, "ITEMS", "1000", "FPR", "0.01", "KIND", kind)
		for j := range 100 * i {
			c.do("EB.ADD", kind, strconv.Itoa(j))
		}
	}
	_, text := b.get("/console/sets?by=bits")
	last, rows := math.Inf(1), 0
	for row := range strings.SplitSeq(text, "</tr>") {
		cells := strings.Split(row, `<td class="n">`)
		if len(cells) < 5 {
			continue
		}
		shown, _, _ := strings.Cut(cells[4], "<")
		bits, _ := strconv.ParseFloat(shown, 64) // a set without keys has none
		if rows++; bits > last {
			t.Errorf("%v comes after %v", bits, last)
		}
		last = bits
	}
	if rows != 5 {
		t.Error(rows, "rows:", text)
	}
}

// TestConsoleRefusesLargeForms says that a form is too large, and does nothing of it.
func TestConsoleRefusesLargeForms(t *testing.T) {
	b := browse(t, startWeb(t))
	large := strings.Repeat("a", 1<<20)
	b.want(200)(b.post("/console/create", "name", "x", "items", "1k", "rate", "1%"))
	for _, path := range []string{"set?name=x", "create", "how", "how/part"} {
		b.want(413, "more than 1.00 MiB")(b.post("/console/"+path, "do", "add", "items", large))
	}
}

// TestConsoleEndsDownloads ends one that nothing reads when the server ends.
func TestConsoleEndsDownloads(t *testing.T) {
	s, stop := run(t, "log", "memory", "http", "127.0.0.1:0")
	c := dial(t, s.Addr().String())
	c.do("EB.CREATE", "x", "ITEMS", "50000000", "FPR", "0.01", "KIND", "blocked")
	r, err := http.Get("http://" + s.WebAddr().String() + "/console/file?name=x")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if n, err := io.Copy(io.Discard, r.Body); err == nil {
		t.Errorf("all %d bytes came after the end", n)
	}
}

// TestConsoleSaysWhenAbsenceIsUncertain tells kinds apart that refuse to delete absent keys.
func TestConsoleSaysWhenAbsenceIsUncertain(t *testing.T) {
	b := browse(t, startWeb(t))
	for need, harmed := range map[string]bool{"none": false, "delete": false, "known": true} {
		_, text := b.post("/console/create", "name", need, "items", "1k", "rate", "1%", need, "1")
		if !strings.Contains(text, "is never wrong") || strings.Contains(text, "is never wrong, unless") != harmed {
			t.Errorf("%s: %s", need, text)
		}
	}
}

// TestConsolePlansWhatCanBeDone shows no command that the server would refuse.
func TestConsolePlansWhatCanBeDone(t *testing.T) {
	b := browse(t, startWeb(t))
	for path, can := range map[string]bool{"rate=1e-12&delete=1": false, "rate=1%25&delete=1&kind=bloom": false, "rate=1%25&delete=1": true} {
		if _, text := b.get("/console/plan?items=1000&" + path); strings.Contains(text, "EB.CREATE") != can {
			t.Errorf("%s: %s", path, text)
		}
	}
}
