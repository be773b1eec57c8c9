package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/everbloom-go/everbloom/internal/timing"
	"github.com/everbloom-go/everbloom/server/load"
)

// trials are clusters that one machine can run, to compare the model with, and what is
// measured before. The clusters of five and of one have one partition.
var trials = []struct {
	name   string
	plan   plan
	before func(*bench, context.Context, *servers) error
}{
	{"", plan{nodes: 5, partitions: 1, all: true}, (*bench).roles},
	{"one node", plan{nodes: 1, partitions: 1, writers: some * pipeline, pipeline: pipeline, shared: true}, (*bench).alone},
	{"three nodes, copies all", plan{nodes: 3, partitions: partitions, all: true, writers: spread * pipeline, pipeline: pipeline, shared: true}, (*bench).quiet},
	{"three nodes, copies 1", plan{nodes: 3, partitions: partitions, writers: spread * pipeline, pipeline: pipeline, shared: true}, (*bench).spread},
}

const (
	few, some, many = 1, 8, 128 // connections to one key
	spread          = 64        // keys, over all partitions, with a connection each
	pipeline        = 16        // commands that are sent together
	partitions      = 16
	reserved        = 20_000_000 // keys
)

// Commands, and what the names of trials with them end in.
var (
	commands = map[string]string{query: "BF.EXISTS", add: "BF.ADD"}
	words    = map[string]string{query: ", queries", add: ", adds"}
)

// Suffixes of the names of what was found of a trial.
const measuredRate, coresLeft = ": operations/s", ": cores left"

// bench measures one round.
type bench struct {
	lasts time.Duration // one turn
	seed  uint64
	found costs
	keys  []string // of the trials
}

// run measures everything once.
func (b *bench) run(ctx context.Context) error {
	for _, t := range trials {
		s, err := start(ctx, t.plan)
		if err != nil {
			return err
		}
		if err = t.before(b, ctx, s); err == nil && t.name != "" {
			err = b.try(ctx, s, t.name, int(t.plan.writers/t.plan.pipeline)/len(b.keys))
		}
		if err = errors.Join(err, s.end()); err != nil {
			return err
		}
	}
	return nil
}

// try runs loads that the model is compared with.
func (b *bench) try(ctx context.Context, s *servers, name string, connections int) error {
	for _, one := range []string{query, add} {
		t, err := b.drive(ctx, s, one, 0, connections, b.keys...)
		if err != nil {
			return err
		}
		others := (t.used[busy] - t.used[cpu] - t.sum(cpu)) / t.used[seconds]
		b.found[name+words[one]+measuredRate] = t.operations / t.used[seconds]
		b.found[name+words[one]+coresLeft] = float64(runtime.NumCPU()) - math.Max(0, others)
	}
	return nil
}

// A turn is what was seen while a load ran.
type turn struct {
	operations float64
	used       map[string]float64   // by this process
	nodes      []map[string]float64 // by each node
}

// sum adds up a metric of all nodes.
func (t turn) sum(name string) (sum float64) {
	for _, n := range t.nodes {
		sum += n[name]
	}
	return sum
}

// drive sends commands to keys for one turn, each at another node from the given one on,
// with so many connections each.
func (b *bench) drive(ctx context.Context, s *servers, one string, from, connections int, keys ...string) (t turn, err error) {
	before, err := s.look(ctx)
	if err != nil {
		return t, err
	}
	var (
		wg sync.WaitGroup
		mu sync.Mutex
	)
	for i, key := range keys {
		b.seed++
		addr, c := s.nodes[(from+i)%len(s.nodes)].addr, load.Config{Connections: connections, Pipeline: pipeline, Duration: b.lasts, Items: 1 << 40, Seed: b.seed}
		wg.Go(func() {
			r, bad := load.Run(ctx, c, load.Target{Name: addr, Addr: addr, Command: commands[one] + " " + key + " {item}"})
			mu.Lock()
			defer mu.Unlock()
			t.operations += float64(r.Operations)
			err = errors.Join(err, bad)
		})
	}
	wg.Wait()
	after, bad := s.look(ctx)
	if err = errors.Join(err, bad); err != nil {
		return t, err
	}
	for i, n := range after {
		for name := range n {
			n[name] -= before[i][name]
		}
	}
	t.nodes, t.used = after[:len(s.nodes)], after[len(s.nodes)]
	return t, nil
}

