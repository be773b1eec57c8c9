package server

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/everbloom-go/everbloom/internal/effort"
)

var (
	failuresTime = flag.Duration("failures-time", effort.Pick(20*time.Second, 30*time.Minute), "how long servers fail in TestFailures")
	failuresNet  = flag.Bool("failures-namespaces", effort.Long() && os.Geteuid() == 0, "servers of TestFailures have network namespaces; else proxies")
	failuresSeed = flag.Uint64("failures-seed", 0, "what TestFailures does is chosen by; 0 means at random")
)

const (
	failureClients = 9
	failureItems   = 2                      // of each kind of set, at a time
	itemsFor       = 500 * time.Millisecond // then others are used, so that histories stay short
)

// A verb is a command about one item.
type verb uint8

const (
	verbAdd verb = iota
	verbDelete
	verbAsk
)

// A setKind is how sets are used: by their commands, and by what is in them.
type setKind struct {
	prefix string
	create []string // behind the name
	verbs  [3]string
	copies bool // an item can be there several times
}

var setKinds = []setKind{
	{"copies", nil, [3]string{"CF.ADD", "CF.DEL", "CF.COUNT"}, true},
	{"bloom", []string{"BF.RESERVE", "0.000000001", "1000"}, [3]string{"BF.ADD", "", "BF.EXISTS"}, false},
	{"delete", []string{"EB.CREATE", "FPR", "0.000000001", "DELETE"}, [3]string{"EB.ADD", "EB.DEL", "EB.CONTAINS"}, false},
}

// An itemOp is a command of a history.
type itemOp struct {
	kind int
	verb verb
	item int
}

// An itemReply is its reply: an outcome, or how often the item is there.
type itemReply struct {
	known bool
	n     int
}

// itemModel says what commands do to an item.
var itemModel = porcupine.Model{
	Init: func() any { return 0 },
	Step: func(state, input, output any) (bool, any) {
		n, op, reply := state.(int), input.(itemOp), output.(itemReply)
		is := func(want int) bool { return !reply.known || reply.n == want }
		switch {
		case op.verb == verbAdd && setKinds[op.kind].copies:
			return is(1), n + 1
		case op.verb == verbAdd:
			return is(1 - n), 1
		case op.verb == verbDelete:
			done := min(n, 1)
			return is(done), n - done
		}
		return is(n), n
	},
}

// A history is what clients of a trial have seen.
type history struct {
	*trial
	start time.Time
	sets  [][]string // by kind and partition

	mu      sync.Mutex
	ops     []porcupine.Operation
	unknown atomic.Int64
	down    atomic.Int64 // commands that were refused
}

// newHistory makes the sets.
func newHistory(c *trial) *history {
	h := &history{trial: c, start: time.Now()}
	for _, kind := range setKinds {
		var names []string
		for p := range c.partitions {
			name := c.key(kind.prefix, p)
			names = append(names, name)
			if kind.create != nil {
				c.must(0, append([]string{kind.create[0], name}, kind.create[1:]...)...)
			} else {
				c.must(0, "CF.ADD", name, "first")
			}
		}
		h.sets = append(h.sets, names)
	}
	return h
}

// words returns a command.
func (h *history) words(op itemOp) []string {
	return []string{setKinds[op.kind].verbs[op.verb], h.sets[op.kind][op.item%h.partitions], fmt.Sprint("item", op.item)}
}

// client sends commands to a server until stop is closed.
func (h *history) client(id int, rng *rand.Rand, stop <-chan struct{}) {
	var a *asker
	for {
		select {
		case <-stop:
			if a != nil {
				_ = a.conn.Close()
			}
			return
		case <-time.After(time.Duration(rng.IntN(20)) * time.Millisecond):
		}
		if a == nil {
			a, _ = h.newAsker(id % len(h.nodes)) // it may not run
			continue
		}
		round := int(time.Since(h.start) / itemsFor)
		op := itemOp{rng.IntN(len(setKinds)), verb(rng.IntN(3)), round*failureItems + rng.IntN(failureItems)}
		if setKinds[op.kind].verbs[op.verb] == "" || id < len(h.nodes) { // one at each server only asks: writes wait
			op.verb = verbAsk
		}
		if !h.run(id, a, op) {
			_ = a.conn.Close()
			a = nil
		}
	}
}

// run sends a command and notes what came of it. It reports whether the connection goes on.
func (h *history) run(id int, a *asker, op itemOp) bool {
	called := time.Since(h.start)
	text, err := a.do(h.words(op)...)
	returned := time.Since(h.start)
	reply := itemReply{known: err == nil}
	switch {
	case err != nil && op.verb == verbAsk:
		return false
	case err != nil:
		h.unknown.Add(1)
		returned = 24 * time.Hour // it may happen at any time
	case strings.HasPrefix(text, "-LOADING"):
		return false // the connection ends
	case strings.HasPrefix(text, "-CLUSTERDOWN"):
		h.down.Add(1) // nothing was done
		return true
	default:
		if _, err := fmt.Sscanf(strings.Trim(text, "[]"), ":%d", &reply.n); err != nil {
			h.t.Errorf("%q: %s", h.words(op), text)
			return false
		}
	}
	h.mu.Lock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: id, Input: op, Call: int64(called), Output: reply, Return: int64(returned)})
	h.mu.Unlock()
	return err == nil
}

