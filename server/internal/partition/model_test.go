package partition

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

var (
	modelTime = flag.Duration("model-time", 4*time.Second, "how long nodes are cut off and ended in TestModel")
	modelSeed = flag.Uint64("model-seed", 0, "what TestModel does is chosen by; 0 means at random")
)

const (
	modelNodes   = 3
	modelClients = 8
	modelKeys    = 3                      // at a time
	keysFor      = 250 * time.Millisecond // then others are used, so that histories stay short
)

// A modelOp is a command about the copies of a key.
type modelOp struct {
	kind opKind
	key  int
}

type opKind uint8

const (
	opAdd opKind = iota
	opRemove
	opCount // by a unit
	opRead  // beside the goroutine of the partition
	opKinds
)

// A modelReply is the reply: the outcome, or how many copies there are.
type modelReply struct {
	known bool
	n     uint64
}

// copiesModel says what each command does to the number of copies of a key.
var copiesModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		byKey := make(map[int][]porcupine.Operation)
		for _, op := range history {
			key := op.Input.(modelOp).key
			byKey[key] = append(byKey[key], op)
		}
		for _, part := range byKey {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return uint64(0) },
	Step: func(state, input, output any) (bool, any) {
		n, reply := state.(uint64), output.(modelReply)
		switch input.(modelOp).kind {
		case opAdd:
			return true, n + 1
		case opRemove:
			done := min(n, 1)
			return !reply.known || reply.n == done, n - done
		}
		return !reply.known || reply.n == n, n
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%v %v", input, output) },
}

// TestModel cuts nodes off, stops, ends and restarts them, loses answers and hands over,
// while clients count copies of keys: every key is linearizable, so nothing is lost, doubled
// or read too late.
func TestModel(t *testing.T) {
	seed := *modelSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-model-seed %d", seed)
	c := &modelCluster{t: t, m: new(log.Memory), start: time.Now()}
	for i := range modelNodes {
		c.nodes = append(c.nodes, c.open(i))
	}
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for i := range modelClients {
		clients.Go(func() { c.client(i, rand.New(rand.NewPCG(seed, uint64(i))), stop) })
	}
	rng := rand.New(rand.NewPCG(seed, modelClients))
	for time.Since(c.start) < *modelTime || c.leaders() < 3 && time.Since(c.start) < patience {
		c.trouble(rng)
	}
	close(stop)
	clients.Wait()
	c.check()
}

// A modelCluster is nodes over one log, and the history of their clients.
type modelCluster struct {
	t     *testing.T
	m     *log.Memory
	start time.Time

	mu      sync.Mutex
	nodes   []*testNode
	history []porcupine.Operation
}

// open starts a node, with a network that is slow and loses answers.
func (c *modelCluster) open(i int) *testNode {
	n := openNode(c.t, c.m, fmt.Sprintf("n%d", i), func(config *Config) { config.Clock = nil })
	n.log.Delay(func() time.Duration { return rand.N(time.Millisecond) })
	n.log.Fault(func() log.Fault {
		return []log.Fault{log.LostUnknown, log.StoredUnknown, log.None}[min(rand.IntN(20), 2)]
	})
	return n
}

func (c *modelCluster) node(i int) *testNode {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[i]
}

// leaders returns how many leaders the nodes know of.
func (c *modelCluster) leaders() (n uint32) {
	for _, node := range c.nodes {
		n = max(n, node.Leader().Epoch)
	}
	return n
}

// trouble makes trouble for a node, for some leases at most.
func (c *modelCluster) trouble(rng *rand.Rand) {
	i, long := rng.IntN(modelNodes), upTo(rng, 3*testLease)
	if rng.IntN(2) == 0 { // mostly the leader
		i = max(slices.IndexFunc(c.nodes, func(n *testNode) bool { return n.Leads() }), 0)
	}
	n := c.node(i)
	switch rng.IntN(5) {
	case 0:
		n.log.Cut()
		time.Sleep(long)
		n.log.Heal()
	case 1: // as a process that is stopped
		n.Do(func() { time.Sleep(long) })
	case 2:
		_ = n.HandOver(c.t.Context(), []string{"", fmt.Sprintf("n%d", rng.IntN(modelNodes))}[rng.IntN(2)])
	case 3, 4: // the end of a process, by kill or by itself
		if rng.IntN(2) == 0 {
			n.log.Cut()
		}
		n.Close()
		fresh := c.open(i)
		c.mu.Lock()
		c.nodes[i] = fresh
		c.mu.Unlock()
	}
	time.Sleep(upTo(rng, 3*testLease))
}

// upTo returns a time at random.
func upTo(rng *rand.Rand, d time.Duration) time.Duration { return time.Duration(rng.Int64N(int64(d))) }

