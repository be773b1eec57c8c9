package server

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/cluster/clustertest"
)

// failures are what happens to servers.
type failures struct {
	*trial
	rng  *rand.Rand
	left []int // of the list, before all have happened again
}

// next has a server fail, and mends it.
func (f *failures) next() {
	f.t.Helper()
	list := []struct {
		name string
		do   func(i int)
	}{
		{"is cut off", f.isolate},
		{"is cut off and silent", f.silence},
		{"is killed", f.restart},
		{"is stopped", f.stop},
		{"loses its disk", f.lose},
		{"has another time", f.jump},
		{"is not heard", f.deafen},
		{"hands over and ends", f.leave},
		{"is cut off, and the next one killed", f.both},
	}
	if len(f.left) == 0 {
		f.left = f.rng.Perm(len(list))
	}
	one, i := list[f.left[0]], f.rng.IntN(len(f.nodes))
	f.left = f.left[1:]
	f.t.Logf("%s %s", f.nodes[i].name, one.name)
	one.do(i)
	f.pause(3 * time.Second)
}

// pause waits for a part of a time.
func (f *failures) pause(most time.Duration) { time.Sleep(time.Duration(f.rng.Int64N(int64(most)))) }

// long waits for a time in which others take over, or do not.
func (f *failures) long() {
	time.Sleep(3 * time.Second)
	f.pause(11 * time.Second)
}

// deafen loses the answers to commands that are forwarded to a server and carried out.
func (f *failures) deafen(i int) {
	for range 5 {
		for _, flow := range []clustertest.Flow{clustertest.Deaf, clustertest.Cut, clustertest.Open} {
			for j := range f.nodes {
				if j != i {
					f.ways[j][i][1].Set(flow)
				}
			}
			f.pause(time.Second)
		}
	}
}

func (f *failures) isolate(i int) {
	f.cut(i, clustertest.Cut)
	f.long()
	f.cut(i, clustertest.Open)
}

func (f *failures) silence(i int) {
	f.cut(i, clustertest.Silent)
	f.long()
	f.cut(i, clustertest.Open)
}

func (f *failures) restart(i int) {
	f.kill(i)
	f.pause(5 * time.Second)
	f.start(i)
}

func (f *failures) stop(i int) {
	f.signal(i, syscall.SIGSTOP)
	f.long()
	f.signal(i, syscall.SIGCONT)
}

// lose wipes a disk when both other servers have everything: a record is stored in each
// partition without this one.
func (f *failures) lose(i int) {
	f.kill(i)
	j, k := f.others(i)
	f.led(j, k)
	for p := range f.partitions {
		name := f.key("barrier", p)
		f.until("a record is stored", func() error {
			_, err := f.ask(j, "CF.ADD", name, "x")
			return err
		})
	}
	f.wipe(i)
	f.start(i)
}

func (f *failures) jump(i int) {
	d := time.Hour
	if f.rng.IntN(2) == 0 {
		d = -d
	}
	_, _ = fmt.Fprintln(f.nodes[i].stdin, d)
}

func (f *failures) leave(i int) {
	f.signal(i, syscall.SIGTERM)
	f.wait(i)
	f.start(i)
}

func (f *failures) both(i int) {
	j, _ := f.others(i)
	f.cut(i, clustertest.Cut)
	f.kill(j)
	f.pause(4 * time.Second)
	f.spawn(j)
	f.pause(4 * time.Second)
	f.cut(i, clustertest.Open)
	f.opened(j)
}
