package server

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/internal/effort"
)

// fill makes sets of each kind in a folder, some of them in images and all of them in the
// log, and returns their items.
func fill(t *testing.T, dir string) (items []string) {
	t.Helper()
	s, stop := run(t, "dir", dir)
	c := dial(t, s.Addr().String())
	c.do("EB.CREATE", "eb", "DELETE")
	c.do("BF.RESERVE", "reserved", "0.01", "1000")
	c.do("SET", "text", "hello", "EX", "1000")
	for i := range 300 {
		item := fmt.Sprintf("item-%d", i)
		items = append(items, item)
		for _, set := range [][2]string{{"BF.ADD", "bf"}, {"CF.ADD", "cf"}, {"EB.ADD", "eb"}, {"BF.ADD", "reserved"}} {
			c.do(set[0], set[1], item)
		}
		if i == 10 || i == 250 {
			c.do("CF.ADD", "eb", item) // there once more
		}
		if i == 100 || i == 150 || i == 200 {
			if reply := c.do("SAVE"); reply != "+OK" {
				t.Fatal(reply)
			}
		}
	}
	c.do("RENAME", "reserved", "renamed")
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	return items
}

// holds checks that a server has what fill made.
func holds(t *testing.T, s *Server, items []string) {
	t.Helper()
	c := dial(t, s.Addr().String())
	for _, set := range [][2]string{{"BF.MEXISTS", "bf"}, {"CF.MEXISTS", "cf"}, {"EB.CONTAINS", "eb"}, {"BF.MEXISTS", "renamed"}} {
		askAll(t, c, set[0], set[1], items, ":1")
	}
	if got := c.do("GET", "text") + c.do("EB.DEL", "eb", "absent") + c.do("EXISTS", "reserved") + c.do("CF.COUNT", "eb", "item-10") + c.do("CF.COUNT", "eb", "item-250"); got != `"hello"[:0]:0:2:2` {
		t.Error(got)
	}
}

func TestRestart(t *testing.T) {
	dir := t.TempDir()
	items := fill(t, dir)
	before := ""
	for range 2 {
		s, stop := run(t, "dir", dir)
		holds(t, s, items)
		c := dial(t, s.Addr().String())
		got := c.do("CF.COUNT", "cf", items[0]) + c.do("BF.CARD", "bf") + c.do("CF.INFO", "eb")
		if before != "" && got != before || !strings.Contains(got, "items inserted :302 ") {
			t.Errorf("%s, before %s", got, before)
		}
		before = got
		c.do("SAVE")
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFlippedBitsAreTold damages one bit of the folder at a time: the server refuses to
// start, or has everything.
func TestFlippedBitsAreTold(t *testing.T) {
	dir := t.TempDir()
	items := fill(t, dir)
	var files []string
	filepath.WalkDir(dir, func(path string, d os.DirEntry, _ error) error {
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			files = append(files, path)
		}
		return nil
	})
	rng := rand.New(rand.NewPCG(1, effort.Pick[uint64](2, 3)))
	told := 0
	for _, path := range files {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for range effort.Pick(3, 100) {
			copied := filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			bit := rng.IntN(8 * len(whole))
			b := append([]byte(nil), whole...)
			b[bit/8] ^= 1 << (bit % 8)
			rel, _ := filepath.Rel(dir, path)
			if err := os.WriteFile(filepath.Join(copied, rel), b, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := open(t, "dir", copied)
			if err != nil {
				told++
				continue
			}
			c := s.first().store.Lookup([]byte("bf"), 0)
			for _, item := range items {
				if c == nil || !c.MayContain(c.Key([]byte(item))) {
					t.Fatalf("%s: bit %d: %s is lost and nothing is said", rel, bit, item)
				}
			}
			s.release()
		}
	}
	if told == 0 {
		t.Error("nothing was told")
	}
}

// TestLostLogIsTold removes the log, with images and without, and what else says that there
// was one: the server refuses to start, however often it is tried.
func TestLostLogIsTold(t *testing.T) {
	for _, removed := range [][]string{{"jetstream"}, {"jetstream", "images"}, {"jetstream", "images", "tail"}, {"jetstream", "images", "mode"}} {
		dir := t.TempDir()
		fill(t, dir)
		for _, name := range removed {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		for try := range 3 {
			if s, err := open(t, "dir", dir); err == nil {
				t.Errorf("without %v, try %d: a log that is gone is accepted", removed, try)
				s.release()
			}
		}
	}
	dir := t.TempDir()
	_, stop := run(t, "dir", dir)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "jetstream")); err != nil {
		t.Fatal(err)
	}
	_, stop = run(t, "dir", dir, "accept-loss", "yes")
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	_, stop = run(t, "dir", dir)
	if err := stop(); err != nil {
		t.Error("after a loss was accepted:", err)
	}
}

// TestOldLogIsImaged has a log that was long before the server was started.
func TestOldLogIsImaged(t *testing.T) {
	dir := t.TempDir()
	s, stop := run(t, "dir", dir)
	c := dial(t, s.Addr().String())
	for i := range 100 {
		c.do("BF.ADD", "k", fmt.Sprint(i))
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	s = start(t, "dir", dir, "image-after", "1000")
	for deadline := time.Now().Add(time.Minute); s.first().keeper.size.Load() == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no images are written")
		}
	}
}