// client sends commands until stop is closed.
func (c *modelCluster) client(id int, rng *rand.Rand, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		round := int(time.Since(c.start) / keysFor)
		c.run(id, modelOp{opKind(rng.IntN(int(opKinds))), round*modelKeys + rng.IntN(modelKeys)}, rng)
		time.Sleep(upTo(rng, 4*time.Millisecond))
	}
}

// run sends a command to the node that leads, and notes it.
func (c *modelCluster) run(id int, op modelOp, rng *rand.Rand) {
	called := time.Since(c.start)
	for i := rng.IntN(modelNodes); ; i++ {
		n, reply, err := c.node(i%modelNodes), modelReply{}, ErrNotLeading
		if op.kind == opRead {
			reply, err = n.read(op, rng)
		} else if n.Leads() || rng.IntN(10) == 0 {
			reply, err = n.change(op)
		}
		switch {
		case errors.Is(err, ErrNotLeading) || errors.Is(err, ErrClosed):
			time.Sleep(time.Millisecond)
			if time.Since(c.start)-called > patience {
				c.t.Error("no node leads")
				return
			}
			continue
		case err != nil && op.kind >= opCount:
			return
		}
		returned := time.Since(c.start)
		if err != nil {
			reply, returned = modelReply{}, time.Hour // it may happen at any time
		}
		c.mu.Lock()
		c.history = append(c.history, porcupine.Operation{ClientId: id, Input: op, Call: int64(called), Output: reply, Return: int64(returned)})
		c.mu.Unlock()
		return
	}
}

// modelSet returns the set of the model.
func modelSet(t *Tx) *store.Entry {
	if e := t.Find([]byte("model")); e != nil {
		return e
	}
	shape, err := t.Store().Shape(frame.Evergreen, 1000, 0.01)
	if err != nil {
		panic(err)
	}
	e, err := t.Create([]byte("model"), store.Spec{
		Type: store.Cuckoo, Kind: frame.Evergreen, Shape: shape, Capacity: 1000, FPR: 0.01, Expansion: 1, BucketSize: 2, Iterations: 20,
	})
	if err != nil {
		panic(err)
	}
	return e
}

// change runs a command as a unit.
func (n *testNode) change(op modelOp) (modelReply, error) {
	reply := modelReply{known: true}
	u := unitOf(func(t *Tx) {
		e, k := modelSet(t), filter.Key(op.key)
		switch op.kind {
		case opAdd:
			reply.n = uint64(t.AddCopy(e, k, Origin{}))
		case opRemove:
			reply.n = uint64(t.RemoveCopy(e, k, Origin{}))
		default:
			reply.n = t.Count(e, k, Origin{})
		}
	})
	n.Submit(u)
	err := <-u.done
	return reply, err
}

// read runs a command in the store, as connections do. It takes a while now and then.
func (n *testNode) read(op modelOp, rng *rand.Rand) (modelReply, error) {
	sleep := func() {
		if rng.IntN(10) == 0 {
			time.Sleep(upTo(rng, 2*testLease))
		}
	}
	epoch := n.Epoch()
	if epoch == 0 {
		return modelReply{}, ErrNotLeading
	}
	sleep()
	reply := modelReply{known: true, n: n.copies(op.key)}
	sleep()
	if n.Epoch() != epoch {
		return modelReply{}, ErrNotLeading
	}
	return reply, nil
}

// copies returns how often a key is in the store.
func (n *testNode) copies(key int) uint64 {
	e := n.store.Lookup([]byte("model"), 0)
	if e == nil {
		return 0
	}
	return e.Count(filter.Key(key))
}

// check reads all keys once more and looks at what the clients saw.
func (c *modelCluster) check() {
	c.t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	keys := (int(time.Since(c.start)/keysFor) + 1) * modelKeys
	for key := range keys {
		c.run(0, modelOp{opCount, key}, rng)
	}
	for _, n := range c.nodes {
		n.log.Cut() // nothing more is written
	}
	list := epochs(c.t, c.m)
	for _, n := range c.nodes {
		n.log.Heal()
		if len(n.ended) > 0 {
			c.t.Error("a node has ended:", <-n.ended)
		}
	}
	catchUp(c.t, c.m, c.nodes...)
	for key := range keys {
		if one, two, three := c.nodes[0].copies(key), c.nodes[1].copies(key), c.nodes[2].copies(key); one != two || one != three {
			c.t.Errorf("key %d is there %d, %d and %d times", key, one, two, three)
		}
	}
	unknown := 0
	for _, op := range c.history {
		if !op.Output.(modelReply).known {
			unknown++
		}
	}
	c.t.Logf("%d commands, %d with an unknown outcome, %d records, %d epochs", len(c.history), unknown, len(list), list[len(list)-1])
	if list[len(list)-1] < 3 || len(c.history) < 100 {
		c.t.Error("too little happened")
	}
	if got := porcupine.CheckOperationsTimeout(copiesModel, c.history, 2*patience); got != porcupine.Ok {
		c.t.Errorf("the history is not linearizable: %s", got)
	}
}
