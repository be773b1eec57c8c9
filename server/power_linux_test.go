package server

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/everbloom-go/everbloom/internal/effort"
)

// A forgetful disk is a file system that can be cut off as if by a loss of power: what was
// not synced is forgotten.
type forgetful struct {
	t     *testing.T
	image string
	dir   string
}

// shutdownNow is EXT4_IOC_SHUTDOWN, and dropJournal its flag not to write anything more.
const (
	shutdownNow = 0x8004587d
	dropJournal = 2
)

// newForgetful makes a disk, or skips the test where that cannot be.
func newForgetful(t *testing.T) *forgetful {
	t.Helper()
	d := &forgetful{t: t, image: filepath.Join(t.TempDir(), "image"), dir: t.TempDir()}
	const why = "NOT TESTED: a loss of power. It needs root, mkfs.ext4 and loop devices: %v: %s"
	if err := os.WriteFile(d.image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(d.image, 256<<20); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mkfs.ext4", "-q", "-F", d.image).CombinedOutput(); err != nil {
		t.Skipf(why, err, out)
	}
	if out, err := d.mount("data=ordered"); err != nil {
		t.Skipf(why, err, out)
	}
	t.Cleanup(func() { _ = syscall.Unmount(d.dir, syscall.MNT_DETACH) }) // its loop device goes with it
	unsynced := filepath.Join(d.dir, "unsynced")
	if err := os.WriteFile(unsynced, []byte("lost"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.cut()
	d.restart("data=ordered")
	if text, err := os.ReadFile(unsynced); err == nil && string(text) == "lost" {
		t.Fatal("the disk remembers what was not synced: nothing can be tested with it")
	}
	return d
}

func (d *forgetful) mount(options string) ([]byte, error) {
	return exec.Command("mount", "-t", "ext4", "-o", "loop,commit=300,"+options, d.image, d.dir).CombinedOutput()
}

// cut takes the power away.
func (d *forgetful) cut() {
	d.t.Helper()
	f, err := os.Open(d.dir)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(f.Fd()), shutdownNow, dropJournal)
		f.Close()
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// restart mounts the disk again, when no process uses it.
func (d *forgetful) restart(options string) {
	d.t.Helper()
	var err error
	for range 100 {
		if err = syscall.Unmount(d.dir, 0); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	if out, err := d.mount(options); err != nil {
		d.t.Fatalf("%v: %s", err, out)
	}
}

// TestLossOfPower cuts the disk of a server under load off and asks for all that it has
// acknowledged before.
func TestLossOfPower(t *testing.T) {
	effort.PlainOnly(t) // the server is the same program
	d := newForgetful(t)
	dir := filepath.Join(d.dir, "data")
	rng := rand.New(rand.NewPCG(5, 6))
	writers := newWriters(6)
	p := startProcess(t, dir)
	defer func() { p.kill() }()
	dial(t, p.addr).do("EB.CREATE", "eb", "DELETE")
	for round := range effort.Pick(3, 60) {
		var wg sync.WaitGroup
		for _, w := range writers {
			w.off.Store(false)
			wg.Go(func() { w.write(p.addr) })
		}
		time.Sleep(time.Duration(100+rng.IntN(300)) * time.Millisecond)
		for _, w := range writers {
			w.off.Store(true) // what is answered without power is not heard
		}
		d.cut()
		p.kill()
		wg.Wait()
		d.restart([]string{"data=ordered", "data=writeback"}[round%2])
		p = startProcess(t, dir)
		t.Logf("%d items", verifyAll(t, writers, p.addr))
	}
}

// TestFullDiskUnderLoad takes all room away at once while a server writes, gives it back, and
// asks for all that was acknowledged, also after the server was killed.
func TestFullDiskUnderLoad(t *testing.T) {
	effort.PlainOnly(t)
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=96m"); err != nil {
		t.Skipf("NOT TESTED: a full disk. To mount a tiny one needs root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	dir, ballast := filepath.Join(disk, "data"), filepath.Join(disk, "ballast")
	writers := newWriters(4)
	p := startProcess(t, dir)
	defer func() { p.kill() }()
	dial(t, p.addr).do("EB.CREATE", "eb", "DELETE")
	for range effort.Pick(1, 20) {
		var wg sync.WaitGroup
		for _, w := range writers {
			wg.Go(func() { w.write(p.addr) })
		}
		time.Sleep(200 * time.Millisecond)
		takeAllRoom(t, ballast)
		c := dial(t, p.addr)
		until(t, c, "-MISCONF")
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		until(t, c, ":1")
		wg.Wait() // writers end with the first that is refused
		verifyAll(t, writers, p.addr)
		p.kill()
		p = startProcess(t, dir)
		t.Logf("%d items", verifyAll(t, writers, p.addr))
	}
}

// takeAllRoom writes a file until there is no room.
func takeAllRoom(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; size >>= 1 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
}

// until adds items until an add is answered as wanted.
func until(t *testing.T, c *client, want string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		reply := c.do("BF.ADD", "k", time.Now().String())
		if strings.HasPrefix(reply, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s, want %s", reply, want)
		}
	}
}
