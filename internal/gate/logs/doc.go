// Package logs reads what servers write about their clients, as the packets of a gate: the
// source is the client, the payload the text of the line, the time that of the line.
//
// A [Parser] knows one sort of log:
//
//   - sshd: OpenSSH by syslog or journald
//   - access: the access log of nginx and Apache
//   - eve: Suricata's eve.json, of which alerts are read
//   - zeek: logs of Zeek, in columns or as JSON
//   - [NewRegexp]: any other
//
// What a client writes into a line, such as the name of a user or a path, never decides
// which address the line is about.
//
// A [Follower] reads files that grow, also over rotation.
package logs