// TestTornEndIsAccepted cuts the last entry of the log short, beside an index that knows of
// it, and accepts the loss.
func TestTornEndIsAccepted(t *testing.T) {
	dir := t.TempDir()
	items := fill(t, dir)
	blocks, err := filepath.Glob(filepath.Join(dir, "jetstream", "jetstream", "*", "streams", "*", "msgs", "*.blk"))
	if err != nil || len(blocks) != 1 {
		t.Fatal(blocks, err)
	}
	info, err := os.Stat(blocks[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(blocks[0], info.Size()-5); err != nil {
		t.Fatal(err)
	}
	s := start(t, "dir", dir, "accept-loss", "yes")
	c := dial(t, s.Addr().String())
	askAll(t, c, "BF.MEXISTS", "reserved", items, ":1") // the last record renamed it
	if got := c.do("BF.ADD", "bf", "more"); got != ":1" && got != ":0" {
		t.Error(got)
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	s, stop := run(t, "dir", dir)
	if _, err := open(t, "dir", dir); err == nil || !strings.Contains(err.Error(), "is used by another server") {
		t.Error("a folder in use:", err)
	}
	taken := s.Addr().String()
	if _, err := open(t, "log", "memory", "addr", taken); err == nil || !strings.Contains(err.Error(), "choose another address") {
		t.Error("an address in use:", err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, "dir", dir, "log", "file"); err == nil || !strings.Contains(err.Error(), "was created for a server alone with log jetstream") {
		t.Error("another engine:", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mode"), []byte("everbloom 2 alone jetstream\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, "dir", dir); err == nil || !strings.Contains(err.Error(), "newer release") {
		t.Error("a newer release:", err)
	}
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0"} {
		if _, err := open(t, "log", "memory", "addr", addr); err == nil || !strings.Contains(err.Error(), "there are no users") {
			t.Errorf("%s without users: %v", addr, err)
		}
		if _, err := open(t, "log", "memory", "http", addr); err == nil || !strings.Contains(err.Error(), "there are no users") {
			t.Errorf("http: %s without users: %v", addr, err)
		}
	}
	if _, err := open(t); err == nil || !strings.Contains(err.Error(), "--dir") {
		t.Error("no folder:", err)
	}
}

// TestNoMemory fills a server up to maxmemory: what adds is refused, what asks and deletes
// goes on.
func TestNoMemory(t *testing.T) {
	s := start(t, "log", "memory", "maxmemory", "100000")
	c := dial(t, s.Addr().String())
	c.do("CF.ADD", "cf", "x")
	reply := ""
	for i := 0; i < 1000 && !strings.HasPrefix(reply, "-OOM"); i++ {
		reply = c.do("BF.ADD", fmt.Sprint("k", i), "x")
	}
	if reply != "-OOM command not allowed when used memory > 'maxmemory'." && !strings.Contains(reply, "Insufficient memory") {
		t.Fatal(reply)
	}
	if got := c.do("BF.RESERVE", "big", "0.01", "1000000"); !strings.HasPrefix(got, "-OOM") && got != "-ERR Insufficient memory to create filter" {
		t.Error(got)
	}
	if got := c.do("CF.DEL", "cf", "x") + c.do("BF.EXISTS", "k0", "x") + c.do("DEL", "k0"); got != ":1:1:1" {
		t.Error(got)
	}
}

func TestExpiry(t *testing.T) {
	s := start(t, "log", "memory")
	c := dial(t, s.Addr().String())
	c.do("BF.ADD", "k", "x")
	c.do("PEXPIRE", "k", "30")
	for deadline := time.Now().Add(time.Minute); c.do("EXISTS", "k") != ":0"; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not end")
		}
	}
	if got := c.do("BF.ADD", "k", "x") + c.do("TTL", "k"); got != ":1:-1" {
		t.Error("an ended key comes back:", got)
	}
}

func TestWeb(t *testing.T) {
	s := start(t, "log", "memory", "http", "127.0.0.1:0")
	c := dial(t, s.Addr().String())
	c.do("BF.ADD", "k", "x")
	c.do("BF.EXISTS", "k", "x")
	get := func(path string) string {
		r, err := http.Get("http://" + s.WebAddr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, _ := io.ReadAll(r.Body)
		return string(b)
	}
	if get("/health") != "ok\n" || get("/ready") != "ready\n" {
		t.Error(get("/health"), get("/ready"))
	}
	for _, want := range []string{`everbloom_commands_total{command="bf.exists"} 1`, "everbloom_sets 1", "everbloom_log_effects_total 1", "everbloom_writable 1"} {
		for deadline := time.Now().Add(time.Minute); !strings.Contains(get("/metrics"), want); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%q is not in /metrics", want)
			}
		}
	}
}

// TestIdleConnections opens many connections and asks on one.
func TestIdleConnections(t *testing.T) {
	s := start(t, "log", "memory")
	var conns []net.Conn
	for range effort.PickVariant(100, 1000, 10_000) {
		c, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Skipf("after %d connections: %v", len(conns), err)
		}
		defer c.Close()
		conns = append(conns, c)
	}
	c := dial(t, s.Addr().String())
	if got := c.do("PING"); got != "+PONG" {
		t.Error(got)
	}
}

