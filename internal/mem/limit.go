package mem

import (
	"io/fs"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// addressSpace bounds everything on machines that do not say more.
var addressSpace = userSpace(runtime.GOOS, runtime.GOARCH, strconv.IntSize)

// userSpace returns 2 GiB, the smallest user space of the 32-bit systems Go runs on, or
// a size that is safely below the one at which make panics. WebAssembly has wide ints
// but a narrow memory.
func userSpace(system, arch string, intBits int) uint64 {
	switch {
	case intBits == 32 || arch == "wasm":
		return 1 << 31
	case system == "ios":
		return 1 << 39
	}
	return 1 << 46
}

// A limit is how many more bytes can be had, and what says so.
type limit struct {
	bytes  uint64
	source string
}

// orTighter returns the tighter of two rooms.
func (r limit) orTighter(other limit) limit {
	if other.bytes < r.bytes {
		return other
	}
	return r
}

// usage is what the process holds.
type usage struct {
	heap     uint64 // bytes that the Go runtime uses; what it keeps free for itself is not counted
	idle     uint64 // bytes that it keeps free for itself
	objects  uint64 // bytes of heap objects, garbage included
	resident uint64 // bytes of private memory that are in RAM
	known    bool   // whether resident is known
}

// An allowance is what the process may take before the machine is asked again.
type allowance struct {
	left atomic.Int64 // bytes
	rest atomic.Int64 // until when the collector is left alone, in nanoseconds since start
}

var start = time.Now()

// unchecked is the allowance of all blocks of the process.
var unchecked allowance

// fits refuses what is larger than the limit. Small requests are taken from the
// allowance, which the first that finds it too small renews: with an eighth of it, so
// that the machine is asked more often where there is less.
func (a *allowance) fits(want uint64, ask func() limit) error {
	if want < checkFrom && a.left.Add(-int64(want)) >= 0 {
		return nil
	}
	r := ask()
	if want > r.bytes && a.collects(want-r.bytes) {
		r = ask()
	}
	if want > r.bytes {
		a.left.Store(0)
		return refusal(want, r)
	}
	a.left.Store(int64(min(checkFrom, (r.bytes-want)/8)))
	return nil
}

// collects runs the collector if garbage could make up for what is missing. A full
// process asks again and again, so it then leaves the collector alone for four times as
// long as it took.
func (a *allowance) collects(missing uint64) bool {
	begin := time.Since(start)
	if missing > heapUsage().objects || int64(begin) < a.rest.Load() {
		return false
	}
	runtime.GC()
	end := time.Since(start)
	a.rest.Store(int64(end + 4*(end-begin)))
	return true
}

// machineLimit asks this machine. Its answer is true for the moment.
func machineLimit() limit {
	root := os.DirFS("/")
	use := processUsage(root)
	r := limitFor(root, use, debug.SetMemoryLimit(-1))
	if free, ok := ulimit(root); ok {
		r = r.orTighter(limit{minus(free, arena) + use.idle, "the limit of the address space (ulimit -v)"})
	}
	return r
}

// arena is how many addresses the Go heap takes at once when it grows. What it has
// taken and does not use serves the next block.
const arena = 64 << 20

// processUsage adds to the runtime's numbers what the kernel knows of the process.
func processUsage(root fs.FS) usage {
	use := heapUsage()
	use.resident, use.known = residentBytes(root)
	return use
}

// limitFor takes the least of all limits. The root is the file system that has /proc
// and /sys; what it lacks does not limit.
func limitFor(root fs.FS, use usage, memoryLimit int64) limit {
	r := limit{minus(addressSpace, use.heap), "the address space"}
	if memoryLimit != math.MaxInt64 {
		r = r.orTighter(limit{minus(uint64(max(memoryLimit, 0)), use.heap), "GOMEMLIMIT"})
	}
	if free, ok := available(root); ok {
		r = r.orTighter(limit{use.correct(free), "the machine's free memory"})
	}
	for _, v := range []cgroup{unified, legacy} {
		if free, ok := v.least(root, v.leftIn); ok {
			r = r.orTighter(limit{use.correct(free), "the cgroup's " + v.limit})
		}
	}
	return r
}

// correct turns what the kernel has left into what this process can still get. Pages
// are counted by the kernel when they are first touched, but by the Go runtime when
// they are allocated: blocks not yet filled are owed, and pages kept by a heap that
// does not use them are to be had.
func (u usage) correct(free uint64) uint64 {
	if !u.known {
		return free
	}
	return minus(free+u.resident, u.heap)
}

// heapUsage reads what the runtime counts, which unlike its older statistics does not
// stop the world. Released memory is back with the kernel, and free memory serves the
// next block.
func heapUsage() usage {
	s := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
	}
	metrics.Read(s)
	total, released, free := s[0].Value.Uint64(), s[1].Value.Uint64(), s[2].Value.Uint64()
	return usage{heap: minus(total, released+free), idle: released + free, objects: s[3].Value.Uint64()}
}

// Total returns how much memory the process may have, in use or not: that of the machine, of
// its control groups or GOMEMLIMIT, whichever is least. ok is false where that is unknown.
func Total() (n uint64, ok bool) { return totalFor(os.DirFS("/"), debug.SetMemoryLimit(-1)) }

func totalFor(root fs.FS, memoryLimit int64) (n uint64, ok bool) {
	r := limit{bytes: math.MaxInt64}
	if memoryLimit != math.MaxInt64 {
		r = r.orTighter(limit{bytes: uint64(max(memoryLimit, 0))})
	}
	if kib, ok := readField(root, "proc/meminfo", "MemTotal:"); ok {
		r = r.orTighter(limit{bytes: kib << 10})
	}
	for _, v := range []cgroup{unified, legacy} {
		if most, ok := v.least(root, v.limitIn); ok {
			r = r.orTighter(limit{bytes: most})
		}
	}
	return r.bytes, r.bytes < math.MaxInt64
}

// Resident returns the private memory of the process that is in RAM; ok is false where that
// is unknown.
func Resident() (n uint64, ok bool) { return residentBytes(os.DirFS("/")) }

// residentBytes reads the private resident memory of the process: resident less shared
// pages.
func residentBytes(root fs.FS) (uint64, bool) {
	text, err := fs.ReadFile(root, "proc/self/statm")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 3 {
		return 0, false
	}
	resident, err1 := strconv.ParseUint(fields[1], 10, 64)
	shared, err2 := strconv.ParseUint(fields[2], 10, 64)
	return minus(resident, shared) * uint64(os.Getpagesize()), err1 == nil && err2 == nil
}

// available reads what the kernel thinks it can give without swapping, or all its
// memory where it does not say.
func available(root fs.FS) (uint64, bool) {
	kib, ok := readField(root, "proc/meminfo", "MemAvailable:")
	if !ok {
		kib, ok = readField(root, "proc/meminfo", "MemTotal:")
	}
	return kib << 10, ok
}

// readNumber reads a file of one number. Files that hold the word max instead set no limit.
func readNumber(root fs.FS, name string) (uint64, bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}

// readField returns the number behind a name in a file of one name and number per line.
func readField(root fs.FS, file, name string) (uint64, bool) {
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == name {
			n, err := strconv.ParseUint(f[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// minus subtracts down to zero and no further.
func minus(a, b uint64) uint64 {
	return a - min(a, b)
}
