package cluster_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/everbloom-go/everbloom/server/internal/cluster"
	"github.com/everbloom-go/everbloom/server/internal/cluster/clustertest"
)

// BenchmarkR3 appends operations of 32 bytes in group commits of up to 512 KiB, three copies,
// three members in one process. Bare is JetStream as it is, without a position: what a server
// can be compared with.
func BenchmarkR3(b *testing.B) {
	w := clustertest.Direct(b, 3)
	w.StartAll()
	ctx := context.Background()
	l, err := w.Node(0).Log(ctx, 0)
	if err != nil {
		b.Fatal(err)
	}
	if err := w.Node(0).Draw(ctx, 0); err != nil {
		b.Fatal(err)
	}
	js := cluster.JetStream(w.Node(0))
	bare := func(entry []byte) error {
		_, err := js.Publish(ctx, "everbloom.log.0", entry)
		return err
	}
	for _, writers := range []int{1, 50, 500} {
		b.Run(fmt.Sprintf("bare/writers=%d", writers), func(b *testing.B) { commit(b, writers, bare) })
		b.Run(fmt.Sprintf("log/writers=%d", writers), func(b *testing.B) {
			last, err := l.Last(ctx)
			if err != nil {
				b.Fatal(err)
			}
			commit(b, writers, func(entry []byte) (err error) {
				last, err = l.Append(ctx, last, entry)
				return err
			})
		})
	}
}

// commit has writers that wait for their operation, one of b.N, and a goroutine that appends
// all that wait as one entry.
func commit(b *testing.B, writers int, store func([]byte) error) {
	b.Helper()
	const size, largest = 32, 512 << 10
	waiting := make(chan chan struct{}, writers)
	todo := make(chan struct{})
	var wait sync.WaitGroup
	for range writers {
		wait.Go(func() {
			done := make(chan struct{})
			for range todo {
				waiting <- done
				<-done
			}
		})
	}
	go func() {
		for range b.N {
			todo <- struct{}{}
		}
		close(todo)
		wait.Wait()
		close(waiting)
	}()
	b.ResetTimer()
	entries := 0
	var batch []chan struct{}
	for first := range waiting {
		batch = append(batch[:0], first)
		for len(waiting) > 0 && (len(batch)+1)*size <= largest {
			batch = append(batch, <-waiting)
		}
		if err := store(make([]byte, len(batch)*size)); err != nil {
			b.Error(err)
		}
		entries++
		for _, done := range batch {
			done <- struct{}{}
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
	b.ReportMetric(float64(b.N)/float64(entries), "ops/entry")
}
