package server

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/server/internal/cluster/clustertest"
)

// TestClusterDisk has one thing after the other happen to what a cluster has on disk, and to
// servers that do not belong to it.
func TestClusterDisk(t *testing.T) {
	effort.LongOnly(t)
	t.Parallel()
	c := newTrial(t, 2)
	c.patience, c.logBytes = 12*time.Second, 8<<20
	c.start(0, 1, 2)
	c.whole()
	c.rows([]clusterRow{
		{"FarBehind", false, farBehind},
		{"FlippedBit", false, flippedBit},
		{"ImageDamaged", false, imageDamaged},
		{"DiskFull", true, diskFull},
		{"LogLimit", false, logLimit},
		{"WrongSecret", false, wrongSecret},
		{"SameName", false, sameName},
		{"OtherMode", false, otherMode},
		{"OtherPartitions", false, otherPartitions},
	})
}

// write adds items to a set of each partition.
func (c *trial) write(i int, prefix string, from, to int) {
	c.t.Helper()
	for p := range c.partitions {
		words := []string{"CF.INSERT", c.key(prefix, p), "ITEMS"}
		for item := range to - from {
			words = append(words, fmt.Sprint("item", from+item))
		}
		c.must(i, words...)
	}
}

// has waits until the copy of a server has items.
func (c *trial) has(i int, prefix string, n int) {
	c.t.Helper()
	for p := range c.partitions {
		c.hasItems(i, p, prefix, n)
	}
}

// hasItems is has for one partition.
func (c *trial) hasItems(i, p int, prefix string, n int) {
	c.t.Helper()
	words := []string{"CF.MEXISTS", c.key(prefix, p)}
	for item := range n {
		words = append(words, fmt.Sprint("item", item))
	}
	if n == 0 {
		return
	}
	c.until("it has everything", func() error {
		if got := c.local(i, words...); strings.Count(got, ":1") != n {
			return fmt.Errorf("%s: partition %d: %d of %d items: %.100s", c.nodes[i].name, p, strings.Count(got, ":1"), n, got)
		}
		return nil
	})
}

// save has images written, until the log is trimmed.
func (c *trial) save(i int, prefix string, rounds int) {
	c.t.Helper()
	for round := range rounds {
		c.write(i, prefix, round*10, round*10+10)
		c.until("images are written", func() error {
			if got, err := c.ask(i, "SAVE"); err != nil || got != "+OK" {
				return fmt.Errorf("%s: %w", got, errNotYet)
			}
			return nil
		})
	}
}

// farBehind: a server that was cut off while the log was trimmed starts from images.
func farBehind(c *trial) {
	c.cut(2, clustertest.Silent)
	c.led(0, 1)
	c.save(0, "behind", 4)
	c.cut(2, clustertest.Open)
	c.has(2, "behind", 40)
	if text := c.nodes[2].said(); !strings.Contains(text, "a partition is loaded again") {
		c.t.Error("it did not start anew")
	}
	c.kill(2)
	c.start(2)
	c.has(2, "behind", 40)
}

// flippedBit: a block of the log of one server is damaged while it does not run. The server
// has everything all the same, and goes on when it leads the log.
func flippedBit(c *trial) {
	c.write(0, "flip", 0, 100)
	c.whole()
	c.kill(1)
	c.led(0, 2)
	c.write(0, "flip", 100, 200)
	flipped := c.flip(1, "streams/everbloom-log-*/msgs/*.blk", []byte(c.nodes[0].addr), []byte(c.nodes[1].addr), []byte(c.nodes[2].addr))
	if flipped == 0 {
		c.t.Fatal("nothing is damaged")
	}
	c.start(1)
	c.has(1, "flip", 200)
	c.kill(0) // so that copies of the log are led by others
	c.led(1, 2)
	c.has(1, "flip", 200)
	c.start(0)
	for i := range 3 {
		c.has(i, "flip", 200)
	}
}

// flip flips a bit of the first occurrence of texts in files of a server that does not run, and
// removes the engine's index of them. It returns how many files are damaged.
func (c *trial) flip(i int, pattern string, texts ...[]byte) (n int) {
	c.t.Helper()
	files, err := filepath.Glob(filepath.Join(c.nodes[i].dir, "cluster", "jetstream", "jetstream", "*", pattern))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, text := range texts {
			if at := bytes.Index(b, text); at >= 0 {
				b[at+len(text)/2] ^= 1
				n++
				break
			}
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			c.t.Fatal(err)
		}
		_ = os.Remove(filepath.Join(filepath.Dir(path), "index.db")) // it may not be there
	}
	return n
}

