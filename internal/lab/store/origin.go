package store

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

// Origin is what a result owes to the code and the machine, as far as it may be
// published: names of hosts, users and folders are not in it.
type Origin struct {
	Commit string `json:"commit"` // see Here
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	System string `json:"system"` // "linux/amd64"
	Go     string `json:"go"`
}

// Here describes this program and this machine. The commit is that from which the
// program was built; if the tree had changes, or nothing is known about it, a part
// of the program's own checksum is added, so that two builds never pass for one.
func Here() Origin { return here() }

var here = sync.OnceValue(func() Origin {
	o := Origin{CPU: runtime.GOARCH, Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	o.Commit = commitOf(info.Settings, checksum)
	if f, err := os.Open("/proc/cpuinfo"); err == nil { // other systems than Linux say less
		o.CPU = cpuModel(f)
		_ = f.Close() // only read
	}
	return o
})

func (o Origin) String() string {
	return fmt.Sprintf("%s, %d cores, %s, %s", o.CPU, o.Cores, o.System, o.Go)
}

// shortCommit is how many digits of a commit are shown; twelve are unique.
const shortCommit = 12

func commitOf(settings []debug.BuildSetting, checksum func() string) string {
	revision, modified := "unknown", true
	for _, s := range settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value[:min(shortCommit, len(s.Value))]
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	if !modified {
		return revision
	}
	return revision + " with changes, build " + checksum()
}

// checksum is a part of that of the running program, of nothing if it cannot be read.
func checksum() string {
	sum := sha256.New()
	if name, err := os.Executable(); err == nil {
		if f, err := os.Open(name); err == nil {
			_, _ = io.Copy(sum, f)
			_ = f.Close() // only read
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:4])
}

func cpuModel(r io.Reader) string {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		name, value, found := strings.Cut(lines.Text(), ":")
		if found && strings.TrimSpace(name) == "model name" {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return runtime.GOARCH
}
