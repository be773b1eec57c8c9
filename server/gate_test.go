package server

import (
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/gate/control"
	gatekeeper "github.com/everbloom-go/everbloom/internal/gate/keeper"
)

// startGate runs a gate behind a socket until stop is called.
func startGate(t *testing.T, path string) (k *gatekeeper.Keeper, stop func()) {
	t.Helper()
	k, err := gatekeeper.Open(gatekeeper.Config{BanFor: time.Hour}, gate.Config{Users: 1000})
	if err != nil {
		t.Fatal(err)
	}
	l, err := control.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	g := &control.Server{Keeper: k, Source: "<eth0>", Enforcer: "none", Done: t.Context().Done(), Reload: func() error { return nil }}
	h := &http.Server{Handler: g.Handler(), ReadHeaderTimeout: time.Minute}
	go func() { _ = h.Serve(l) }()
	stop = func() { _ = h.Close() }
	t.Cleanup(stop)
	return k, stop
}

// TestConsoleShowsTheGate bans, asks and unbans, sees what others ban as it happens, and when
// the gate is gone and comes back.
func TestConsoleShowsTheGate(t *testing.T) {
	folder, err := os.MkdirTemp("", "gate") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	path := filepath.Join(folder, "s")
	s := startWeb(t, "gate", path)
	b := browse(t, s)
	b.want(200, ">Gate</a>", "The gate", "everbloom gate live eth0 --socket "+path)(b.get("/console/gate"))
	live := follow(t, s, "gate")
	k, stop := startGate(t, path)
	live.wait("<b>0</b>bans in force")
	b.want(200, "&lt;eth0&gt;")(b.get("/console/gate"))
	for i := range 2000 { // events are told to those that listen, which it begins to
		if _, err := k.Ban(netip.MustParseAddr("192.0.2.7"), time.Hour, "<b>others</b>"); err != nil {
			t.Fatal(err)
		}
		if _, text := b.get("/console/gate"); strings.Contains(text, `<span class="mark">ban</span>`) {
			break
		}
		if time.Sleep(20 * time.Millisecond); i == 1999 {
			t.Fatal("the ban never showed")
		}
	}
	live.wait("&lt;b&gt;others&lt;/b&gt;")
	live.wait("The newest 1 of 1, read ")
	b.want(200, "192.0.2.9 is banned; the ban ends: never", `<td class="t">192.0.2.9</td>`, "by &lt;hand&gt;")(b.post("/console/gate", "do", "ban", "addr", "192.0.2.9", "for", "ever", "reason", "by <hand>"))
	b.want(200, "192.0.2.9 is banned or on the black list since", "the ban ends: never")(b.post("/console/gate", "do", "ask", "addr", "192.0.2.9"))
	b.want(200, "192.0.2.9 is not banned any more")(b.post("/console/gate", "do", "unban", "addr", "192.0.2.9"))
	b.want(200, "192.0.2.9 is not known")(b.post("/console/gate", "do", "ask", "addr", "192.0.2.9"))
	b.want(200, "not an IPv4 or IPv6 address")(b.post("/console/gate", "do", "ban", "addr", "<x>"))
	b.want(200, "must be a duration")(b.post("/console/gate", "do", "ban", "addr", "192.0.2.9", "for", "-1s"))
	b.want(200, "lists were read again")(b.post("/console/gate", "do", "reload"))
	b.want(200, "nothing that is known")(b.post("/console/gate", "do", "dance"))
	stop()
	live.wait("The gate does not answer")
	b.want(200, "no gate answers")(b.post("/console/gate", "do", "ask", "addr", "192.0.2.9"))
	startGate(t, path)
	live.wait("<b>0</b>bans in force")
	none := browse(t, startWeb(t))
	none.want(404, "without --gate")(none.get("/console/gate"))
	if _, text := none.get("/console/"); strings.Contains(text, "/console/gate") {
		t.Error("a link to a gate that is not there")
	}
}