// imageDamaged: the newest images are damaged on all servers. The engine has them from its other
// files, or those before are loaded and the rest is in the log: see TestDamagedImagesStepBack.
func imageDamaged(c *trial) {
	c.save(0, "image", 3)
	c.kill(0, 1, 2)
	for i, n := range c.nodes {
		if c.damageImages(i) == 0 {
			c.t.Fatal("nothing is damaged")
		}
		if err := os.RemoveAll(filepath.Join(n.dir, "cluster", "images")); err != nil {
			c.t.Fatal(err)
		}
	}
	c.start(0, 1, 2)
	for i := range c.nodes {
		c.has(i, "image", 30)
	}
	c.save(0, "image", 3)
}

// damageImages flips a bit of the newest chunk of images of each partition.
func (c *trial) damageImages(i int) (n int) {
	c.t.Helper()
	streams, _ := filepath.Glob(filepath.Join(c.nodes[i].dir, "cluster", "jetstream", "jetstream", "*", "streams", "OBJ_*", "msgs"))
	for _, dir := range streams {
		blocks, _ := filepath.Glob(filepath.Join(dir, "*.blk"))
		for _, path := range blocks {
			b, err := os.ReadFile(path)
			if err != nil {
				c.t.Fatal(err)
			}
			at := bytes.LastIndex(b, []byte(".C.")) // the subject of a chunk
			if at < 0 || len(b) < at+80 {
				continue
			}
			b[at+70] ^= 1
			n++
			if err := os.WriteFile(path, b, 0o600); err != nil {
				c.t.Fatal(err)
			}
			_ = os.Remove(filepath.Join(dir, "index.db")) // it may not be there
		}
	}
	return n
}

// wrongSecret: a server that does not know the secret does not join; the others say so.
func wrongSecret(c *trial) {
	c.kill(2)
	n := c.nodes[2]
	path := filepath.Join(c.dir, "secret")
	if err := os.WriteFile(path, []byte("wrong"), 0o600); err != nil {
		c.t.Fatal(err)
	}
	n.settings = []string{"peers-secret", path}
	c.spawn(2)
	c.until("it is told", func() error {
		for _, o := range c.nodes {
			if strings.Contains(o.said(), "uthorization") {
				return nil
			}
		}
		return errNotYet
	})
	c.led(0, 1)
	select {
	case err := <-n.ready:
		c.t.Error("it has joined, or ended:", err)
	default:
	}
	c.kill(2)
	n.settings = nil
	c.start(2)
}

// sameName: a second server with the name of one that runs is refused: at the address of that
// one, and because the others have heard it.
func sameName(c *trial) {
	var peers []string
	for _, n := range c.nodes {
		peers = append(peers, n.name+"="+n.peerAddr)
	}
	for _, settings := range [][]string{{"peers", strings.Join(peers, ",")}, nil} {
		before := *c.nodes[2]
		second := c.nodes[2]
		second.run, second.settings = nil, settings
		second.dir += "-second"
		second.addr, second.web, second.peerAddr = lowAddr(c.t), lowAddr(c.t), lowAddr(c.t)
		c.spawn(2)
		select {
		case <-second.ended:
		case <-time.After(openTime):
			c.t.Error("it does not end")
			second.run.signal(syscall.SIGKILL)
		}
		if text := second.said(); !strings.Contains(text, "with the name n3 runs already") {
			c.t.Errorf("it says:\n%s", lastLines(text))
		}
		*c.nodes[2] = before
	}
}

// otherMode: the folder of a member is refused for a server alone, and for another member.
func otherMode(c *trial) {
	c.kill(2)
	for _, settings := range [][]string{nil, {"member", "n9", "peers", "n9=127.0.0.1:1,n8=127.0.0.1:2"}} {
		_, err := open(c.t, append(settings, "dir", c.nodes[2].dir)...)
		if err == nil || !strings.Contains(err.Error(), "created for a server that is member n3") {
			c.t.Error(settings, err)
		}
	}
	c.start(2)
}

