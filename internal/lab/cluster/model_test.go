package cluster

import (
	"context"
	"maps"
	"math"
	"testing"
)

// Costs with few digits, and a machine on which every limit can be met. The records of
// 100 writers at one partition have 50 adds.
var (
	simple = costs{query: 1, add: 2, write: 0.2, forward: 3, apply: 0.5, client: 4, alone: 100, lead: 300, replay: 200, follow: 50, idle: 1000, netRecord: 100, netAdd: 10, diskRecord: 1000, diskAdd: 20, bits: 16}
	inf    = math.Inf(1)
)

func TestARoundTakesWhatItsBusiestResourceTakes(t *testing.T) {
	three := plan{nodes: 3, partitions: 3, writers: 300, pipeline: 1}
	all, logs, spare, small := three, three, three, three
	all.all = true
	logs.nodes, logs.logs = 30, 5
	spare.nodes = 6
	small.writers, small.pipeline = 20, 10
	large := three
	large.writers = 1e6
	for _, c := range []struct {
		name    string
		plan    plan
		machine machine
		one     string
		want    outcome
	}{
		// 150 adds in three records, each 1 ms and 50 times 0.2 µs; the others wait for the next.
		{"a commit", three, machine{inf, inf, inf, inf, 990}, add, outcome{150 / 1e-3, 2000, latency}},
		{"a writer", three, machine{inf, inf, inf, inf, 5}, add, outcome{150 / 15e-6, 30, writer}},
		// A node leads one of three records, 300, and keeps two more, 150 each. It gets 50 adds
		// and leads 50: 2 each, and 3 for two of three that it forwards.
		{"the leaders' processor", three, machine{1, inf, inf, inf, 1}, add, outcome{150 / 800e-6, 1600, processor}},
		// It follows two of three: 200 each instead of 150, and 100 adds that it applies.
		{"the followers' processor", all, machine{1, inf, inf, inf, 1}, add, outcome{150 / 950e-6, 1900, processor}},
		// All three records are synced at each of three nodes: 3 at 1000 per second.
		{"syncs", three, machine{inf, 1000, inf, inf, 1}, add, outcome{150 / 3e-3, 6000, diskSyncs}},
		// 3000 bytes of records and 3000 of adds.
		{"disk", three, machine{inf, inf, 1e6, inf, 1}, add, outcome{150 / 6e-3, 12000, diskBytes}},
		// A record of 600 goes to the log and to two more copies; of 50 commands 33 are
		// forwarded, and as many come from others: 50 + 2/3*100, of 60 bytes.
		{"network", three, machine{inf, inf, inf, 1e6, 1}, add, outcome{150 / 8.8e-3, 17600, network}},
		// Two more followers get it.
		{"network of followers", all, machine{inf, inf, inf, 1e6, 1}, add, outcome{150 / 10e-3, 20000, network}},
		// One of five servers keeps two of the three logs, since 9/5 copies are not whole ones.
		{"syncs of servers of logs", logs, machine{inf, 1000, inf, inf, 1}, add, outcome{150 / 2e-3, 4000, diskSyncs}},
		// The busiest of six leads one record, 300, and keeps another. It leads 50 adds, and
		// forwards two of three of the 25 that it gets.
		{"nodes beyond the partitions", spare, machine{1, inf, inf, inf, 1}, add, outcome{150 / (300 + 150 + 100 + 50.) * 1e6, 1200, processor}},
		// A third of the commands is led, two of three of a third forwarded, and each node keeps
		// three partitions awake: 3000 µs per second.
		{"queries", three, machine{0.013, inf, inf, inf, 1000}, query, outcome{10_000, 30_000, processor}},
		// Two pipelines of ten are two records.
		{"few pipelines", small, machine{inf, inf, inf, inf, 998}, add, outcome{20 / 1e-3, 1000, latency}},
		// 512 KiB of 10 bytes each.
		{"the largest record", large, machine{inf, inf, inf, inf, 20_000}, add, outcome{157286.4 / 30485.76e-6, 1e6 / 157286.4 * 30485.76, recordSize}},
	} {
		got := simple.solve(c.plan, c.machine, c.one)
		if got.limit != c.want.limit || math.Abs(got.rate/c.want.rate-1) > 1e-9 || math.Abs(got.waits/c.want.waits-1) > 1e-9 {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// On a machine that all share, its cores do the work of all nodes and of the clients.
func TestNodesOfOneMachineShareItsCores(t *testing.T) {
	one := plan{nodes: 1, partitions: 1, writers: 100, pipeline: 1, shared: true}
	if got, want := simple.solve(one, machine{2, inf, inf, inf, 1}, add).rate, 50/((100+50*6)/2e6); math.Abs(got/want-1) > 1e-9 {
		t.Errorf("one node: %g, want %g", got, want)
	}
	three := plan{nodes: 3, partitions: 16, all: true, writers: 1600, pipeline: 1, shared: true}
	work := 16 * (300 + 2*200 + 50*(2+2*0.5+2+4.))
	if got, want := simple.solve(three, machine{2. / 3, inf, inf, inf, 1}, add).rate, 800/(work/2e6); math.Abs(got/want-1) > 1e-9 {
		t.Errorf("three nodes: %g, want %g", got, want)
	}
}

func TestMemoryIsSpreadByWholePartitions(t *testing.T) {
	for want, p := range map[float64]plan{1600: {nodes: 3, partitions: 16, all: true}, 600: {nodes: 3, partitions: 16}, 100: {nodes: 30, partitions: 16}} {
		if got := simple.memory(p, 800); got != want {
			t.Errorf("%+v: %g, want %g", p, got, want)
		}
	}
}

// Two turns of 1000 adds, in 100 records and in 10.
func TestAddsAndRecordsAreToldApart(t *testing.T) {
	of := func(count float64) turn {
		return turn{nodes: []map[string]float64{{records: count, effects: 1000}, {cpu: 1000*2 + count*30}, {cpu: 1000*4 + count*50}}}
	}
	perAdd, perRecord := pair{of(100), of(10)}.cost(cpu, 1, 2)
	if math.Abs(perAdd-3) > 1e-9 || math.Abs(perRecord-40) > 1e-9 {
		t.Errorf("%g of an add, %g of a record", perAdd, perRecord)
	}
}

func TestMiddleTakesEveryMedian(t *testing.T) {
	got := middle([]costs{{query: 9, add: 1}, {query: 1, add: 2}, {query: 2, add: 3}})
	if want := (costs{query: 2, add: 2}); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMetricsOfNodesAndOfTheSystem(t *testing.T) {
	m := readMetrics("# HELP x y\neverbloom_partition_lease_seconds{partition=\"0\"} 3.5\neverbloom_partition_lease_seconds{partition=\"1\"} 0\n" + cpu + " 1.25\nrchar: 77\n")
	if m[led] != 1 || m[cpu] != 1.25 || m[received] != 77 {
		t.Errorf("%v", m)
	}
	if got := readBusy("cpu  100 200 300 9999 9999 1 2 3 500 600\ncpu0 1\n"); math.Abs(got-6.06) > 1e-9 {
		t.Errorf("busy for %g s", got)
	}
}

// A server that does not start is no reason to wait for it.
func TestStartEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := start(ctx, plan{nodes: 1, partitions: 1}); err == nil {
		t.Error("it started")
	}
}
