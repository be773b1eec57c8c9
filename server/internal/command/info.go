package command

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

func info(c *Call) {
	var b strings.Builder
	for _, s := range c.env.sections() {
		if len(c.args) == 1 || word([]byte(s.name), texts(c.args[1:])...) || word([]byte("all"), texts(c.args[1:])...) || word([]byte("everything"), texts(c.args[1:])...) || word([]byte("default"), texts(c.args[1:])...) {
			fmt.Fprintf(&b, "# %s\r\n", s.name)
			for i := 0; i+1 < len(s.pairs); i += 2 {
				fmt.Fprintf(&b, "%v:%v\r\n", s.pairs[i], s.pairs[i+1])
			}
			b.WriteString("\r\n")
		}
	}
	c.w.Verbatim(strings.TrimSuffix(b.String(), "\r\n"))
}

func texts(args [][]byte) (out []string) {
	for _, a := range args {
		out = append(out, string(a))
	}
	return out
}

// A section is a part of INFO.
type section struct {
	name  string
	pairs []any
}

// sections returns what INFO tells.
func (e *Env) sections() []section {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	all, expiring := e.Store.Len()
	stats := e.Partition.Stats()
	broken := "ok"
	if err := e.Partition.Broken(); err != nil {
		broken = "err"
	}
	keyspace := section{name: "Keyspace"}
	if all > 0 {
		keyspace.pairs = []any{"db0", fmt.Sprintf("keys=%d,expires=%d,avg_ttl=0", all, expiring)}
	}
	return []section{
		{"Server", []any{
			"redis_version", redisVersion, "redis_mode", "standalone", "everbloom_version", e.Version, "os", runtime.GOOS + " " + runtime.GOARCH,
			"process_id", os.Getpid(), "run_id", e.RunID, "tcp_port", e.Port, "uptime_in_seconds", int(time.Since(e.Started).Seconds()),
			"uptime_in_days", int(time.Since(e.Started).Hours() / 24),
		}},
		{"Clients", []any{"connected_clients", len(e.Clients.Sessions()), "maxclients", e.Settings.Number("maxclients"), "blocked_clients", 0}},
		{"Memory", []any{
			"used_memory", e.Store.Bytes(), "used_memory_rss", m.Sys, "used_memory_heap", m.HeapAlloc, "maxmemory", e.MaxMemory(), "maxmemory_policy", "noeviction",
		}},
		{"Persistence", []any{
			"loading", 0, "rdb_bgsave_in_progress", 0, "rdb_last_save_time", e.LastSave().Unix(), "rdb_last_bgsave_status", "ok",
			"aof_enabled", 1, "aof_rewrite_in_progress", 0, "aof_last_write_status", broken,
			"log_records", stats.Records, "log_bytes", stats.Bytes, "log_effects", stats.Effects, "log_wait_microseconds", stats.Waited.Microseconds(),
		}},
		{"Stats", []any{
			"total_connections_received", e.Stats.Connections.Load(), "rejected_connections", e.Stats.Rejected.Load(),
			"total_commands_processed", e.Stats.Commands.Load(),
		}},
		{"Replication", []any{"role", "master", "connected_slaves", 0}},
		{"Cluster", []any{"cluster_enabled", 0}},
		keyspace,
	}
}
