package control

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

// metrics returns a status as Prometheus reads it.
func metrics(s Status) []byte {
	var b bytes.Buffer
	g := s.Gate
	metric := func(name, kind, help string) {
		fmt.Fprintf(&b, "# HELP everbloom_gate_%s %s\n# TYPE everbloom_gate_%s %s\n", name, help, name, kind)
	}
	single := func(name, kind, help string, value float64) {
		metric(name, kind, help)
		fmt.Fprintf(&b, "everbloom_gate_%s %g\n", name, value)
	}
	labelled := func(name, help, label string, values map[string]uint64) {
		metric(name, "counter", help)
		for _, key := range slices.Sorted(maps.Keys(values)) {
			fmt.Fprintf(&b, "everbloom_gate_%s{%s=%q} %d\n", name, label, key, values[key])
		}
	}
	labelled("packets_total", "Packets judged, by verdict.", "verdict",
		map[string]uint64{"pass": g.Passed, "drop": g.Dropped, "reject": g.Rejected, "ban": g.Bans})
	labelled("reasons_total", "Packets judged, by the reason of the verdict.", "reason", g.Reasons)
	single("strikes_total", "counter", "Patterns completed.", float64(g.Strikes))
	single("bans", "gauge", "Bans in force.", float64(s.Bans))
	single("tracked_users", "gauge", "Users in the tracked set.", float64(g.Tracked.Keys))
	single("states", "gauge", "Users and flows inside a pattern or with strikes.", float64(g.States))
	single("states_room", "gauge", "States that there is room for.", float64(g.Room))
	single("memory_bytes", "gauge", "Memory of sets and states.", float64(g.Bytes))
	single("memory_limit_bytes", "gauge", "Limit of that memory, 0 if there is none.", float64(g.Limit))
	labelled("lost_total", "What was given up for want of memory.", "what",
		map[string]uint64{"chains": g.Lost.Chains, "strikes": g.Lost.Strikes, "users": g.Lost.Users, "bans": g.Lost.Bans})
	single("failures_total", "counter", "Bans that could not be enforced or written.", float64(s.Failures))
	single("events_missed_total", "counter", "Events that a listener was too slow for.", float64(s.Missed))
	single("start_time_seconds", "gauge", "When the gate started.", float64(s.Started.Unix()))
	if len(s.Kernel) > 0 {
		labelled("kernel_total", "Packets in the kernel, by what became of them.", "what", s.Kernel)
	}
	return b.Bytes()
}
