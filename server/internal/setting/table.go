package setting

// Table returns all settings. It is shared: rows must not be changed.
func Table() []Setting { return table }

const maxUint32 = 1<<32 - 1

var table = []Setting{
	{Name: "dir", Value: "DIR", Default: "", Help: "data folder, created if it does not exist"},
	{Name: "addr", Value: "ADDRESS", Default: "127.0.0.1:6379", Help: "address of the Redis protocol"},
	{Name: "http", Value: "ADDRESS", Default: "127.0.0.1:6380", Help: "address of the console, /metrics, /health and /ready; off disables them"},
	{Name: "gate", Value: "PATH", Default: "", Help: "socket of a packet gate, which the console then shows, too"},
	{Name: "maxmemory", Kind: Bytes, Default: "0", Mutable: true, Help: "memory limit of all sets, such as 4GiB; 0 means three quarters of the machine's memory"},
	{Name: "maxclients", Kind: Number, Default: "10000", Mutable: true, Min: 1, Max: 1_000_000, Help: "maximum number of connections"},
	{Name: "timeout", Kind: Number, Default: "0", Mutable: true, Max: maxUint32, Help: "seconds until an idle connection is closed; 0 means never"},
	{Name: "users", Value: "FILE", Default: "", Help: "users file, written by everbloom token: name, role, key prefix and token hash on each line"},
	{Name: "tls-addr", Value: "ADDRESS", Default: "", Help: "address of the Redis protocol over TLS"},
	{Name: "tls-cert", Value: "FILE", Default: "", Help: "TLS certificate file"},
	{Name: "tls-key", Value: "FILE", Default: "", Help: "TLS private key file"},
	{Name: "tls-ca", Value: "FILE", Default: "", Help: "file of CA certificates; clients must then present a certificate"},
	{Name: "hash", Kind: Choice, Default: "siphash", Choices: []string{"siphash", "xxh3"}, Help: "hash of items, fixed when the folder is created: siphash has a secret, xxh3 lets exported files merge with others"},
	{Name: "log", Kind: Choice, Default: "jetstream", Choices: []string{"jetstream", "file", "memory"}, Help: "log engine; file and memory are for comparison: file never shrinks, memory keeps nothing"},
	{Name: "image-after", Kind: Bytes, Default: "64MiB", Mutable: true, Help: "log size after which images are written; in a cluster at most 2 GiB"},
	{Name: "accept-loss", Kind: Switch, Default: "no", Help: "start although acknowledged changes are missing from the log"},

	{Name: "nats", Value: "URLS", Default: "", Help: "keep log and images in these NATS servers, such as nats://a:4222,nats://b:4222, so that several servers share them"},
	{Name: "nats-creds", Value: "FILE", Default: "", Help: "credentials for the NATS servers"},
	{Name: "namespace", Value: "NAME", Default: "everbloom", Help: "how names of streams in the NATS servers begin"},
	{Name: "node", Value: "NAME", Default: "", Help: "name of this server among those that share NATS servers; by default that of the machine"},
	{Name: "member", Value: "NAME", Default: "", Help: "be this member of the cluster that --peers lists"},
	{Name: "peers", Value: "LIST", Default: "", Help: "all members of the cluster and where they reach each other, such as n1=10.0.0.1:7000,n2=10.0.0.2:7000"},
	{Name: "peers-addr", Value: "ADDRESS", Default: "", Help: "address for the other members to connect to, if it is not the one in --peers"},
	{Name: "peers-secret", Value: "FILE", Default: "", Help: "file with a secret that all members share; needed unless all are on this machine"},
	{Name: "partitions", Kind: Number, Default: "16", Min: 1, Max: 16384, Help: "partitions of a cluster, fixed at its first start"},
	{Name: "advertise", Value: "ADDRESS", Default: "", Help: "address of the Redis protocol for other servers and for clients that are redirected; by default --addr"},
	{Name: "redirect", Kind: Switch, Default: "no", Help: "answer MOVED where another server leads, for clients of Redis Cluster, in place of forwarding"},
	{Name: "copies", Kind: Choice, Default: "all", Choices: []string{"all", "1"}, Help: "partitions that a server of a cluster holds in memory: all, or with 1 those that it leads"},

	{Name: "bf-error-rate", Kind: Rate, Default: "0.01", Mutable: true, Help: "false-positive rate of filters that BF.ADD creates"},
	{Name: "bf-initial-size", Kind: Number, Default: "100", Mutable: true, Min: 1, Max: 1 << 30, Help: "capacity of filters that BF.ADD creates"},
	{Name: "bf-expansion-factor", Kind: Number, Default: "2", Mutable: true, Max: 32768, Help: "expansion of filters that BF.ADD creates"},
	{Name: "cf-bucket-size", Kind: Number, Default: "2", Mutable: true, Min: 1, Max: 255, Help: "bucket size of filters that CF.ADD creates"},
	{Name: "cf-initial-size", Kind: Number, Default: "1024", Mutable: true, Min: 2, Max: 1 << 30, Help: "capacity of filters that CF.ADD creates"},
	{Name: "cf-max-iterations", Kind: Number, Default: "20", Mutable: true, Min: 1, Max: 65535, Help: "has no effect; accepted for compatibility"},
	{Name: "cf-expansion-factor", Kind: Number, Default: "1", Mutable: true, Max: 32768, Help: "expansion of filters that CF.ADD creates"},
	{Name: "cf-max-expansions", Kind: Number, Default: "32", Mutable: true, Min: 1, Max: 65535, Help: "has no effect; accepted for compatibility"},
	{Name: "bf-kind", Kind: Choice, Default: "auto", Mutable: true, Choices: []string{"auto", "perennial", "scalable"}, Help: "kind of filters that BF.* creates; auto is scalable for a reserved capacity and perennial otherwise"},
	{Name: "cf-kind", Kind: Choice, Default: "perennial", Mutable: true, Choices: []string{"perennial", "evergreen"}, Help: "kind of filters that CF.* creates; evergreen is exact and five times as large"},

	{Name: "slowlog-log-slower-than", Kind: Number, Default: "10000", Mutable: true, Off: true, Max: maxUint32, Help: "microseconds after which a command enters the slow log; -1 disables it"},
	{Name: "slowlog-max-len", Kind: Number, Default: "128", Mutable: true, Max: 100_000, Help: "maximum length of the slow log"},
	{Name: "enable-debug-command", Kind: Switch, Default: "no", Help: "allow the DEBUG command"},

	{Name: "appendonly", Default: "yes", Fixed: true},
	{Name: "appendfsync", Default: "always", Fixed: true},
	{Name: "databases", Default: "1", Fixed: true},
	{Name: "maxmemory-policy", Default: "noeviction", Fixed: true},
	{Name: "proto-max-bulk-len", Default: "536870912", Fixed: true},
	{Name: "save", Default: "", Fixed: true},
}
