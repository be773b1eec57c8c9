package transfer

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/server"
	"github.com/everbloom-go/everbloom/server/internal/rebloom/rebloomtest"
)

// A fake is a server that answers as RedisBloom does what a copy asks.
type fake struct {
	names   []string
	dumps   map[string]rebloomtest.Dump
	types   map[string]string
	ttl     map[string]int
	growing string // a name whose header is that of a smaller filter
	smaller []byte
}

// serve answers connections until the test ends, and returns the address.
func (f *fake) serve(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go f.answer(conn)
		}
	}()
	return l.Addr().String()
}

func (f *fake) answer(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		args, err := readCommand(r)
		if err != nil {
			return
		}
		if _, err := io.WriteString(conn, f.reply(args)); err != nil {
			return
		}
	}
}

func readCommand(r *bufio.Reader) (args []string, err error) {
	c := client{r: r}
	list, err := c.read(1)
	if err != nil {
		return nil, err
	}
	for _, a := range list.([]any) {
		args = append(args, text(a))
	}
	return args, nil
}

func bulk(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }

func (f *fake) reply(args []string) string {
	if args[0] == "AUTH" || args[0] == "SELECT" || args[0] == "PING" {
		if strings.Join(args, " ") == "AUTH wrong" {
			return "-WRONGPASS invalid username-password pair or user is disabled.\r\n"
		}
		return "+OK\r\n"
	}
	switch name := args[1]; args[0] {
	case "SCAN": // a page of two and the last one again
		at, _ := strconv.Atoi(name)
		page := f.names[max(at-1, 0):min(at+2, len(f.names))]
		next := at + 2
		if next >= len(f.names) {
			next = 0
		}
		var names []string
		for _, n := range page {
			names = append(names, bulk(n))
		}
		return "*2\r\n" + bulk(strconv.Itoa(next)) + fmt.Sprintf("*%d\r\n", len(page)) + strings.Join(names, "")
	case "TYPE":
		return "+" + f.types[name] + "\r\n"
	case "PTTL":
		if ms, ok := f.ttl[name]; ok {
			return fmt.Sprintf(":%d\r\n", ms)
		}
		return ":-1\r\n"
	case "BF.SCANDUMP", "CF.SCANDUMP":
		d, ok := f.dumps[name]
		if !ok {
			return "-ERR not found\r\n"
		}
		if len(d.Parts) == 0 {
			return "*2\r\n:0\r\n$-1\r\n"
		}
		cursor, _ := strconv.ParseInt(args[2], 10, 64)
		next, chunk := d.At(cursor)
		if cursor == 0 && name == f.growing {
			chunk = f.smaller
		}
		return fmt.Sprintf("*2\r\n:%d\r\n", next) + bulk(string(chunk))
	case "CF.INFO":
		return "*16\r\n+Size\r\n:1080\r\n+Number of buckets\r\n:512\r\n+Number of filters\r\n:1\r\n+Number of items inserted\r\n:0\r\n" +
			"+Number of items deleted\r\n:0\r\n+Bucket size\r\n:2\r\n+Expansion rate\r\n:4\r\n+Max iterations\r\n:30\r\n"
	}
	return "-ERR unknown command '" + args[0] + "'\r\n"
}

