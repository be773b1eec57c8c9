package command

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/setting"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// noClients is a server without connections.
type noClients struct{}

func (noClients) Sessions() []*Session { return nil }
func (noClients) Kill(int64) bool      { return false }

// newEnv returns an Env over a log.
func newEnv(tb testing.TB, l log.Log) *Env {
	tb.Helper()
	s := store.New()
	p, err := partition.Open(tb.Context(), partition.Config{Store: s, Log: l, Hash: filter.SipHash([16]byte{1})})
	if err != nil {
		tb.Fatal(err)
	}
	settings, table := setting.New(), NewTable()
	host := &Host{
		Table: table, Settings: settings, Clients: noClients{},
		Slow: NewSlowLog(settings), Stats: NewStats(table), MaxMemory: func() int64 { return 1 << 40 }, Started: time.Now(),
	}
	return &Env{Host: host, Store: s, Partition: p, Images: func() ImageState { return ImageState{} }}
}

// words returns the arguments of a command.
func words(line string) (args [][]byte) {
	for w := range strings.FieldsSeq(line) {
		args = append(args, []byte(w))
	}
	return args
}

// ask runs a pipeline and returns its replies, one line each.
func ask(s *Session, lines ...string) (replies []string, err error) {
	s.Begin()
	for _, line := range lines {
		if err := s.Take(words(line)); err != nil {
			return nil, err
		}
	}
	if err := s.Flush(); err != nil {
		return nil, err
	}
	s.End()
	scanner := bufio.NewScanner(bytes.NewReader(s.w.Bytes()))
	for scanner.Scan() {
		replies = append(replies, scanner.Text())
	}
	s.w.Reset()
	return replies, nil
}

// A modelClient is one connection with keys of its own and an exact idea of them.
type modelClient struct {
	t       *testing.T
	env     *Env
	id      int
	rng     *rand.Rand
	session *Session
	exact   bool           // the cuckoo filter is
	sets    [3]map[int]int // how often each item is there: BF, CF, EB
	unsure  [3]map[int]bool
	lost    int
}

const modelItems = 40

// pipeline runs some random commands and checks their replies.
func (m *modelClient) pipeline() {
	type op struct {
		set, item int
		verb      string
	}
	var lines []string
	var ops []op
	there := make(map[int]int) // changes of this pipeline
	for range 1 + m.rng.IntN(20) {
		o := op{m.rng.IntN(3), m.rng.IntN(modelItems), ""}
		o.verb = [3][]string{{"BF.ADD", "BF.EXISTS"}, {"CF.ADD", "CF.ADDNX", "CF.DEL", "CF.EXISTS", "CF.COUNT"}, {"EB.ADD", "EB.DEL", "EB.CONTAINS"}}[o.set][m.rng.IntN([3]int{2, 5, 3}[o.set])]
		switch {
		case o.verb == "CF.DEL" && (m.sets[1][o.item]+there[o.item] <= 0 || m.unsure[1][o.item]):
			o.verb = "CF.EXISTS" // only what is there may be deleted
		case o.verb == "CF.DEL":
			there[o.item]--
		case o.verb == "CF.ADD":
			there[o.item]++
		}
		ops = append(ops, o)
		lines = append(lines, fmt.Sprintf("%s %s item-%d-%d", o.verb, [3]string{"bf", "cf", "eb"}[o.set], m.id, o.item))
	}
	if m.rng.IntN(4) == 0 {
		lines = append(append([]string{"MULTI"}, lines...), "EXEC")
	}
	replies, err := ask(m.session, lines...)
	if err != nil {
		m.lost++
		for _, o := range ops {
			m.unsure[o.set][o.item] = true
		}
		m.session = NewSession(m.env, int64(m.id), "", "")
		repaired(m.t, m.env) // until then what was stored may still take effect
		return
	}
	var answers []string
	for _, r := range replies {
		if !strings.HasPrefix(r, "*") && r != "+QUEUED" && r != "+OK" {
			answers = append(answers, r)
		}
	}
	if len(answers) != len(ops) {
		if strings.Contains(strings.Join(replies, " "), "MISCONF") {
			return // all of it was refused
		}
		m.t.Errorf("%d replies to %d commands: %q", len(answers), len(ops), replies)
		return
	}
	for i, o := range ops {
		m.check(lines[min(i, len(lines)-1)], o.set, o.item, o.verb, answers[i])
	}
}

