package mem

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"runtime"
	"testing"
	"testing/fstest"
)

const gib = 1 << 30

// machine builds the files that a Linux machine shows. Arguments are pairs of a name
// and a content.
func machine(pairs ...string) fs.FS {
	root := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		root[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return root
}

const (
	meminfo = "MemTotal:       8388608 kB\nMemFree:  1048576 kB\nMemAvailable:   4194304 kB\n"
	inGroup = "1:cpu:/other\n0::/app/worker\n"
)

func TestTotalIsTheLeastOfAllLimits(t *testing.T) {
	const group = "sys/fs/cgroup/app/worker/memory.max"
	for _, tc := range []struct {
		name  string
		root  fs.FS
		limit int64
		want  uint64
	}{
		{"nothing known", machine(), math.MaxInt64, 0},
		{"machine", machine("proc/meminfo", meminfo), math.MaxInt64, 8 * gib},
		{"GOMEMLIMIT", machine("proc/meminfo", meminfo), gib, gib},
		{"cgroup", machine("proc/meminfo", meminfo, "proc/self/cgroup", inGroup, group, "1073741824\n"), math.MaxInt64, gib},
		{"cgroup without a limit", machine("proc/meminfo", meminfo, "proc/self/cgroup", inGroup, group, "max\n"), math.MaxInt64, 8 * gib},
		{"limit of the parent", machine("proc/self/cgroup", inGroup, group, "9000\n", "sys/fs/cgroup/app/memory.max", "4096\n"), math.MaxInt64, 4096},
		{"cgroup v1", machine("proc/self/cgroup", "4:memory:/x\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes", "8000\n"), math.MaxInt64, 8000},
	} {
		if got, ok := totalFor(tc.root, tc.limit); ok != (tc.want > 0) || ok && got != tc.want {
			t.Errorf("%s: %d, %t, want %d", tc.name, got, ok, tc.want)
		}
	}
}

func TestRoomIsTheLeastOfAllLimits(t *testing.T) {
	for _, tc := range []struct {
		name   string
		root   fs.FS
		use    usage
		limit  int64
		want   uint64
		source string
	}{
		{"nothing known", machine(), usage{}, math.MaxInt64, addressSpace, "the address space"},
		{"nothing known, heap in use", machine(), usage{heap: gib}, math.MaxInt64, addressSpace - gib, "the address space"},
		{"total only", machine("proc/meminfo", "MemTotal: 1024 kB\n"), usage{}, math.MaxInt64, 1 << 20, "the machine's free memory"},
		{"broken meminfo", machine("proc/meminfo", "MemTotal: lots kB\nMemAvailable:\n"), usage{}, math.MaxInt64, addressSpace, "the address space"},
		{"GOMEMLIMIT", machine("proc/meminfo", meminfo), usage{heap: gib / 4}, gib, gib * 3 / 4, "GOMEMLIMIT"},
		{"GOMEMLIMIT passed", machine(), usage{heap: 2 * gib}, gib, 0, "the address space"},
		{"GOMEMLIMIT of nothing", machine(), usage{}, 0, 0, "GOMEMLIMIT"},
		{
			"cgroup", machine("proc/meminfo", meminfo, "proc/self/cgroup", inGroup,
				"sys/fs/cgroup/app/worker/memory.max", "1073741824\n", "sys/fs/cgroup/app/worker/memory.current", "268435456\n"),
			usage{},
			math.MaxInt64, gib * 3 / 4, "the cgroup's memory.max",
		},
		{
			"cgroup full of files", machine("proc/self/cgroup", inGroup,
				"sys/fs/cgroup/app/worker/memory.max", "1073741824\n", "sys/fs/cgroup/app/worker/memory.current", "1073741824\n",
				"sys/fs/cgroup/app/worker/memory.stat", "anon 7\ninactive_file 268435456\nactive_file 268435456\n"),
			usage{},
			math.MaxInt64, gib / 2, "the cgroup's memory.max",
		},
		{
			"limit of the parent", machine("proc/self/cgroup", inGroup,
				"sys/fs/cgroup/app/worker/memory.max", "max\n", "sys/fs/cgroup/app/worker/memory.current", "1\n",
				"sys/fs/cgroup/app/memory.max", "4096\n", "sys/fs/cgroup/app/memory.current", "96\n"),
			usage{},
			math.MaxInt64, 4000, "the cgroup's memory.max",
		},
		{
			"root of a container", machine("proc/self/cgroup", "0::/\n",
				"sys/fs/cgroup/memory.max", "5000\n", "sys/fs/cgroup/memory.current", "6000\n"),
			usage{},
			math.MaxInt64, 0, "the cgroup's memory.max",
		},
		{
			"cgroup v1", machine("proc/self/cgroup", "5:cpu,cpuacct:/\n4:memory:/app/worker\n0::/\n",
				"sys/fs/cgroup/memory/app/worker/memory.limit_in_bytes", "1073741824\n", "sys/fs/cgroup/memory/app/worker/memory.usage_in_bytes", "805306368\n",
				"sys/fs/cgroup/memory/app/worker/memory.stat", "active_file 7\ntotal_inactive_file 268435456\ntotal_active_file 268435456\n"),
			usage{},
			math.MaxInt64, gib * 3 / 4, "the cgroup's memory.limit_in_bytes",
		},
		{
			"cgroup v1 in a container", machine("proc/self/cgroup", "4:blkio,memory:/docker/17ab\n",
				"sys/fs/cgroup/memory/memory.limit_in_bytes", "5000\n", "sys/fs/cgroup/memory/memory.usage_in_bytes", "1000\n"),
			usage{},
			math.MaxInt64, 4000, "the cgroup's memory.limit_in_bytes",
		},
		{
			"cgroup v1, limit of the parent", machine("proc/self/cgroup", "4:memory:/app/worker\n",
				"sys/fs/cgroup/memory/app/worker/memory.limit_in_bytes", "9223372036854771712\n", "sys/fs/cgroup/memory/app/worker/memory.usage_in_bytes", "1000\n",
				"sys/fs/cgroup/memory/app/memory.limit_in_bytes", "8000\n", "sys/fs/cgroup/memory/app/memory.usage_in_bytes", "1000\n"),
			usage{},
			math.MaxInt64, 7000, "the cgroup's memory.limit_in_bytes",
		},
		{
			"both versions", machine("proc/self/cgroup", "4:memory:/x\n0::/y\n",
				"sys/fs/cgroup/memory/x/memory.limit_in_bytes", "8000\n", "sys/fs/cgroup/memory/x/memory.usage_in_bytes", "0\n",
				"sys/fs/cgroup/y/memory.max", "6000\n", "sys/fs/cgroup/y/memory.current", "0\n"),
			usage{},
			math.MaxInt64, 6000, "the cgroup's memory.max",
		},
		{"group without files", machine("proc/self/cgroup", "4:memory:/x\nodd\n"), usage{}, math.MaxInt64, addressSpace, "the address space"},
		{"group outside", machine("proc/self/cgroup", "0::/../../x\n"), usage{}, math.MaxInt64, addressSpace, "the address space"},
	} {
		got := limitFor(tc.root, tc.use, tc.limit)
		if got.bytes != tc.want || (got.bytes > 0 && got.source != tc.source) {
			t.Errorf("%s: %d by %s, want %d by %s", tc.name, got.bytes, got.source, tc.want, tc.source)
		}
	}
}

func TestUnusedHeapCountsAndOwedHeapDoesNot(t *testing.T) {
	root := machine("proc/meminfo", "MemAvailable: 1048576 kB\n")
	for _, tc := range []struct {
		name string
		use  usage
		want uint64
	}{
		{"resident memory unknown", usage{heap: gib / 2}, gib},
		{"all in use is resident", usage{heap: gib / 2, resident: gib / 2, known: true}, gib},
		{"heap keeps pages it does not use", usage{heap: gib / 4, resident: gib / 2, known: true}, gib * 5 / 4},
		{"blocks taken, not touched", usage{heap: gib * 3 / 4, resident: gib / 4, known: true}, gib / 2},
		{"more owed than there is", usage{heap: 2 * gib, resident: 0, known: true}, 0},
	} {
		// The address space of small systems is not what is tested here.
		got := tc.use.correct(gib)
		if got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
	if free, ok := available(root); !ok || free != gib {
		t.Errorf("available = %d, %t", free, ok)
	}
}

func TestResidentLeavesSharedPagesOut(t *testing.T) {
	page := uint64(os.Getpagesize())
	for text, want := range map[string]uint64{"900 100 30 1 0 2 0\n": 70 * page, "9 3 5\n": 0} {
		if got, ok := residentBytes(machine("proc/self/statm", text)); !ok || got != want {
			t.Errorf("%q: %d, %t, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "1 2", "1 x 3", "1 2 x"} {
		if _, ok := residentBytes(machine("proc/self/statm", text)); ok {
			t.Errorf("%q is taken for numbers", text)
		}
	}
}

// TestGarbageIsCollectedBeforeRefusing has a machine that says yes when asked the
// second time.
func TestGarbageIsCollectedBeforeRefusing(t *testing.T) {
	sink = make([]uint64, 1<<17)
	defer func() { sink = nil }()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	asked := 0
	ask := func() limit {
		asked++
		return limit{1000 + uint64(asked), "a test"}
	}
	var a allowance
	if err := a.fits(1002, ask); err != nil || asked != 2 {
		t.Errorf("asked %d times, error %v", asked, err)
	}
	runtime.ReadMemStats(&after)
	if after.NumGC == before.NumGC {
		t.Error("nothing was collected")
	}
}

// TestFullProcessesCollectNowAndThen asks a machine that has nothing many times.
func TestFullProcessesCollectNowAndThen(t *testing.T) {
	sink = make([]uint64, 1<<17)
	defer func() { sink = nil }()
	var a allowance
	a.rest.Store(math.MaxInt64)
	asked := 0
	if err := a.fits(100, func() limit { asked++; return limit{99, "a test"} }); !errors.Is(err, ErrMemory) || asked != 1 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}

// TestSmallRequestsAddUp takes small blocks until the machine has no more. It must be
// asked in time, and not for each.
func TestSmallRequestsAddUp(t *testing.T) {
	const total, each = 100 << 20, 10_000
	var a allowance
	taken, asked := uint64(0), 0
	ask := func() limit {
		asked++
		return limit{minus(total, taken), "a test"}
	}
	var err error
	for ; err == nil; taken += each {
		err = a.fits(each, ask)
	}
	if taken -= each; taken > total || taken < total*99/100 || asked > 2000 {
		t.Errorf("%d of %d bytes were granted, asked %d times", taken, total, asked)
	}
	if err := a.fits(total-taken, ask); err != nil {
		t.Errorf("what fits is refused: %v", err)
	}
}

func TestHopelessRequestsCollectNothing(t *testing.T) {
	asked := 0
	err := new(allowance).fits(1<<45, func() limit { asked++; return limit{1000, "a test"} })
	if !errors.Is(err, ErrMemory) || asked != 1 {
		t.Errorf("asked %d times, error %v", asked, err)
	}
}

func TestThisMachineHasPlausibleRoom(t *testing.T) {
	r := machineLimit()
	if r.source == "" || r.bytes > addressSpace {
		t.Errorf("%+v", r)
	}
	runtime.GC() // the first one counts the objects of a new process
	use := heapUsage()
	if use.heap == 0 || use.objects == 0 || use.objects > use.heap {
		t.Errorf("%+v", use)
	}
}
