package cluster

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/everbloom-go/everbloom/internal/lab"
)

var scale = lab.Experiment{
	ID:       "cluster/scale",
	Title:    "Clusters that one machine cannot run",
	Question: "How many operations per second do 3 to 300 nodes answer, how much memory do 10^9 to 10^12 keys take at each of them, and where does it stop scaling?",
	Says:     "docs/cluster.md: all nodes follow all logs and have all sets in memory; with copies 1 a node holds only what it leads.",
	Params: lab.Params{
		lab.Ints("nodes", 3, 5, 10, 16, 30, 60, 100, 200, 300), lab.Floats("keys", 1e9, 1e10, 1e11, 1e12), lab.Int("adds on their way, per node", 10_000),
		lab.Float("cores", 16), lab.Float("commit, ms", 2), lab.Float("syncs per second", 10_000), lab.Float("disk, MB/s", 500), lab.Float("network, Gbit/s", 10),
		lab.Float("memory, GiB", 64), lab.Float("share that is used", 0.7),
		lab.Int("rounds", 0).Full(3), lab.Float("seconds of a turn", 0).Full(3),
	},
	Run: runScale,
	Plots: []lab.View{
		{
			Name: "adds", Title: "Adds per second of a cluster", X: nodesDim, By: clusterDim, XAxis: lab.Axis{Label: "nodes", Log: true},
			Only: []any{one16, all1024, one1024, logs1024}, Y: lab.Axis{Label: "adds/s", Log: true}, Curves: []lab.Curve{{Formula: addsName}},
			Notes: []string{"P: partitions. Logs apart: copies 1, and logs on five servers of NATS, which do nothing else. Copies all with P = 16 is in the table."},
		},
		{
			Name: "queries", Title: "Queries per second of a cluster", X: nodesDim, By: clusterDim, XAxis: lab.Axis{Label: "nodes", Log: true},
			Only: []any{one16, one1024}, Y: lab.Axis{Label: "queries/s", Log: true}, Curves: []lab.Curve{{Formula: queriesName}},
			Notes: []string{"P: partitions. With copies all it is about the same: only the leader answers."},
		},
		{
			Name: "memory", Title: "Memory of the keys at the fullest node, copies 1, 1024 partitions", X: nodesDim, By: keysDim, At: []any{clusterDim, one1024},
			XAxis: lab.Axis{Label: "nodes", Log: true}, Y: lab.Axis{Label: "GiB", Log: true},
			Curves: []lab.Curve{{Formula: memoryName}, {Name: "memory of a node", Formula: hasName, Style: lab.Dashed, Once: true}},
		},
	},
	Claims: []lab.Claim{
		compared("one node, queries"), compared("one node, adds"),
		compared("three nodes, copies all, queries"), compared("three nodes, copies all, adds"),
		compared("three nodes, copies 1, queries"), compared("three nodes, copies 1, adds"),
		{Name: "16 partitions, adds of 300 nodes to those of 30", Printed: "slightly more at most", Where: page, Of: gain(one16), Is: lab.AtMost(lab.Number(lab.Slightly))},
		{Name: "1024 partitions, adds of 300 nodes to those of 30", Printed: "much more", Where: page, Of: gain(one1024), Is: lab.AtLeast(lab.Number(lab.Much))},
		{Name: "300 nodes, 1024 partitions, adds with copies 1 to those with copies all", Printed: "much more", Where: page, Of: lab.Of(addsName, clusterDim, one1024, nodesDim, largest).Over(lab.Of(addsName, clusterDim, all1024)), Is: lab.AtLeast(lab.Number(lab.Much))},
		answered(stopsName, lab.Of(stopsName)), answered(nodesName, lab.Of(nodesName)),
		answered("adds of 3 nodes with 1024 partitions to those with 16", lab.Of(addsName, clusterDim, one1024, nodesDim, smallest).Over(lab.Of(addsName, clusterDim, one16))),
	},
}

const (
	page                               = "docs/cluster.md"
	nodesDim, clusterDim, keysDim      = "nodes", "cluster", "keys"
	addsName, queriesName              = "adds per second", "queries per second"
	memoryName, hasName                = "memory of the keys of a node, GiB", "memory of a node, GiB"
	all16, one16                       = "copies all, P = 16", "copies 1, P = 16"
	all1024, one1024                   = "copies all, P = 1024", "copies 1, P = 1024"
	logs1024                           = "P = 1024, logs apart"
	trialDim, measuredName, modelName  = "load", "measured, operations/s", "model, operations/s"
	stopsName, nodesName               = "nodes from which twice as many give less than 1.5 times the adds", "nodes that hold 10^12 keys"
	smallest, largest, gib, mega, bit9 = 3, 300, 1 << 30, 1e6, 1e9 / 8
)

// compared is a claim that the model is right about a load that was run.
func compared(name string) lab.Claim {
	return lab.Claim{
		Name: name + ": model to measurement", Printed: "within a factor of 1.5", Of: lab.Of(modelName, trialDim, name).Over(lab.Of(measuredName)),
		Is: lab.Inside("0.667", "1.500"), Show: []lab.Pick{lab.Of(measuredName, trialDim, name)},
	}
}

