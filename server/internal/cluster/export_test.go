package cluster

import (
	"context"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/everbloom-go/everbloom/server/internal/image"
	"github.com/everbloom-go/everbloom/server/internal/log"
)

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

// LeaderGet reads an entry of a partition's log through the leader of its stream.
func LeaderGet(ctx context.Context, c *Cluster, partition int, at uint64) ([]byte, error) {
	return c.leaderGet(ctx, c.logConfig(partition).Name, at)
}

// ErrNoEntry is returned by LeaderGet.
var ErrNoEntry = errNoEntry

// Orphan stores an object that no directory names.
func Orphan(ctx context.Context, d image.Disk, r io.Reader) error {
	_, err := d.(*images).objects.put(ctx, "orphan", r)
	return err
}

// RemoveObject removes the object of a file that the directory names.
func RemoveObject(ctx context.Context, d image.Disk, name string) error {
	f, err := d.(*images).dir.find(name)
	if err != nil {
		return err
	}
	return d.(*images).objects.remove(ctx, f.ID)
}

// Sweep removes objects of an age that no directory names.
func Sweep(ctx context.Context, d image.Disk, age time.Duration) error {
	return d.(*images).objects.sweep(ctx, age, d.(*images).dir.uses)
}

// SetPatience changes how long a reader waits for a log that ends before it.
func SetPatience(l log.Shared, d time.Duration) { l.(*entries).patience = d }

// StepDown has the leader of a stream give its place to another one.
func StepDown(c *Cluster, stream string) {
	_ = c.conn.Publish("$JS.API.STREAM.LEADER.STEPDOWN."+stream, nil)
}