// check asks about all items once more, compares the copies of all servers, and looks at
// what clients saw.
func (h *history) check() {
	h.t.Helper()
	h.whole()
	keys := h.byItem()
	askers := make([]*asker, len(h.nodes))
	for i := range h.nodes {
		a, err := h.newAsker(i)
		if err != nil {
			h.t.Fatal(err)
		}
		defer a.conn.Close()
		askers[i] = a
	}
	for key := range keys {
		if !h.run(failureClients, askers[key.item%len(askers)], itemOp{key.kind, verbAsk, key.item}) {
			h.t.Fatal("a server that should be there is not")
		}
	}
	h.compareCopies(askers)
	unknown := 0
	for key, ops := range h.byItem() {
		sort.Slice(ops, func(i, j int) bool { return ops[i].Call < ops[j].Call })
		for _, op := range ops {
			if !op.Output.(itemReply).known {
				unknown++
			}
		}
		if got := porcupine.CheckOperationsTimeout(itemModel, ops, time.Minute); got != porcupine.Ok {
			h.t.Errorf("%q: %s:\n%s", h.words(itemOp{key.kind, verbAsk, key.item}), got, describe(ops))
		}
	}
	h.t.Logf("%d commands about %d items, %d with an unknown outcome, %d refused", len(h.ops), len(keys), unknown, h.down.Load())
	if effort.Long() && len(h.ops) < 500 {
		h.t.Error("too little happened")
	}
}

// compareCopies waits until all servers have the same copies of what was asked last.
func (h *history) compareCopies(askers []*asker) {
	h.t.Helper()
	for i, a := range askers {
		if reply, err := a.do("READONLY"); err != nil || reply != "+OK" {
			h.t.Fatal(reply, err)
		}
		for key, ops := range h.byItem() {
			want := ops[len(ops)-1].Output.(itemReply).n
			h.until("all copies are the same", func() error {
				got, err := a.do(h.words(itemOp{key.kind, verbAsk, key.item})...)
				if err != nil || strings.Trim(got, "[]") != fmt.Sprint(":", want) {
					return fmt.Errorf("%s: %q is %s, not %d: %w", h.nodes[i].name, h.words(itemOp{key.kind, verbAsk, key.item}), got, want, errNotYet)
				}
				return nil
			})
		}
	}
}

// An itemKey is an item of sets of a kind.
type itemKey struct{ kind, item int }

func (h *history) byItem() map[itemKey][]porcupine.Operation {
	h.mu.Lock()
	defer h.mu.Unlock()
	keys := make(map[itemKey][]porcupine.Operation)
	for _, op := range h.ops {
		in := op.Input.(itemOp)
		key := itemKey{in.kind, in.item}
		keys[key] = append(keys[key], op)
	}
	return keys
}

func describe(ops []porcupine.Operation) string {
	var b strings.Builder
	for _, op := range ops {
		in, out := op.Input.(itemOp), op.Output.(itemReply)
		fmt.Fprintf(&b, "%9.3f to %9.3f client %d: %s %+v\n", time.Duration(op.Call).Seconds(), time.Duration(op.Return).Seconds(), op.ClientId, setKinds[in.kind].verbs[in.verb], out)
	}
	return b.String()
}

// TestFailures has servers fail in a random order while clients of all of them change and ask
// about items: every item is linearizable, so nothing is lost, doubled or read too late. In the short
// form the servers run in the process of the test, and cannot be stopped. In the long form they are
// processes, with networks of their own where the test may make them.
func TestFailures(t *testing.T) {
	seed := *failuresSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-failures-seed %d", seed)
	c := newTrial(t, 4, "image-after", "100kB")
	f := failures{trial: c, rng: rand.New(rand.NewPCG(seed, failureClients)), kinds: failuresOfProcesses, pace: time.Second}
	if !effort.Long() {
		c.inside, c.partitions, c.lease = true, 3, 2*time.Second
		f.kinds, f.pace = failuresAnywhere, time.Second/2
	} else if *failuresNet {
		c.useSpaces()
	}
	c.start(0, 1, 2)
	c.led(0, 1, 2)
	h := newHistory(c)
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for i := range failureClients {
		clients.Go(func() { h.client(i, rand.New(rand.NewPCG(seed, uint64(i))), stop) })
	}
	for begun := time.Now(); time.Since(begun) < *failuresTime; {
		f.next()
	}
	close(stop)
	clients.Wait()
	h.check()
}