func gain(cluster string) lab.Pick {
	return lab.Of(addsName, clusterDim, cluster, nodesDim, largest).Over(lab.Of(addsName, clusterDim, cluster, nodesDim, 30))
}

func answered(question string, by lab.Pick) lab.Claim {
	return lab.Claim{Kind: lab.Question, Name: question, Printed: "not known", Of: by, Is: lab.Shows()}
}

// clusters are the plans that are compared.
var clusters = []struct {
	name string
	plan plan
}{
	{all16, plan{partitions: 16, all: true}},
	{one16, plan{partitions: 16}},
	{all1024, plan{partitions: 1024, all: true}},
	{one1024, plan{partitions: 1024}},
	{logs1024, plan{partitions: 1024, logs: 5}},
}

func runScale(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	c, how, err := measured(ctx, e)
	if err != nil {
		return nil, err
	}
	s := sizing{c, e}
	r, err := lab.Find(ctx, e, c.table(), c.trials(), s.rates(), s.memories(), s.answers(), lab.Notes{how, modelNote, limitNote})
	if err == nil {
		r.Tables = append(r.Tables, s.cells())
		r.Notes = append(r.Notes, s.reasons()...)
	}
	return r, err
}

const (
	modelNote = "The model: clients wait for their answers, so the adds on their way are a fixed number. Each partition has one record on its way, and what comes meanwhile is the next one: half of the adds are in a record, half wait. " +
		"A round of one record for each partition takes the time of a commit and of its adds one after the other, since one goroutine writes a partition, or what the busiest resource of the busiest node needs for all of these records, if that is longer; then batches stay and their rate falls. " +
		"Queries wait for the processor and the network only. What a node has is a parameter, of which a share is used; the costs are those of the table. A node with a log's copy that does not follow takes what a follower with a copy takes less one without."
	limitNote = "Not in the model: the group of all members that keeps the list of streams, which is not made for hundreds: beyond five nodes the logs are to be on servers of their own; what sending to one more follower takes the sender's processor; elections, images, and keys that make one partition busier than others."
)

// measured returns the costs that a full run measures, or the stored ones.
func measured(ctx context.Context, e *lab.Env) (costs, string, error) {
	if e.Int("rounds") == 0 {
		return stored, "The costs and the loads are those of a full run before this one.", ctx.Err()
	}
	rounds := make([]costs, e.Int("rounds"))
	for i := range rounds {
		b := &bench{lasts: time.Duration(e.Float("seconds of a turn") * float64(time.Second)), seed: e.Seed + uint64(i)<<48, found: costs{}}
		if err := b.run(ctx); err != nil {
			return nil, "", err
		}
		rounds[i] = b.found
	}
	how := fmt.Sprintf("Medians of %d rounds on servers of this program: one alone, five with one partition, which tells the roles of nodes apart, and three with 16 partitions. "+
		"All of them and the client share the processors with whatever else ran; cores are those that were left.", len(rounds))
	return middle(rounds), how, ctx.Err()
}

func (c costs) table() lab.Part {
	return lab.Computed("costs", "What single operations take, measured", []lab.Dim{lab.Among("what", costNames...)},
		lab.Formula{Name: "cost", Of: func(at lab.At) float64 { return c[at.Name("what")] }})
}

// trials shows what the model says about loads that were run.
func (c costs) trials() lab.Part {
	var names []string
	rates := map[string]float64{}
	for _, t := range trials {
		for _, one := range []string{query, add} {
			if t.name == "" {
				continue
			}
			name := t.name + words[one]
			names = append(names, name)
			m := machine{c[name+coresLeft] / float64(t.plan.nodes), math.Inf(1), math.Inf(1), math.Inf(1), c[wait]}
			if t.plan.nodes == 1 {
				m.wait = c[waitAlone]
			}
			rates[name] = c.solve(t.plan, m, one).rate
		}
	}
	return lab.Computed("trials", "Loads that were run, and what the model says about them", []lab.Dim{lab.Among(trialDim, names...)},
		lab.Formula{Name: "cores left", Of: func(at lab.At) float64 { return c[at.Name(trialDim)+coresLeft] }},
		lab.Formula{Name: measuredName, Of: func(at lab.At) float64 { return math.Round(c[at.Name(trialDim)+measuredRate]) }},
		lab.Formula{Name: modelName, Of: func(at lab.At) float64 { return math.Round(rates[at.Name(trialDim)]) }})
}

// sizing computes clusters from costs.
type sizing struct {
	costs costs
	env   *lab.Env
}

func (s sizing) clusters() lab.Dim {
	return lab.Among(clusterDim, all16, one16, all1024, one1024, logs1024)
}
func (s sizing) nodes() lab.Dim { return lab.Along(nodesDim, s.env.Ints("nodes")...) }