func TestTooManyConnections(t *testing.T) {
	s := start(t, "log", "memory", "maxclients", "2")
	a, b := dial(t, s.Addr().String()), dial(t, s.Addr().String())
	a.do("PING")
	b.do("PING")
	if got := dial(t, s.Addr().String()).reply(); got != "-ERR max number of clients reached" {
		t.Error(got)
	}
}

// TestTimeoutIsTakenBack lets a connection be idle longer than it might before.
func TestTimeoutIsTakenBack(t *testing.T) {
	s := start(t, "log", "memory", "timeout", "1")
	c := dial(t, s.Addr().String())
	if got := c.do("CONFIG", "SET", "timeout", "0", "slowlog-log-slower-than", "-1"); got != "+OK" {
		t.Fatal(got)
	}
	time.Sleep(1200 * time.Millisecond)
	if got := c.do("SLOWLOG", "RESET") + c.do("KEYS", "*") + c.do("SLOWLOG", "LEN"); got != "+OK[]:0" {
		t.Error(got)
	}
}

// TestReaderThatTakesNothing asks for a lot and reads none of it; others are served.
func TestReaderThatTakesNothing(t *testing.T) {
	s := start(t, "log", "memory")
	lazy := dial(t, s.Addr().String())
	go func() { // until the server hangs up
		b := []byte(strings.Repeat("COMMAND DOCS\r\n", 1000))
		for {
			if _, err := lazy.conn.Write(b); err != nil {
				return
			}
		}
	}()
	c := dial(t, s.Addr().String())
	for i := range 200 {
		if got := c.do("BF.ADD", "k", fmt.Sprint(i)); got[0] != ':' {
			t.Fatal(got)
		}
	}
	lazy.conn.Close()
}

