package cluster

import "github.com/nats-io/nats.go/jetstream"

// Sibling returns a cluster that uses the connection of another one with another
// configuration.
func Sibling(c *Cluster, config Config) *Cluster {
	if err := config.member(); err != nil {
		panic(err)
	}
	return &Cluster{config: config, instance: c.instance, engine: c.engine, conn: c.conn, js: c.js, register: c.register, ctx: c.ctx, cancel: func() {}}
}

// JetStream returns the connection of a cluster.
func JetStream(c *Cluster) jetstream.JetStream { return c.js }
