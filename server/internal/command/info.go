package command

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"github.com/everbloom-go/everbloom/internal/mem"
)

func info(c *Call) {
	asked := c.args[1:]
	all := len(asked) == 0 || slices.ContainsFunc(asked, func(name []byte) bool { return word(name, "all", "everything", "default") })
	var b strings.Builder
	for _, s := range c.sections() {
		if all || slices.ContainsFunc(asked, func(name []byte) bool { return word(name, s.name) }) {
			fmt.Fprintf(&b, "# %s\r\n", s.name)
			for i := 0; i+1 < len(s.pairs); i += 2 {
				fmt.Fprintf(&b, "%v:%v\r\n", s.pairs[i], s.pairs[i+1])
			}
			b.WriteString("\r\n")
		}
	}
	c.w.Verbatim(strings.TrimSuffix(b.String(), "\r\n"))
}

// A section is a part of INFO.
type section struct {
	name  string
	pairs []any
}

// sections returns what INFO tells.
func (c *Call) sections() []section {
	e := c.env
	resident, heap := memory()
	images := e.Images()
	total := e.totals()
	stats := total.Stats
	if e.Cluster == nil || c.user.Prefix != "" { // in a cluster, those of a prefix are not counted
		total.Keys, total.Expiring = c.countNames()
	}
	keyspace := section{name: "Keyspace"}
	if total.Keys > 0 {
		keyspace.pairs = []any{"db0", fmt.Sprintf("keys=%d,expires=%d,avg_ttl=0", total.Keys, total.Expiring)}
	}
	return []section{
		{"Server", []any{
			"redis_version", redisVersion, "redis_mode", e.mode(), "everbloom_version", e.Version, "os", runtime.GOOS + " " + runtime.GOARCH,
			"process_id", os.Getpid(), "run_id", e.RunID, "tcp_port", e.Port, "uptime_in_seconds", int(time.Since(e.Started).Seconds()),
			"uptime_in_days", int(time.Since(e.Started).Hours() / 24),
		}},
		{"Clients", []any{"connected_clients", len(e.Clients.Sessions()), "maxclients", e.Settings.Number("maxclients"), "blocked_clients", 0}},
		{"Memory", []any{
			"used_memory", e.bytes(), "used_memory_rss", resident, "used_memory_heap", heap, "maxmemory", e.MaxMemory(), "maxmemory_policy", "noeviction",
		}},
		{"Persistence", []any{
			"loading", 0, "rdb_bgsave_in_progress", number(images.Running), "rdb_last_save_time", images.Last.Unix(), "rdb_last_bgsave_status", status(!images.Failed),
			"aof_enabled", 1, "aof_rewrite_in_progress", 0, "aof_last_write_status", status(total.Broken == nil),
			"log_records", stats.Records, "log_bytes", stats.Bytes, "log_effects", stats.Effects, "log_wait_microseconds", stats.Waited.Microseconds(),
		}},
		{"Stats", []any{
			"total_connections_received", e.Stats.Connections.Load(), "rejected_connections", e.Stats.Rejected.Load(),
			"total_commands_processed", e.Stats.Commands.Load(), "instantaneous_ops_per_sec", e.Stats.rate(),
		}},
		{"Replication", []any{"role", "master", "connected_slaves", 0}},
		{"Cluster", []any{"cluster_enabled", number(e.Cluster != nil)}},
		keyspace,
	}
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func status(ok bool) string {
	if ok {
		return "ok"
	}
	return "err"
}

// memory returns the memory that the process has, and that of its heap. Nothing waits for it.
func memory() (resident, heap uint64) {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	resident, ok := mem.Resident()
	if !ok { // what may be: pages that nothing was written to are among it
		resident = s[0].Value.Uint64() - s[1].Value.Uint64()
	}
	return resident, s[2].Value.Uint64()
}

// rate returns commands per second since the last call that is a second or more ago.
func (s *Stats) rate() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if took := time.Since(s.sampled); took >= time.Second {
		n := s.Commands.Load()
		s.perSecond = int64(float64(n-s.before) / took.Seconds())
		s.before, s.sampled = n, time.Now()
	}
	return s.perSecond
}
