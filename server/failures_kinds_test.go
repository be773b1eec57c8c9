package server

import (
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/cluster/clustertest"
)

// failures are what happens to servers.
type failures struct {
	*trial
	rng   *rand.Rand
	kinds []failure
	pace  time.Duration // of a second
	left  []int         // of the kinds, before all have happened again
}

// A failure is something that happens to a server, and is mended.
type failure struct {
	name string
	do   func(f *failures, i int)
}

// failuresAnywhere are those of servers in one process, too.
var failuresAnywhere = []failure{
	{"is cut off", (*failures).isolate},
	{"is cut off and silent", (*failures).silence},
	{"is killed", (*failures).restart},
	{"loses its disk", (*failures).lose},
	{"has another time", (*failures).jump},
	{"is not heard", (*failures).deafen},
	{"hands over and ends", (*failures).leave},
	{"is cut off, and the next one killed", (*failures).both},
}

// failuresOfProcesses are all.
var failuresOfProcesses = append([]failure{{"is stopped", (*failures).stop}}, failuresAnywhere...)

// next has a server fail, and mends it.
func (f *failures) next() {
	f.t.Helper()
	if len(f.left) == 0 {
		f.left = f.rng.Perm(len(f.kinds))
	}
	one, i := f.kinds[f.left[0]], f.rng.IntN(len(f.nodes))
	f.left = f.left[1:]
	f.t.Logf("%s %s", f.nodes[i].name, one.name)
	one.do(f, i)
	f.pause(3)
}

// pause waits for a part of some seconds.
func (f *failures) pause(most int64) { time.Sleep(time.Duration(f.rng.Int64N(most * int64(f.pace)))) }

// long waits for a time in which others take over, or do not.
func (f *failures) long() {
	time.Sleep(3 * f.pace)
	f.pause(11)
}

// answers changes the way of commands that are forwarded to a server, for a while.
func (f *failures) answers(i int, flow clustertest.Flow) {
	f.flow(i, flow, false)
	f.pause(1)
}

// mute loses the answers to commands that are forwarded to a server and carried out: when their
// connections end, the outcome is unknown. What happens next must end them.
func (f *failures) mute(i int) { f.answers(i, clustertest.Deaf) }

func (f *failures) deafen(i int) {
	for range 5 {
		f.mute(i)
		f.answers(i, clustertest.Cut)
		f.answers(i, clustertest.Open)
	}
}

func (f *failures) isolate(i int) {
	f.mute(i)
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
	f.mute(i)
	f.kill(i)
	f.answers(i, clustertest.Open)
	f.pause(4)
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
	f.nodes[i].run.jump(d)
}

func (f *failures) leave(i int) {
	f.signal(i, syscall.SIGTERM)
	f.wait(i)
	f.start(i)
}

func (f *failures) both(i int) {
	j, _ := f.others(i)
	f.mute(i)
	f.cut(i, clustertest.Cut)
	f.kill(j)
	f.pause(4)
	f.spawn(j)
	f.pause(4)
	f.cut(i, clustertest.Open)
	f.opened(j)
}