// otherPartitions: a server that asks for another number of partitions takes the one that was
// fixed.
func otherPartitions(c *trial) {
	c.write(0, "number", 0, 10)
	c.kill(2)
	c.nodes[2].settings = []string{"partitions", "7"}
	c.start(2)
	c.nodes[2].settings = nil
	if !strings.Contains(c.nodes[2].said(), "the number of partitions was fixed at the first start") {
		c.t.Error("nothing is said")
	}
	c.has(2, "number", 10)
}

// diskFull: the disk of one server is full. What the others lead goes on, everything does when
// there is room, and nothing that was acknowledged is lost.
func diskFull(c *trial) {
	c.kill(1)
	n := c.nodes[1]
	c.wipe(1)
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", n.dir, "tmpfs", 0, "size=64m"); err != nil {
		c.start(1)
		c.t.Skipf("NOT TESTED: a full disk. It needs root: %v", err)
	}
	defer func() {
		c.kill(1)
		if err := syscall.Unmount(n.dir, syscall.MNT_DETACH); err != nil {
			c.t.Error(err)
		}
		c.start(1)
	}()
	c.start(1)
	c.whole()
	c.drawn()
	leaders := make([]int, c.partitions)
	for p := range leaders {
		leaders[p] = c.leader(0, p)
	}
	ballast := filepath.Join(n.dir, "ballast")
	fillDisk(c.t, ballast)
	acknowledged := make([]int, c.partitions) // items 0 to n-1
	for p, leader := range leaders {
		if leader == 1 { // it refuses
			continue
		}
		for ; acknowledged[p] < 100; acknowledged[p]++ {
			c.must(0, "CF.ADD", c.key("full", p), fmt.Sprint("item", acknowledged[p]))
		}
	}
	if free := room(c.t, n.dir); free > 0 || slices.Max(acknowledged) == 0 {
		c.t.Errorf("%d bytes are free, %d writes", free, acknowledged)
	}
	if err := os.Remove(ballast); err != nil {
		c.t.Fatal(err)
	}
	for p := range c.partitions {
		c.until("there is room", func() error {
			if got, err := c.ask(0, "CF.ADD", c.key("full", p), "after"); err != nil || got != ":1" {
				return fmt.Errorf("%s: %w", got, errNotYet)
			}
			return nil
		})
	}
	c.whole()
	for p, count := range acknowledged {
		for i := range c.nodes {
			c.hasItems(i, p, "full", count)
		}
	}
}

// drawn waits until the logs of all partitions are led by the servers that lead the partitions.
func (c *trial) drawn() {
	c.t.Helper()
	c.until("logs are led by the leaders of their partitions", func() error {
		s, err := c.status(0)
		if err != nil {
			return err
		}
		for _, p := range s.Partitions {
			if p.Log != p.Leader {
				return fmt.Errorf("the log of partition %d is led by %s, the partition by %s: %w", p.Number, p.Log, p.Leader, errNotYet)
			}
		}
		return nil
	})
}

// fillDisk writes a file until the disk is full.
func fillDisk(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// room returns how many bytes are free in a folder.
func room(t *testing.T, dir string) uint64 {
	t.Helper()
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	return st.Bavail * uint64(st.Bsize)
}

// logLimit: four times as much is written as the log of a partition may take, as fast as it goes.
// Some changes may be refused meanwhile; the log is trimmed, and takes all of them in the end.
func logLimit(c *trial) {
	if !strings.Contains(c.nodes[0].said(), "image-after is too large") {
		c.t.Error("nothing is said about the setting")
	}
	key := c.key("limit", 0)
	c.must(0, "BF.RESERVE", key, "0.01", "5000000")
	const batches, size = 500, 8000
	for i := range batches {
		words := []string{"BF.MADD", key}
		for j := range size {
			words = append(words, fmt.Sprint(i*size+j))
		}
		c.until("changes are taken", func() error {
			if got, err := c.ask(0, words...); err != nil || strings.HasPrefix(got, "-") {
				return fmt.Errorf("batch %d: %.200s: %w", i, got, errors.Join(err, errNotYet))
			}
			return nil
		})
	}
	words := []string{"BF.MEXISTS", key}
	for i := range batches {
		words = append(words, fmt.Sprint(i*size+size/2))
	}
	if got := c.must(1, words...); strings.Count(got, ":1") != batches {
		c.t.Errorf("%d of %d items", strings.Count(got, ":1"), batches)
	}
}
