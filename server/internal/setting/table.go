package setting

// Table returns all settings. It is shared: rows must not be changed.
func Table() []Setting { return table }

const maxUint32 = 1<<32 - 1

var table = []Setting{
	{Name: "dir", Value: "DIR", Default: "", Help: "folder of the data, made if it is missing"},
	{Name: "addr", Value: "ADDRESS", Default: "127.0.0.1:6379", Help: "address of the Redis protocol"},
	{Name: "http", Value: "ADDRESS", Default: "127.0.0.1:6380", Help: "address of /metrics, /health and /ready; off means none"},
	{Name: "maxmemory", Kind: Bytes, Default: "0", Mutable: true, Help: "most memory of all sets, such as 4GiB; 0 means three quarters of the machine's"},
	{Name: "maxclients", Kind: Number, Default: "10000", Mutable: true, Min: 1, Max: 1_000_000, Help: "most connections"},
	{Name: "timeout", Kind: Number, Default: "0", Mutable: true, Max: maxUint32, Help: "seconds after which idle connections are closed; 0 means never"},
	{Name: "users", Value: "FILE", Default: "", Help: "file of users: name, role, prefix of keys and hash of a token on each line"},
	{Name: "tls-addr", Value: "ADDRESS", Default: "", Help: "address of the Redis protocol over TLS"},
	{Name: "tls-cert", Value: "FILE", Default: "", Help: "file of the certificate"},
	{Name: "tls-key", Value: "FILE", Default: "", Help: "file of its key"},
	{Name: "tls-ca", Value: "FILE", Default: "", Help: "file of the authorities that sign the certificates of clients, which are required then"},
	{Name: "hash", Kind: Choice, Default: "siphash", Choices: []string{"siphash", "xxh3"}, Help: "hash of items, chosen when the folder is made: siphash (with a secret) or xxh3 (files merge with others')"},
	{Name: "log", Kind: Choice, Default: "jetstream", Choices: []string{"jetstream", "file", "memory"}, Help: "engine of the log; file and memory exist to compare with: file never shrinks, memory forgets"},
	{Name: "image-after", Kind: Bytes, Default: "64MiB", Mutable: true, Help: "size of the log after which images are written"},
	{Name: "accept-loss", Kind: Switch, Default: "no", Help: "start with a log that ends too early, and lose what is missing"},

	{Name: "bf-error-rate", Kind: Rate, Default: "0.01", Mutable: true, Help: "rate of filters that BF.ADD makes"},
	{Name: "bf-initial-size", Kind: Number, Default: "100", Mutable: true, Min: 1, Max: 1 << 30, Help: "capacity of filters that BF.ADD makes"},
	{Name: "bf-expansion-factor", Kind: Number, Default: "2", Mutable: true, Max: 32768, Help: "expansion of filters that BF.ADD makes"},
	{Name: "cf-bucket-size", Kind: Number, Default: "2", Mutable: true, Min: 1, Max: 255, Help: "bucket size of filters that CF.ADD makes"},
	{Name: "cf-initial-size", Kind: Number, Default: "1024", Mutable: true, Min: 2, Max: 1 << 30, Help: "capacity of filters that CF.ADD makes"},
	{Name: "cf-max-iterations", Kind: Number, Default: "20", Mutable: true, Min: 1, Max: 65535, Help: "has no effect; for clients that set it"},
	{Name: "cf-expansion-factor", Kind: Number, Default: "1", Mutable: true, Max: 32768, Help: "expansion of filters that CF.ADD makes"},
	{Name: "cf-max-expansions", Kind: Number, Default: "32", Mutable: true, Min: 1, Max: 65535, Help: "has no effect; for clients that set it"},
	{Name: "bf-kind", Kind: Choice, Default: "auto", Mutable: true, Choices: []string{"auto", "perennial", "scalable"}, Help: "kind behind BF.*; auto is scalable for a reserved capacity and else perennial"},
	{Name: "cf-kind", Kind: Choice, Default: "perennial", Mutable: true, Choices: []string{"perennial", "evergreen"}, Help: "kind behind CF.*; evergreen is exact and five times as large"},

	{Name: "slowlog-log-slower-than", Kind: Number, Default: "10000", Mutable: true, Off: true, Max: maxUint32, Help: "microseconds from which a command is in the slow log; -1 means that none is"},
	{Name: "slowlog-max-len", Kind: Number, Default: "128", Mutable: true, Max: 100_000, Help: "length of the slow log"},
	{Name: "enable-debug-command", Kind: Switch, Default: "no", Help: "allow DEBUG"},

	{Name: "appendonly", Default: "yes", Fixed: true},
	{Name: "appendfsync", Default: "always", Fixed: true},
	{Name: "databases", Default: "1", Fixed: true},
	{Name: "maxmemory-policy", Default: "noeviction", Fixed: true},
	{Name: "proto-max-bulk-len", Default: "536870912", Fixed: true},
	{Name: "save", Default: "", Fixed: true},
}
