// Package origin describes where a result comes from: the code and the machine,
// as far as they matter and as far as they may be published. Names of hosts,
// users and folders are not among them.
package origin

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

// Origin is what a result owes to the place where it was found.
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
	return Origin{
		Commit: commit(),
		CPU:    cpu(),
		Cores:  runtime.NumCPU(),
		System: runtime.GOOS + "/" + runtime.GOARCH,
		Go:     runtime.Version(),
	}
})

func (o Origin) String() string {
	return fmt.Sprintf("%s, %d cores, %s, %s", o.CPU, o.Cores, o.System, o.Go)
}

func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return commitOf(info.Settings, checksum)
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

// checksum is a part of that of the running program, empty if it cannot be read.
func checksum() string {
	name, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // only read
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:4])
}

// cpu is the model as Linux names it; other systems say less.
func cpu() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer func() { _ = f.Close() }() // only read
	return cpuModel(f)
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