// repaired waits until the partition knows the end of its log.
func repaired(t *testing.T, env *Env) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); env.Partition.Broken() != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Error("the partition is not repaired")
			return
		}
	}
}

// check compares a reply with the model, and brings the model up to date.
func (m *modelClient) check(line string, set, item int, verb, reply string) {
	n, unsure := m.sets[set][item], m.unsure[set][item]
	if strings.Contains(reply, "MISCONF") {
		return
	}
	yes := reply != ":0"
	wrong := func() { m.t.Errorf("client %d: %s: %s, the item is there %d times", m.id, line, reply, n) }
	switch verb {
	case "BF.EXISTS", "CF.EXISTS":
		if n > 0 && !unsure && !yes {
			wrong()
		}
	case "CF.COUNT":
		if got, err := strconv.Atoi(reply[1:]); !unsure && (err != nil || got < n || m.exact && got != n) {
			wrong()
		}
	case "BF.ADD":
		if n > 0 && !unsure && yes {
			wrong()
		}
		m.sets[set][item] = 1
		delete(m.unsure[set], item)
	case "CF.ADD":
		m.sets[set][item]++
	case "CF.ADDNX":
		if n > 0 && !unsure && yes || n == 0 && !unsure && m.exact && !yes {
			wrong()
		}
		if yes {
			m.sets[set][item]++
		}
	case "CF.DEL":
		if !yes && !unsure {
			wrong()
		}
		m.sets[set][item]--
	case "EB.ADD":
		if !unsure && yes != (n == 0) {
			wrong()
		}
		m.sets[set][item] = 1
		delete(m.unsure[set], item)
	case "EB.DEL":
		if !unsure && yes != (n > 0) {
			wrong()
		}
		m.sets[set][item] = 0
		delete(m.unsure[set], item)
	case "EB.CONTAINS":
		if !unsure && yes != (n > 0) {
			wrong()
		}
		if unsure {
			m.sets[set][item] = 0
			if yes {
				m.sets[set][item] = 1
			}
			delete(m.unsure[set], item)
		}
	}
}

// TestModel has clients change and ask sets over a log that fails in all ways it can, and
// then reads the log into another store, which must hold the same.
func TestModel(t *testing.T) {
	for _, kind := range []string{"perennial", "evergreen"} {
		t.Run(kind, func(t *testing.T) { testModel(t, kind) })
	}
}

func testModel(t *testing.T, kind string) {
	t.Helper()
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(3, 4))
	l := &log.Memory{}
	env := newEnv(t, l)
	if err := env.Settings.Set("cf-kind", kind); err != nil {
		t.Fatal(err)
	}
	first := NewSession(env, 0, "", "")
	if _, err := ask(first, "EB.CREATE eb DELETE", "CF.ADD cf start", "BF.ADD bf start"); err != nil {
		t.Fatal(err)
	}
	env.Partition.Do(func() {
		l.Fault = func(uint64) log.Fault {
			mu.Lock()
			defer mu.Unlock()
			if n := rng.IntN(60); n < 4 {
				return []log.Fault{log.Full, log.LostUnknown, log.StoredUnknown, log.Full}[n]
			}
			return log.None
		}
	})
	var wg sync.WaitGroup
	clients := make([]*modelClient, effort.Pick(8, 16))
	for i := range clients {
		m := &modelClient{t: t, env: env, id: i, rng: rand.New(rand.NewPCG(uint64(i), 5)), exact: kind == "evergreen", session: NewSession(env, int64(i), "", "")}
		for set := range m.sets {
			m.sets[set], m.unsure[set] = make(map[int]int), make(map[int]bool)
		}
		clients[i] = m
		wg.Go(func() {
			for range effort.Pick(150, 5000) {
				m.pipeline()
			}
		})
	}
	wg.Wait()
	lost := 0
	for _, m := range clients {
		lost += m.lost
	}
	if lost == 0 {
		t.Error("no pipeline met a fault")
	}
	env.Partition.Do(func() { l.Fault = nil })
	repaired(t, env)
	env.Partition.Close()
	again := newEnv(t, l)
	defer again.Partition.Close()
	sameContent(t, env, again)
	for _, m := range clients {
		m.env, m.session = again, NewSession(again, int64(m.id), "", "")
		for range 20 {
			m.pipeline()
		}
	}
}