// solve returns what the model says about a cluster.
func (s sizing) solve(cluster, nodes int, one string) outcome {
	p, e, used := clusters[cluster].plan, s.env, s.env.Float("share that is used")
	p.nodes, p.pipeline, p.writers = nodes, 1, float64(nodes*e.Int("adds on their way, per node"))
	m := machine{e.Float("cores") * used, e.Float("syncs per second") * used, e.Float("disk, MB/s") * mega * used, e.Float("network, Gbit/s") * bit9 * used, e.Float("commit, ms") * 1e3}
	return s.costs.solve(p, m, one)
}

func (s sizing) memory(cluster, nodes int, keys float64) float64 {
	p := clusters[cluster].plan
	p.nodes = nodes
	return s.costs.memory(p, keys) / gib
}

func (s sizing) rates() lab.Part {
	of := func(name, one string) lab.Formula {
		return lab.Formula{Name: name, Of: func(at lab.At) float64 { return s.solve(at.Int(clusterDim), at.Int(nodesDim), one).rate }}
	}
	return lab.Computed("", "", []lab.Dim{s.clusters(), s.nodes()}, of(addsName, add), of(queriesName, query))
}

func (s sizing) memories() lab.Part {
	keys := lab.AmongAll(keysDim, s.env.Floats("keys"), func(n float64) string { return fmt.Sprintf("10^%.0f keys", math.Log10(n)) })
	of := func(at lab.At) float64 {
		return s.memory(at.Int(clusterDim), at.Int(nodesDim), s.env.Floats("keys")[at.Int(keysDim)])
	}
	return lab.Computed("", "", []lab.Dim{s.clusters(), keys, s.nodes()}, lab.Formula{Name: memoryName, Of: of}, lab.Fixed(hasName, lab.Plain, s.env.Float("memory, GiB")))
}

// cells is one table of all that is computed, with what ends the growth in each cell.
func (s sizing) cells() lab.Table {
	t := lab.Table{Name: "clusters", Title: "Clusters, computed", Columns: []string{clusterDim, nodesDim, "adds/s", "an add waits, ms", "limit of adds", "queries/s", "limit of queries"}}
	for _, keys := range s.env.Floats("keys") {
		t.Columns = append(t.Columns, fmt.Sprintf("10^%.0f keys, GiB", math.Log10(keys)))
	}
	for i, c := range clusters {
		for _, n := range s.env.Ints("nodes") {
			adds, queries := s.solve(i, n, add), s.solve(i, n, query)
			row := []string{c.name, strconv.Itoa(n), short(adds.rate), short(adds.waits / 1e3), adds.limit, short(queries.rate), queries.limit}
			for _, keys := range s.env.Floats("keys") {
				text := short(s.memory(i, n, keys))
				if s.memory(i, n, keys) > s.env.Float("memory, GiB") {
					text += " too much"
				}
				row = append(row, text)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// short writes three digits.
func short(v float64) string {
	if v >= mega {
		return fmt.Sprintf("%.3g M", v/mega)
	}
	return strconv.FormatFloat(v, 'f', max(0, 2-int(math.Floor(math.Log10(v)))), 64)
}

// first returns the smallest cluster for which something is so, one node more than the
// largest if it is so for none.
func first(is func(nodes int) bool) int {
	for n := smallest; n <= largest; n++ {
		if is(n) {
			return n
		}
	}
	return largest + 1
}

// stops returns the smallest cluster that twice as many nodes make less than half faster.
func (s sizing) stops(cluster int) int {
	return first(func(n int) bool { return s.solve(cluster, 2*n, add).rate < 1.5*s.solve(cluster, n, add).rate })
}

// answers are numbers about each cluster.
func (s sizing) answers() lab.Part {
	of := func(name string, value func(cluster int) int) lab.Formula {
		return lab.Formula{Name: name, Of: func(at lab.At) float64 { return float64(value(at.Int(clusterDim))) }}
	}
	return lab.Computed("answers", "Where it stops; 301 means at no size up to 300 nodes", []lab.Dim{s.clusters()}, of(stopsName, s.stops),
		of(nodesName, func(c int) int {
			return first(func(n int) bool { return s.memory(c, n, 1e12) <= s.env.Float("memory, GiB") })
		}))
}

// reasons says in sentences where each cluster stops, and why.
func (s sizing) reasons() (out []string) {
	for i, c := range clusters {
		n, end := s.stops(i), s.solve(i, largest, add)
		if n > largest {
			out = append(out, fmt.Sprintf("%s: adds grow with the nodes up to %d, %s/s; the next limit is the %s.", c.name, largest, short(end.rate), end.limit))
			continue
		}
		now, twice, why := s.solve(i, n, add), s.solve(i, 2*n, add), "nodes beyond the partitions lead nothing"
		switch {
		case twice.limit == writer:
			why = "one goroutine writes a partition, and there are no more of them"
		case c.plan.all:
			why = "every node takes every add"
		case c.plan.logs > 0:
			why = "the servers of logs take every add"
		}
		out = append(out, fmt.Sprintf("%s: from %d nodes on, %s adds/s, twice as many give less than 1.5 times that (limit: %s): %s. 300 nodes: %s adds/s (%s).",
			c.name, n, short(now.rate), twice.limit, why, short(end.rate), end.limit))
	}
	return out
}
