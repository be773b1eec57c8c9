package server

import (
	"context"
	"errors"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/log"
)

const (
	lookForImages = time.Second
	tryAgain      = time.Minute      // after images could not be written
	stillLong     = 10 * time.Second // after images were written because the log was too long
)

// run writes images whenever the log has become long.
func (k *keeper) run(ctx context.Context) {
	if !k.keeps() {
		return
	}
	ticks := time.NewTicker(lookForImages)
	defer ticks.Stop()
	var tried time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if k.shard.partition.Leads() && k.due(time.Since(tried)) {
			tried = time.Now()
			_ = k.save() // which reports its errors
		}
	}
}

// due reports whether images are to be written, so long after the last time. A log that is too
// long is trimmed at once: changes are refused until then.
func (k *keeper) due(since time.Duration) bool {
	if k.failed.Load() && since < tryAgain {
		return false
	}
	if errors.Is(k.shard.partition.Broken(), log.ErrLong) {
		return since >= stillLong
	}
	return k.logSize()-k.logged.Load() > k.threshold()
}

// threshold returns how many bytes of the log images are written after: as many as is set, or
// half of their size if that is more. In a cluster it is bounded.
func (k *keeper) threshold() uint64 {
	after := max(k.server.settings.Number("image-after"), uint64(k.size.Load()/2))
	if n := k.server.node; n != nil {
		after = min(after, n.maxImageAfter())
	}
	return after
}

// maxImageAfter returns a quarter of what a log may take: it is kept from the images before the
// newest ones on, and grows while images are written.
func (n *node) maxImageAfter() uint64 { return uint64(n.logBytes) / 4 }

// checkImageAfter tells of a setting that is more than a log may take.
func (n *node) checkImageAfter() {
	if asked, most := n.server.settings.Number("image-after"), n.maxImageAfter(); asked > most {
		n.server.logger.Warn("image-after is too large for the logs of a cluster: images are written earlier", "image-after", asked, "after", most)
	}
}

// logSize returns the bytes of records behind the images that were loaded.
func (k *keeper) logSize() uint64 {
	s := k.shard.partition.Stats()
	return s.Read + s.Bytes
}
