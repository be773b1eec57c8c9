// Package control is how a running gate is asked and told things: HTTP over a Unix socket,
// so that curl --unix-socket does as well as the verbs of everbloom gate.
//
//	GET  /status             a Status
//	GET  /bans               all bans: [{"user": "192.0.2.1/32", "since": …, "until": …, "times": 1, "reason": "x"}, …]
//	GET  /bans?newest=N      the last N of them
//	GET  /query?addr=A       {"src": A, "standing": "good" | "bad" | "none", "both": false, "ban": …}
//	POST /ban?addr=A         bans; for=10m or for=ever, else as long as is usual; reason=TEXT
//	POST /unban?addr=A       ends a ban, or makes an exception from the black list
//	POST /reload             reads the lists again
//	GET  /events             a stream of events, a JSON object to a line, until the caller goes
//	GET  /metrics            for Prometheus
//
// An error is {"error": "…"} with a status of 400 or above. Events are described in
// internal/gate/event.
package control
