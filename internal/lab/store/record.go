package store

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// version of the stored form. Results can be found again, so older ones are not
// read.
const version = 2

// Record is a result and how it came about.
type Record struct {
	Version int        `json:"version"`
	ID      string     `json:"id"`
	Full    bool       `json:"full"`
	Params  []Setting  `json:"params"`
	Seed    uint64     `json:"seed"`
	Origin  Origin     `json:"origin"`
	Workers int        `json:"workers"`
	Started time.Time  `json:"started"`
	Seconds float64    `json:"seconds"`
	Result  lab.Result `json:"result"`

	// Data are the files of real data that were there for the experiment.
	Data []lab.DataFile `json:"data,omitempty"`
}

// Setting is a parameter as text.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Settings writes parameters down.
func Settings(p lab.Params) []Setting {
	out := make([]Setting, len(p))
	for i, param := range p {
		out[i] = Setting{param.Name, param.String()}
	}
	return out
}

// Mode is the word for quick or full.
func (r *Record) Mode() string {
	if r.Full {
		return "full"
	}
	return "quick"
}

// Current reports whether the experiment still has the parameters of the record.
func (r *Record) Current(x lab.Experiment) bool {
	return slices.Equal(r.Params, Settings(x.Params.In(r.Full)))
}

// Repeats reports whether a run with this environment and program would only
// repeat the record. Of the folder with data only the files count that the
// experiment can use, by their names and sizes.
func (r *Record) Repeats(x lab.Experiment, e *lab.Env, commit string) bool {
	return r.Full == e.Full && r.Current(x) && r.Seed == e.Seed && r.Origin.Commit == commit && slices.Equal(r.Data, x.Files(e.Data))
}

// Took is how long the run took, as people read it.
func (r *Record) Took() string { return quantity.Duration(time.Duration(r.Seconds * 1e9)) }

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