// start runs an everbloom server and returns its address, and what ends it.
func start(t *testing.T, dir string) (addr string, stop func()) {
	t.Helper()
	settings := server.NewSettings()
	for name, value := range map[string]string{"dir": dir, "addr": "127.0.0.1:0", "http": "off"} {
		if err := settings.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	s, err := server.Open(t.Context(), settings, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	return "redis://" + s.Addr().String(), func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// newFake returns a server with one of each.
func newFake() *fake {
	bloom, cuckoo := rebloomtest.NewBloom(0.001, 1000, 2, false), rebloomtest.NewCuckoo(1024, 2, 1)
	for i := range 5000 {
		bloom.Add(fmt.Append(nil, "item-", i))
		cuckoo.Add(fmt.Append(nil, "item-", i))
	}
	old := bloom.Dump()
	old.Header[12] = 1 // hashes of 32 bits
	return &fake{
		names: []string{"bf", "cf", "text", "empty", "kept", "gone", "ended", "old"},
		types: map[string]string{"bf": "MBbloom--", "cf": "MBbloomCF", "text": "string", "empty": "MBbloomCF", "kept": "MBbloom--", "gone": "MBbloom--", "ended": "MBbloom--", "old": "MBbloom--"},
		dumps: map[string]rebloomtest.Dump{"bf": bloom.Dump(), "cf": cuckoo.Dump(), "empty": {}, "kept": bloom.Dump(), "ended": bloom.Dump(), "old": old},
		ttl:   map[string]int{"cf": 1_000_000, "ended": -2},
	}
}

func ask(t *testing.T, addr string, args ...any) any {
	t.Helper()
	c, err := dial(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	reply, err := c.do(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// TestCopy copies a server of RedisBloom, and restarts the destination from its log and from
// images.
func TestCopy(t *testing.T) {
	f := newFake()
	from := "redis://:secret@" + f.serve(t) + "/3"
	dir := t.TempDir()
	to, stop := start(t, dir)
	ask(t, to, "BF.ADD", "kept", "x")
	sum, err := Copy(t.Context(), Config{From: from, To: to})
	if err != nil || sum.Copied != 3 || sum.Kept != 1 || sum.Other != 1 || sum.Bytes < 10_000 || !slices.Equal(sum.Refused, []string{"old"}) {
		t.Fatalf("%+v, %v", sum, err)
	}
	check := func() {
		t.Helper()
		for _, q := range [][2]string{{"BF.MEXISTS", "bf"}, {"CF.MEXISTS", "cf"}} {
			args := []any{q[0], q[1]}
			for i := range 5000 {
				args = append(args, fmt.Sprint("item-", i))
			}
			for i, yes := range ask(t, to, args...).([]any) {
				if yes != int64(1) {
					t.Fatalf("%s: item-%d is absent", q[1], i)
				}
			}
		}
		if left := ask(t, to, "PTTL", "cf").(int64); left <= 0 || left > 1_000_000 {
			t.Error("time to live:", left)
		}
		if n := ask(t, to, "DBSIZE"); n != int64(4) {
			t.Error("keys:", n)
		}
		if info := fmt.Sprint(ask(t, to, "CF.INFO", "empty")); !strings.Contains(info, "buckets 512") || !strings.HasSuffix(info, "Expansion rate 4 Max iterations 30]") {
			t.Error(info)
		}
	}
	check()
	stop()
	to, stop = start(t, dir)
	check()
	ask(t, to, "SAVE")
	stop()
	to, stop = start(t, dir)
	defer stop()
	check()
	if sum, err := Copy(t.Context(), Config{From: from, To: to, Replace: true}); err != nil || sum.Copied != 4 || sum.Kept != 0 {
		t.Errorf("%+v, %v", sum, err)
	}
	if n := ask(t, to, "BF.EXISTS", "kept", "item-1"); n != int64(1) {
		t.Error("it was not replaced")
	}
	second, stopSecond := start(t, t.TempDir())
	defer stopSecond()
	if sum, err := Copy(t.Context(), Config{From: to, To: second}); err != nil || sum.Copied != 4 {
		t.Errorf("from everbloom: %+v, %v", sum, err)
	}
	if n := ask(t, second, "BF.EXISTS", "bf", "item-4999"); n != int64(1) {
		t.Error("from everbloom: an item is absent")
	}
}

func TestCopyRefuses(t *testing.T) {
	f := newFake()
	addr := f.serve(t)
	to, stop := start(t, t.TempDir())
	defer stop()
	for from, want := range map[string]string{
		"http://x":               "such as redis://",
		"redis://:wrong@" + addr: "WRONGPASS",
		"redis://127.0.0.1:1":    "refused",
	} {
		if _, err := Copy(t.Context(), Config{From: from, To: to}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "wrong@") {
			t.Errorf("%s: %v, want %q", from, err, want)
		}
	}
	f.growing = "bf"
	f.smaller = rebloomtest.NewBloom(0.001, 1000, 2, false).Dump().Header
	if _, err := Copy(t.Context(), Config{From: "redis://" + addr, To: to}); err == nil || !strings.Contains(err.Error(), `"bf": transfer: the filter changed`) {
		t.Error(err)
	}
	if n := ask(t, to, "DBSIZE"); n != int64(0) {
		t.Error("a part of it is left:", n)
	}
}

// TestRepliesAreBounded reads lists within lists, and a line without an end.
func TestRepliesAreBounded(t *testing.T) {
	for _, reply := range []string{strings.Repeat("*1\r\n", 10) + ":1\r\n", "+" + strings.Repeat("x", 1<<17) + "\r\n"} {
		c := client{r: bufio.NewReaderSize(strings.NewReader(reply), 1<<16)}
		if got, err := c.read(maxDepth); err == nil {
			t.Errorf("%.10q: %.10v", reply, got)
		}
	}
}
