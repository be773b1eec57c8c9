package server

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/internal/effort"
)

// childDir names the folder of a server that runs in a process of its own, to be killed.
const childDir = "EVERBLOOM_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(child(dir))
	}
	if config := os.Getenv(memberEnv); config != "" {
		os.Exit(memberChild(config))
	}
	os.Exit(m.Run())
}

// child serves until it is killed. It writes images all the time.
func child(dir string) int {
	settings := NewSettings()
	for name, value := range map[string]string{"dir": dir, "addr": "127.0.0.1:0", "http": "off", "image-after": "100000"} {
		if err := settings.Set(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	s, err := Open(context.Background(), settings, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(s.Addr())
	go func() {
		for {
			_ = s.first().keeper.save()
			time.Sleep(20 * time.Millisecond)
		}
	}()
	if err := s.Serve(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// A process is a server that can be killed.
type process struct {
	cmd    *exec.Cmd
	addr   string
	stderr strings.Builder
}

func startProcess(t *testing.T, dir string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), childDir+"="+dir)
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.kill()
		t.Fatalf("the server does not start: %s", p.stderr.String())
	}
	p.addr = strings.TrimSpace(line)
	return p
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// A writer adds and deletes items and remembers what was acknowledged.
type writer struct {
	id      int
	rng     *rand.Rand
	next    int
	off     atomic.Bool     // what is answered from now on does not count
	added   []string        // to BF and CF
	present map[string]bool // in EB; what is missing was deleted, or its outcome is unknown
	gone    map[string]bool // deleted from EB
}

// write writes until the connection breaks or a change is refused.
func (w *writer) write(addr string) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		var b []byte
		var items, deleted []string
		for range 1 + w.rng.IntN(30) {
			item := fmt.Sprintf("w%d-%d", w.id, w.next)
			w.next++
			items = append(items, item)
			b = append(b, encode("BF.ADD", "bf", item)...)
			b = append(b, encode("CF.ADD", "cf", item)...)
			b = append(b, encode("EB.ADD", "eb", item)...)
		}
		for item := range w.present {
			if len(deleted) > 4 {
				break
			}
			deleted = append(deleted, item)
			b = append(b, encode("EB.DEL", "eb", item)...)
			delete(w.present, item) // unknown until it is acknowledged
		}
		if _, err := conn.Write(b); err != nil {
			return
		}
		for range 3*len(items) + len(deleted) {
			if reply, err := readReply(r); err != nil || strings.Contains(reply, "-MISCONF") {
				return
			}
		}
		if w.off.Load() {
			return
		}
		w.added = append(w.added, items...)
		for _, item := range items {
			w.present[item] = true
		}
		for _, item := range deleted {
			w.gone[item] = true
		}
	}
}

// verify asks about everything that was acknowledged.
func (w *writer) verify(t *testing.T, c *client) {
	t.Helper()
	askAll(t, c, "BF.MEXISTS", "bf", w.added, ":1")
	askAll(t, c, "CF.MEXISTS", "cf", w.added, ":1")
	var present, gone []string
	for item := range w.present {
		present = append(present, item)
	}
	for item := range w.gone {
		gone = append(gone, item)
	}
	askAll(t, c, "EB.CONTAINS", "eb", present, ":1")
	askAll(t, c, "EB.CONTAINS", "eb", gone, ":0")
}

// askAll asks about items and wants the same answer for all.
func askAll(t *testing.T, c *client, verb, set string, items []string, want string) {
	t.Helper()
	for len(items) > 0 {
		n := min(1000, len(items))
		reply := c.do(append([]string{verb, set}, items[:n]...)...)
		answers := strings.Fields(strings.Trim(reply, "[]"))
		if len(answers) != n {
			t.Fatalf("%s %s: %d answers about %d items: %.200s", verb, set, len(answers), n, reply)
		}
		for i, answer := range answers {
			if answer != want {
				t.Fatalf("%s %s: %s for %s, which was acknowledged otherwise", verb, set, answer, items[i])
			}
		}
		items = items[n:]
	}
}

// newWriters returns writers with items of their own.
func newWriters(n int) (writers []*writer) {
	for i := range n {
		writers = append(writers, &writer{id: i, rng: rand.New(rand.NewPCG(uint64(i), 9)), present: make(map[string]bool), gone: make(map[string]bool)})
	}
	return writers
}

// verifyAll asks a server about everything that it has acknowledged, and returns how much
// that is.
func verifyAll(t *testing.T, writers []*writer, addr string) (acknowledged int) {
	t.Helper()
	c := dial(t, addr)
	for _, w := range writers {
		w.verify(t, c)
		acknowledged += len(w.added)
	}
	return acknowledged
}

// TestKill kills a server under load, again and again, and asks for all that it has
// acknowledged.
func TestKill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	rng := rand.New(rand.NewPCG(7, 8))
	writers := newWriters(6)
	p := startProcess(t, dir)
	defer func() { p.kill() }()
	dial(t, p.addr).do("EB.CREATE", "eb", "DELETE")
	for range effort.Pick(4, 100) {
		var wg sync.WaitGroup
		for _, w := range writers {
			wg.Go(func() { w.write(p.addr) })
		}
		time.Sleep(time.Duration(100+rng.IntN(400)) * time.Millisecond)
		p.kill()
		wg.Wait()
		p = startProcess(t, dir)
		t.Logf("%d items", verifyAll(t, writers, p.addr))
	}
}