// TestLogin tries what may be done before AUTH.
func TestLogin(t *testing.T) {
	token, line, err := NewToken("alice", "admin", "*")
	if err != nil {
		t.Fatal(err)
	}
	users := filepath.Join(t.TempDir(), "users")
	reader, second, err := NewToken("reader", "read", "shop:")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(users, []byte("# users\n\n"+line+"\n"+second+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, "log", "memory", "users", users)
	c := dial(t, s.Addr().String())
	for _, pair := range [][2]string{
		{"PING", "-NOAUTH Authentication required."},
		{"NOSUCH", "-ERR unknown command 'NOSUCH', with args beginning with: "},
		{"HELLO 3", "-NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time"},
		{"AUTH alice wrong", "-WRONGPASS invalid username-password pair or user is disabled."},
		{"AUTH other " + token, "-WRONGPASS invalid username-password pair or user is disabled."},
		{"AUTH alice " + token, "+OK"},
		{"ACL WHOAMI", `"alice"`},
		{"BF.ADD k x", ":1"},
		{"AUTH reader " + reader, "+OK"},
		{"RANDOMKEY", "_$"},
		{"KEYS *", "[]"},
		{"SCAN 0", `["0" []]`},
		{"RENAME k shop:k", "-NOPERM User reader has no permissions to run the 'rename' command"},
		{"WATCH k", "-NOPERM No permissions to access a key"},
		{"MEMORY USAGE k", "-NOPERM No permissions to access a key"},
		{"OBJECT ENCODING k", "-NOPERM No permissions to access a key"},
		{"BF.EXISTS k x", "-NOPERM No permissions to access a key"},
		{"BF.SCANDUMP k 0", "-NOPERM User reader has no permissions to run the 'bf.scandump' command"},
		{"CF.SCANDUMP k 0", "-NOPERM User reader has no permissions to run the 'cf.scandump' command"},
		{"EB.EXPORT k 0", "-NOPERM User reader has no permissions to run the 'eb.export' command"},
		{"DUMP k", "-NOPERM User reader has no permissions to run the 'dump' command"},
		{"RESET", "+RESET"},
		{"PING", "-NOAUTH Authentication required."},
	} {
		if got := c.do(strings.Fields(pair[0])...); got != pair[1] {
			t.Errorf("%s: %s, want %s", pair[0], got, pair[1])
		}
	}
	hostile := dial(t, s.Addr().String())
	hostile.conn.Write([]byte("*11\r\n"))
	if got := hostile.reply(); got != "-ERR Protocol error: unauthenticated multibulk length" {
		t.Error(got)
	}
	if _, err := readUsers(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a file of users that is missing is accepted")
	}
}

// TestLoginEnds has a client that sends commands and does not log in, and one that does.
func TestLoginEnds(t *testing.T) {
	token, line, err := NewToken("alice", "admin", "*")
	if err != nil {
		t.Fatal(err)
	}
	users := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := impatient(t, 300*time.Millisecond, "log", "memory", "users", users)
	stop := serve(s)
	known, unknown := dial(t, s.Addr().String()), dial(t, s.Addr().String())
	if got := known.do("AUTH", "alice", token); got != "+OK" {
		t.Fatal(got)
	}
	for n := 0; ; n++ {
		if _, err := unknown.conn.Write(encode("PING")); err != nil {
			break
		}
		if _, err := readReply(unknown.r); err != nil {
			break
		}
		if n == 1000 {
			t.Fatal("a client that does not log in stays")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if got := known.do("PING"); got != "+PONG" {
		t.Error(got)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestLargeSetsAreImagedWhileTheyChange saves a set that is captured part by part, beside a
// client that adds to it.
func TestLargeSetsAreImagedWhileTheyChange(t *testing.T) {
	effort.PlainOnly(t)
	dir := t.TempDir()
	s, stop := run(t, "dir", dir, "bf-kind", "perennial")
	c := dial(t, s.Addr().String())
	c.do("BF.RESERVE", "large", "1e-9", "100")
	const batch = 5000
	add := func(from, to int) (items []string) {
		for ; from < to; from += batch {
			args := []string{"BF.MADD", "large"}
			for i := range batch {
				args = append(args, fmt.Sprint("item-", from+i))
			}
			c.do(args...)
			items = append(items, args[2], args[batch])
		}
		return items
	}
	items := add(0, 450_000)
	if e := s.first().store.Lookup([]byte("large"), 0); e.Bytes() < 2<<20 {
		t.Fatalf("the set has only %d bytes", e.Bytes())
	}
	other, saved := dial(t, s.Addr().String()), make(chan string)
	go func() { saved <- other.do("SAVE") }()
	items = append(items, add(450_000, 500_000)...)
	if reply := <-saved; reply != "+OK" {
		t.Fatal(reply)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	s = start(t, "dir", dir)
	askAll(t, dial(t, s.Addr().String()), "BF.MEXISTS", "large", items, ":1")
}
