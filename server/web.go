package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/everbloom-go/everbloom/server/console"
	"github.com/everbloom-go/everbloom/server/internal/partition"
)

// web is the HTTP side: the console, numbers for Prometheus, and whether the server works.
type web struct {
	listener net.Listener
	server   *http.Server
	pages    atomic.Pointer[http.ServeMux] // nil while the server loads
	ctx      context.Context               // ends with it
	stop     context.CancelFunc
}

// webTime is how long a request and its answer may take each. Nothing of it needs a login, so
// no client may stay for ever.
const webTime = time.Minute

// listenWeb answers requests at an address; off means that there is no HTTP.
func (s *Server) listenWeb(addr string) (*web, error) {
	if addr == "" || addr == "off" {
		return &web{}, nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("server: %w: choose another address with --http, or off", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	w := &web{listener: l, ctx: ctx, stop: stop}
	w.server = &http.Server{
		Handler: w, ReadTimeout: webTime, WriteTimeout: webTime, IdleTimeout: 2 * webTime, // the console has streams that go on
		BaseContext: func(net.Listener) context.Context { return ctx }, // streams end with it
	}
	s.wg.Go(func() { _ = w.server.Serve(l) }) // it ends when it is closed
	return w, nil
}

// ServeHTTP implements http.Handler.
func (w *web) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	pages := w.pages.Load()
	switch {
	case r.URL.Path == "/health":
		_, _ = fmt.Fprintln(out, "ok") // the client may be gone
	case pages == nil:
		http.Error(out, loading, http.StatusServiceUnavailable)
	default:
		pages.ServeHTTP(out, r)
	}
}

func (w *web) addr() net.Addr {
	if w.listener == nil {
		return nil
	}
	return w.listener.Addr()
}

// start shows the server, whose sets are in memory.
func (w *web) start(s *Server) {
	if w.listener == nil {
		return
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), newGauges(s))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) {
		if err := s.unready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, "ready") // the client may be gone
	})
	c := console.New(shown{s}, s.settings.Get("gate"))
	s.wg.Go(func() { c.Run(w.ctx) })
	mux.Handle("/console/", c)
	mux.Handle("GET /{$}", http.RedirectHandler("/console/", http.StatusSeeOther))
	w.pages.Store(mux)
}

// unready returns why the server cannot do its part, nil if it can.
func (s *Server) unready() error {
	if err := s.totals().Broken; err != nil {
		return fmt.Errorf("writes are refused: %w", err)
	}
	for i := range s.shards {
		if s.shards[i].Load() == nil && s.settings.Get("copies") == "all" {
			return fmt.Errorf("partition %d is being loaded", i)
		}
	}
	if s.node == nil {
		return nil
	}
	for h := range s.loaded() {
		if time.Since(h.partition.State().Heard) > leaderless {
			return fmt.Errorf("partition %d has no leader", h.number)
		}
	}
	return nil
}

// leaderless is how long a partition is silent until a node is not ready any more: longer than
// another node takes to lead it.
const leaderless = 15 * time.Second

func (w *web) close() {
	if w.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		w.stop()
		_ = w.server.Shutdown(ctx)
		_ = w.server.Close() // requests that still run, such as downloads
	}
	if w.listener != nil {
		_ = w.listener.Close() // it may be closed already
	}
}

// gauges are the numbers of a server, read when they are asked for.
type gauges struct {
	server   *Server
	commands *prometheus.Desc
	numbers  []gauge
	parts    []partGauge // of a cluster
}

// A partGauge is a number of each partition that a node holds.
type partGauge struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(partition.State) float64
}

type gauge struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func() float64
}

