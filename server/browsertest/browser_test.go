package browsertest

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/gate/control"
	"github.com/everbloom-go/everbloom/internal/gate/keeper"
	"github.com/everbloom-go/everbloom/server"
	"github.com/everbloom-go/everbloom/server/demo"
)

var (
	shots  = flag.String("shots", "", "write pictures of all pages into this folder")
	readme = flag.Bool("readme", false, "write the pictures of the README, after some minutes")
)

// start runs a server in memory until the test ends, with more settings.
func start(t *testing.T, more map[string]string) *server.Server {
	t.Helper()
	settings := server.NewSettings()
	all := map[string]string{"log": "memory", "addr": "127.0.0.1:0", "http": "127.0.0.1:0"}
	maps.Copy(all, more)
	for name, value := range all {
		if err := settings.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	s, err := server.Open(t.Context(), settings, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	background(t, s.Serve)
	return s
}

// background runs something until the test ends.
func background(t *testing.T, do func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// rootUser returns the token of a user, root, and a file of users that has it.
func rootUser(t *testing.T) (token, file string) {
	t.Helper()
	token, line, err := server.NewToken("root", "admin", "*")
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(file, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return token, file
}

// socketPath returns a path for a socket, which must be short.
func socketPath(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "gate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return filepath.Join(folder, "s")
}

// startGate runs a gate with a few bans until the test ends, and returns its socket.
func startGate(t *testing.T) string {
	t.Helper()
	k, err := keeper.Open(keeper.Config{BanFor: time.Hour}, gate.Config{Users: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if _, err := k.Ban(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), time.Duration(i)*time.Hour, "shell"); err != nil {
			t.Fatal(err)
		}
	}
	path := socketPath(t)
	l, err := control.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	g := &control.Server{Keeper: k, Source: "eth0", Enforcer: "XDP", Done: t.Context().Done()}
	h := &http.Server{Handler: g.Handler(), ReadHeaderTimeout: time.Minute}
	go func() { _ = h.Serve(l) }()
	t.Cleanup(func() { _ = h.Close() })
	return path
}

// send sends commands and waits for the first line of each reply; only the last one may have
// more.
func send(t *testing.T, s *server.Server, token string, commands ...[]string) {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	r := bufio.NewReader(conn)
	for _, words := range append([][]string{{"AUTH", "root", token}}, commands...) {
		b := fmt.Appendf(nil, "*%d\r\n", len(words))
		for _, w := range words {
			b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
		}
		if _, err := conn.Write(b); err != nil {
			t.Fatal(err)
		}
		if reply, err := r.ReadString('\n'); err != nil || reply[0] == '-' {
			t.Fatal(words, reply, err)
		}
	}
}

// A browser is chromium, and what it complained about.
type browser struct {
	context.Context //nolint:containedctx // chromedp keeps the browser in it
	t               *testing.T
	base            string

	mu       sync.Mutex
	problems []string
}

// open starts chromium. Without one the test is skipped.
func open(t *testing.T, s *server.Server) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		t.Skip("NOT TESTED: there is no chromium; install it with apt-get install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{Context: ctx, t: t, base: "http://" + s.WebAddr().String() + "/console/"}
	collect(b, runtime.ExceptionThrown, func(e runtime.EventExceptionThrown) string { return "exception: " + e.ExceptionDetails.Text })
	collect(b, runtime.ConsoleAPICalled, func(e runtime.EventConsoleAPICalled) string { return "console: " + string(e.Type) })
	collect(b, log.EntryAdded, func(e log.EventEntryAdded) string { return "log: " + e.Entry.Text + " " + e.Entry.URL })
	collect(b, network.RequestWillBeSent, func(e network.EventRequestWillBeSent) string {
		if strings.HasPrefix(e.Request.URL, b.base) {
			return ""
		}
		return "request to " + e.Request.URL
	})
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	return b
}

// collect keeps what an event says is wrong.
func collect[E any](b *browser, event cdp.Event[E], problem func(E) string) {
	events := chromedp.Events(b, event)
	go func() {
		for e, err := range events {
			if err != nil {
				return // the browser has ended
			}
			if text := problem(e); text != "" {
				b.mu.Lock()
				b.problems = append(b.problems, text)
				b.mu.Unlock()
			}
		}
	}()
}

func call[P, R any](b *browser, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b, command, params); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// value returns what an expression of the page is.
func value[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// wait waits until an expression of the page is true.
func (b *browser) wait(expression string) {
	b.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && b.Err() == nil; time.Sleep(50 * time.Millisecond) {
		if yes, err := chromedp.Run(b, chromedp.Evaluate[bool]("!!("+expression+")")); err == nil && yes { // an error: the page is being replaced
			return
		}
	}
	b.t.Fatalf("never %s on %s", expression, value[string](b, "location + document.body.innerText"))
}

// text waits for a text on the page.
func (b *browser) text(part string) {
	b.t.Helper()
	b.wait(fmt.Sprintf("document.body && document.body.innerText.includes(%q)", part))
}

// press clicks the button with a text.
func (b *browser) press(label string) {
	b.t.Helper()
	b.do(chromedp.Click(fmt.Sprintf(`//button[normalize-space()=%q]`, label)))
}

func (b *browser) fill(selector, text string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelector(%q)`, selector))
	value[string](b, fmt.Sprintf(`document.querySelector(%q).value = ""`, selector))
	b.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

func (b *browser) visit(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.base + path))
}

// look gives the window a width, a height and a colour scheme.
func (b *browser) look(width, height int64, scheme string) {
	b.t.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// write writes a picture into a file.
func (b *browser) write(path string, shot chromedp.Action[[]byte]) {
	b.t.Helper()
	picture, err := chromedp.Run(b, shot)
	if err == nil {
		err = os.WriteFile(path, picture, 0o644)
	}
	if err != nil {
		b.t.Error(err)
	}
}

// picture looks at a page in light and dark, narrow and wide. No page may be wider than the
// window.
func (b *browser) picture(name string) {
	b.t.Helper()
	for _, width := range []int64{400, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			if *shots == "" && scheme == "dark" {
				continue
			}
			b.look(width, 900, scheme)
			if value[bool](b, "document.documentElement.scrollWidth > window.innerWidth") {
				b.t.Errorf("%s is wider than %d pixels", name, width)
			}
			if *shots != "" {
				b.write(filepath.Join(*shots, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), chromedp.FullScreenshot(100))
			}
		}
	}
}

// how types a key and sees what it touches, without loading the page again.
func (b *browser) how() {
	b.t.Helper()
	b.visit("how")
	value[string](b, `window.loaded = "once"`)
	b.fill(`[name=key]`, hostile)
	b.text(hostile + " is not in the set, for certain.")
	b.do(chromedp.SendKeys(chromedp.CSS(`[name=key]`), kb.Enter))
	b.text(hostile + " was added.")
	b.press("Add ten")
	b.text("11 keys are in the set")
	b.do(chromedp.Click(chromedp.CSS(`button[value^=visitor]`)))
	b.text("may be in the set, says the filter. It is not: this is a false positive.")
	b.wait(`window.loaded === "once" && document.querySelector("path.touch") && document.activeElement.name === "key"`)
	b.picture("how-bloom")
	for _, kind := range []string{"blocked", "counting", "deletable", "dleft", "scalable", "partition", "dynamic", "parallel", "elastic", "perennial", "evergreen"} {
		b.visit("how?kind=" + kind)
		b.press("Add ten")
		b.text("10 keys are in the set")
		if kind == "evergreen" {
			b.press("Grow")
			b.text("has grown")
		}
		b.fill(`[name=key]`, "user7")
		b.text("user7 may be in the set. It is.")
		b.picture("how-" + kind)
	}
}

// gate bans and unbans.
func (b *browser) gate() {
	b.t.Helper()
	b.visit("gate")
	b.text("bans in force")
	b.fill(`[name=addr]`, "192.0.2.77")
	b.fill(`[name=reason]`, hostile)
	b.press("Ban")
	b.text("192.0.2.77 is banned")
	b.text(hostile)
	b.wait(`document.querySelector("#live .mark")`) // by events
	b.picture("gate")
	b.fill(`[name=addr]`, "192.0.2.77")
	b.press("Unban")
	b.text("192.0.2.77 is not banned any more")
}

const hostile = `<img src=x onerror="document.title='taken'">`

// TestConsole walks through the console as a person does.
func TestConsole(t *testing.T) {
	token, users := rootUser(t)
	s := start(t, map[string]string{"users": users, "slowlog-log-slower-than": "0", "gate": startGate(t)})
	b := open(t, s)

	b.visit("sets")
	b.picture("login")
	b.fill(`[name=name]`, "root")
	b.fill(`[name=token]`, token)
	b.press("Log in")
	b.text("No set is there")

	b.visit("create")
	b.fill(`[name=items]`, "20000")
	b.text("EB.CREATE NAME ITEMS 20000 FPR 0.01")
	b.do(chromedp.Click(chromedp.CSS(`[name=delete]`)))
	b.text("FPR 0.01 DELETE")
	b.fill(`[name=name]`, "sessions")
	b.text("EB.CREATE sessions")
	b.picture("create")
	b.press("Create")
	b.text("keys can be deleted")

	b.fill(`[name=items]`, "alice\nbob")
	b.press("Add")
	b.text("bob added")
	b.fill(`[name=items]`, "bob\ncarol")
	b.press("Ask")
	b.text("bob may be in the set")
	b.text("carol is not in the set")
	b.press("Delete")
	b.text("carol was not in the set")

	b.text("1\nkey, 1 deleted")
	items := []string{"EB.ADD", "sessions"}
	for i := range 500 {
		items = append(items, fmt.Sprint("user", i))
	}
	value[string](b, `window.before = document.querySelector("#live .chart path.line").getAttribute("d")`)
	send(t, s, token, items, []string{"BF.ADD", hostile, hostile}, []string{"CF.ADD", "crawler:seen", "x"}, []string{"EB.EXISTS", hostile, "x"})
	b.text("501\nkeys") // by events
	b.wait(`document.querySelector("#live .chart path.line").getAttribute("d") !== window.before`)

	b.fill(`[name=in]`, "1h")
	b.press("Expire")
	b.text("it expires")
	b.picture("set")

	b.visit("")
	b.text("Largest sets")
	b.text(hostile)
	b.picture("overview")
	b.visit("sets?by=memory")
	b.text(hostile)
	b.picture("sets")
	b.do(chromedp.SendKeys(chromedp.CSS(`[name=prefix]`), "\t\t")) // past the button
	b.text("This page waits")
	b.do(chromedp.Click(`//td/a[contains(., "onerror")]`))
	b.wait(fmt.Sprintf(`document.querySelector("h1")?.innerText === %q`, hostile))
	b.visit("commands")
	b.text("Slow log")
	b.text("EB.EXISTS " + strconv.Quote(hostile))
	b.text("None has run since this page was opened")
	time.Sleep(2 * time.Second)                          // until commands are watched
	b.do(chromedp.Click(chromedp.CSS("#live .wide td"))) // the page goes on
	send(t, s, token, []string{"BF.ADD", hostile, "as it runs"})
	b.text(`"as it runs"`)
	b.picture("commands")

	b.how()
	b.gate()

	b.visit("set?" + url.Values{"name": {"sessions"}}.Encode())
	b.do(chromedp.Click(chromedp.CSS("summary")))
	b.press("Drop it")
	b.wait(`document.querySelector("h1")?.innerText === "Sets" && !document.body.innerText.includes("sessions")`)
	b.press("Log out")
	b.text("Users and their tokens")

	b.complain()
}

// complain reports what the browser complained about.
func (b *browser) complain() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		b.t.Error(p)
	}
}

// demoTime is how long the demo lives before the picture of the README is made.
const demoTime = 150 * time.Second

// TestDemo looks at a server that has something to do.
func TestDemo(t *testing.T) {
	socket := socketPath(t)
	s := start(t, map[string]string{"gate": socket})
	b := open(t, s)
	background(t, func(ctx context.Context) error { return demo.Run(ctx, s.Addr().String()) })
	background(t, func(ctx context.Context) error { return demo.Gate(ctx, socket) })
	b.visit("")
	b.text("crawler:seen")
	if *readme {
		time.Sleep(demoTime)
		b.readmePictures()
	}
	b.picture("demo-overview")
	b.visit("set?name=sessions")
	b.wait(`document.querySelector(".heat path")`)
	b.picture("demo-set")
	b.visit("commands")
	b.text("BF.MEXISTS crawler:seen")
	b.picture("demo-commands")
	b.visit("gate")
	b.text("strike 1")
	b.picture("demo-gate")
	b.complain()
}

// readmePictures writes the pictures of the README.
func (b *browser) readmePictures() {
	b.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		b.look(1100, 780, scheme)
		b.write(filepath.Join("..", "..", "docs", "images", "console-"+scheme+".png"), chromedp.CaptureScreenshot())
	}
}
