package cluster

import (
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/server/internal/log"
	engine "github.com/everbloom-go/everbloom/server/internal/log/jetstream"
)

// A budget is how many bytes of a log may be appended until the engine is asked for its size
// again. The goroutine that appends uses it.
type budget struct {
	last uint64 // position of the last entry that was counted
	left int64
}

// entrySize is more than what the engine stores with an entry.
const entrySize = 512

// spend counts an entry. If another writer has appended meanwhile, nothing is left.
func (b *budget) spend(at uint64, size int) {
	if at != b.last+1 {
		b.left = 0
	}
	b.last = at
	b.left -= int64(size) + entrySize
}

// Room returns an error if the log has nearly reached its limit, or if the disk of this node's
// member is nearly full. The disk of an operator's server is not known.
func (l *entries) Room() error { return l.room(engine.Room) }

// Probe is Room, and tries to write.
func (l *entries) Probe() error { return l.room(engine.Probe) }

func (l *entries) room(disk func(dir string) error) error {
	if l.cluster.engine != nil {
		if err := disk(l.cluster.config.Dir); err != nil {
			return err
		}
	}
	if l.budget.left > 0 {
		return nil
	}
	info, err := l.cluster.leaderInfo(l.cluster.ctx, l.name)
	if err != nil {
		return nil //nolint:nilerr // the size is unknown: appending will tell
	}
	size, limit := int64(info.State.Bytes), info.Config.MaxBytes
	if limit <= 0 {
		limit = math.MaxInt64
	}
	if l.budget.left = limit - limit/reserved - size; l.budget.left <= 0 {
		return fmt.Errorf("cluster: %s has %d of %d bytes, and the last %d are for leaders: changes are taken when images are written and the log is trimmed: %w",
			l.name, size, limit, limit/reserved, log.ErrLong)
	}
	return nil
}

// reserved is the part of a log that is kept for what leaders write about themselves: a tenth.
// Without it no node could lead, and nothing could be trimmed. Of 8 GiB it takes a beat each second
// more than a month to fill it.
const reserved = 10

// LogBytes returns how many bytes the log of a partition may take.
func (c *Cluster) LogBytes() int64 { return c.config.LogBytes }