func newGauges(s *Server) *gauges {
	g := &gauges{server: s, commands: prometheus.NewDesc("everbloom_commands_total", "Commands processed.", []string{"command"}, nil)}
	add := func(name, help string, kind prometheus.ValueType, read func() float64) {
		g.numbers = append(g.numbers, gauge{prometheus.NewDesc("everbloom_"+name, help, nil, nil), kind, read})
	}
	add("sets", "Number of sets.", prometheus.GaugeValue, func() float64 { return float64(s.totals().Keys) })
	add("sets_bytes", "Memory of all sets in bytes.", prometheus.GaugeValue, func() float64 { return float64(s.bytes()) })
	add("maxmemory_bytes", "Memory limit of all sets in bytes.", prometheus.GaugeValue, func() float64 { return float64(s.maxMemory()) })
	add("connections", "Open connections.", prometheus.GaugeValue, func() float64 { return float64(len(s.Sessions())) })
	add("connections_total", "Connections accepted.", prometheus.CounterValue, func() float64 { return float64(s.host.Stats.Connections.Load()) })
	add("connections_rejected_total", "Connections refused.", prometheus.CounterValue, func() float64 { return float64(s.host.Stats.Rejected.Load()) })
	add("log_records_total", "Records appended to the log.", prometheus.CounterValue, func() float64 { return float64(s.totals().Stats.Records) })
	add("log_bytes_total", "Bytes appended to the log.", prometheus.CounterValue, func() float64 { return float64(s.totals().Stats.Bytes) })
	add("log_effects_total", "Changes of keys appended to the log.", prometheus.CounterValue, func() float64 { return float64(s.totals().Stats.Effects) })
	add("log_wait_seconds_total", "Time spent waiting for the log.", prometheus.CounterValue, func() float64 { return s.totals().Stats.Waited.Seconds() })
	add("writable", "1 if writes are accepted, 0 if they are refused.", prometheus.GaugeValue, func() float64 {
		if s.totals().Broken != nil {
			return 0
		}
		return 1
	})
	if s.node != nil {
		g.addPartitions()
	}
	return g
}

// addPartitions adds the numbers of a cluster.
func (g *gauges) addPartitions() {
	add := func(name, help string, kind prometheus.ValueType, read func(partition.State) float64) {
		g.parts = append(g.parts, partGauge{prometheus.NewDesc("everbloom_partition_"+name, help, []string{"partition"}, nil), kind, read})
	}
	add("lease_seconds", "How long this node may still lead the partition; 0 if it does not.", prometheus.GaugeValue,
		func(s partition.State) float64 { return s.Lease.Seconds() })
	add("epoch", "Epoch of the leader: it grows with each claim.", prometheus.GaugeValue, func(s partition.State) float64 { return float64(s.Leader.Epoch) })
	add("records_total", "Number of the last record that this node has applied.", prometheus.CounterValue,
		func(s partition.State) float64 { return float64(s.Applied) })
	add("silence_seconds", "Time since the last record came.", prometheus.GaugeValue,
		func(s partition.State) float64 { return time.Since(s.Heard).Seconds() })
	n := g.server.node
	g.numbers = append(g.numbers, gauge{
		prometheus.NewDesc("everbloom_nodes", "Nodes of the cluster that were heard lately.", nil, nil), prometheus.GaugeValue,
		func() float64 { return float64(len(n.alive()) + 1) },
	})
}

// Describe implements prometheus.Collector.
func (g *gauges) Describe(out chan<- *prometheus.Desc) {
	out <- g.commands
	for _, n := range g.numbers {
		out <- n.desc
	}
	for _, p := range g.parts {
		out <- p.desc
	}
}

// Collect implements prometheus.Collector.
func (g *gauges) Collect(out chan<- prometheus.Metric) {
	g.server.host.Stats.Each(func(name string, n int64) {
		out <- prometheus.MustNewConstMetric(g.commands, prometheus.CounterValue, float64(n), name)
	})
	for _, n := range g.numbers {
		out <- prometheus.MustNewConstMetric(n.desc, n.kind, n.read())
	}
	if len(g.parts) == 0 {
		return
	}
	for h := range g.server.loaded() {
		state := h.partition.State()
		for _, p := range g.parts {
			out <- prometheus.MustNewConstMetric(p.desc, p.kind, p.read(state), strconv.Itoa(h.number))
		}
	}
}