// pair is two turns of adds, with small batches and with large ones.
type pair [2]turn

func (b *bench) pair(ctx context.Context, s *servers, at int) (p pair, err error) {
	err = s.reserve(ctx, at, "k", reserved)
	for i, connections := range []int{few, many} {
		if err == nil {
			p[i], err = b.drive(ctx, s, add, at, connections, "k")
		}
	}
	return p, err
}

// cost tells apart what an add takes and what a record takes, of a metric of nodes, on
// average.
func (p pair) cost(name string, nodes ...int) (perAdd, perRecord float64) {
	var used, share [2]float64 // by an add, and records to adds
	for i, t := range p {
		adds := t.sum(effects)
		share[i] = t.sum(records) / adds
		for _, n := range nodes {
			used[i] += t.nodes[n][name] / adds / float64(len(nodes))
		}
	}
	perRecord = math.Max(0, (used[0]-used[1])/(share[0]-share[1]))
	return math.Max(0, used[1]-perRecord*share[1]), perRecord
}

// commit returns the µs of a record without others beside it.
func (p pair) commit() float64 { return p[0].sum(waited) / p[0].sum(records) * second }

// roles measures a partition at five nodes: its leader, others with a copy of its log, and
// others without.
func (b *bench) roles(ctx context.Context, s *servers) error {
	var leads, copies, without []int
	for i, n := range s.nodes {
		m, err := n.metrics(ctx)
		switch {
		case err != nil:
			return err
		case m[led] > 0:
			leads = append(leads, i)
		case n.hasLog():
			copies = append(copies, i)
		default:
			without = append(without, i)
		}
	}
	adds, err := b.pair(ctx, s, leads[0])
	if err != nil {
		return err
	}
	asked, err := b.drive(ctx, s, query, without[0], many, "k")
	c := b.found
	c[add], c[lead] = adds.cost(cpu, leads...)
	c[apply], c[replay] = adds.cost(cpu, copies...)
	_, c[follow] = adds.cost(cpu, without...)
	c[netAdd], c[netRecord] = adds.cost(received, without...)
	c[diskAdd], c[diskRecord] = adds.cost(written, copies...)
	c[wait], c[forward] = adds.commit(), asked.nodes[without[0]][cpu]/asked.operations
	for _, name := range []string{add, lead, apply, replay, follow, forward} {
		c[name] *= second
	}
	if len(copies) == copiesOfLog {
		c[lead] += c.keep() // the leader has none
	}
	return err
}

// alone measures a node without others, and what keys take in a set that grows.
func (b *bench) alone(ctx context.Context, s *servers) error {
	adds, err := b.pair(ctx, s, 0)
	if err != nil {
		return err
	}
	grown, err := b.drive(ctx, s, add, 0, many, "grown")
	if err != nil {
		return err
	}
	asked, err := b.drive(ctx, s, query, 0, many, "k")
	c := b.found
	_, perRecord := adds.cost(cpu, 0)
	c[alone], c[waitAlone] = perRecord*second, adds.commit()
	c[write] = (adds[1].used[seconds] - adds[1].sum(waited)) / adds[1].sum(effects) * second
	c[query], c[client] = asked.sum(cpu)/asked.operations*second, asked.used[cpu]/asked.operations*second
	c[bits] = grown.sum("everbloom_sets_bytes") * 8 / grown.sum(effects)
	b.keys = []string{"k"}
	return err
}

// spread makes filters over all partitions.
func (b *bench) spread(ctx context.Context, s *servers) error {
	b.keys = nil
	for i := range spread {
		b.keys = append(b.keys, fmt.Sprint("key:", i))
		if err := s.reserve(ctx, i, b.keys[i], reserved/spread); err != nil {
			return err
		}
	}
	return nil
}

// quiet measures partitions at which nothing happens.
func (b *bench) quiet(ctx context.Context, s *servers) error {
	share, err := load.Idle(ctx, load.Target{CPU: load.ProcessCPU(s.nodes[0].cmd.Process.Pid)}, b.lasts)
	b.found[idle] = share / partitions * second
	return errors.Join(err, b.spread(ctx, s))
}

// middle returns the medians of several rounds.
func middle(rounds []costs) costs {
	out := costs{}
	for name := range rounds[0] {
		var values []float64
		for _, r := range rounds {
			values = append(values, r[name])
		}
		out[name] = timing.Median(values)
	}
	return out
}