// sameContent compares two stores byte by byte.
func sameContent(t *testing.T, a, b *Env) {
	t.Helper()
	for _, name := range []string{"bf", "cf", "eb"} {
		x, y := a.Store.Lookup([]byte(name), 0), b.Store.Lookup([]byte(name), 0)
		if x == nil || y == nil {
			t.Errorf("%s is missing", name)
			continue
		}
		if x.Items() != y.Items() || x.Deletes() != y.Deletes() || x.Version() != y.Version() {
			t.Errorf("%s: %d items, %d deletes, version %d; replayed %d, %d, %d", name, x.Items(), x.Deletes(), x.Version(), y.Items(), y.Deletes(), y.Version())
		}
		if dx, _ := dumpOf(x); !x.Exact() {
			if dy, _ := dumpOf(y); !bytes.Equal(dx, dy) {
				t.Errorf("%s: replaying the log gives another filter", name)
			}
		}
	}
}

// TestNothingIsLoggedThatChangesNothing counts records.
func TestNothingIsLoggedThatChangesNothing(t *testing.T) {
	l := new(log.Memory)
	env := newEnv(t, l)
	defer env.Partition.Close()
	s := NewSession(env, 1, "", "")
	if _, err := ask(s, "BF.ADD bf a", "EB.CREATE eb DELETE", "EB.ADD eb a", "CF.ADD cf a"); err != nil {
		t.Fatal(err)
	}
	before, _ := l.Last(context.Background())
	for _, line := range []string{
		"BF.ADD bf a", "BF.MADD bf a a", "EB.ADD eb a", "EB.DEL eb z", "CF.ADDNX cf a", "CF.DEL cf z", "DEL missing", "EXPIRE missing 1",
		"PERSIST bf", "RENAME bf bf", "CF.COMPACT cf", "BF.RESERVE bf 0.1 10", "SET bf x NX", "MULTI", "BF.ADD bf a", "EXEC",
	} {
		if _, err := ask(s, line); err != nil {
			t.Fatal(err)
		}
	}
	if after, _ := l.Last(context.Background()); after != before {
		t.Errorf("%d records for nothing", after-before)
	}
	if _, err := ask(s, "BF.ADD bf x", "CF.ADD cf x", "EB.ADD eb x", "CF.ADD cf y", "SET t 1"); err != nil {
		t.Fatal(err)
	}
	if after, _ := l.Last(context.Background()); after != before+1 {
		t.Errorf("%d records for one pipeline", after-before)
	}
}

// TestLargeCommandsAreSplit adds more items than a record holds.
func TestLargeCommandsAreSplit(t *testing.T) {
	effort.OneGoroutine(t)
	l := new(log.Memory)
	env := newEnv(t, l)
	s := NewSession(env, 1, "", "")
	n := effort.PickVariant(80_000, 200_000, 1_000_000)
	args := words("BF.MADD bf")
	for i := range n {
		args = append(args, fmt.Appendf(nil, "%d", i))
	}
	s.Begin()
	if err := s.Take(args); err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := bytes.Count(s.w.Bytes(), []byte(":1\r\n")); got < n*98/100 {
		t.Errorf("%d of %d were new", got, n)
	}
	s.w.Reset()
	if last, _ := l.Last(t.Context()); last < 3 {
		t.Errorf("%d records", last)
	}
	env.Partition.Close()
	again := newEnv(t, l)
	defer again.Partition.Close()
	e := again.Store.Lookup([]byte("bf"), 0)
	for _, a := range args[2:] {
		if !e.MayContain(e.Key(a)) {
			t.Fatalf("%s is missing", a)
		}
	}
}
