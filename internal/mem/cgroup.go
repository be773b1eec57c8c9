package mem

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// A cgroup is where one version of control groups keeps a process's limit of memory. A
// machine may have both, of which one has the memory.
type cgroup struct {
	mount          string
	controller     string // in its line of /proc/self/cgroup; empty for the version that has one hierarchy
	limit, current string // files
	active, idle   string // fields of memory.stat: file pages, which are counted but given up when memory is short
}

var (
	unified = cgroup{"sys/fs/cgroup", "", "memory.max", "memory.current", "active_file", "inactive_file"}
	legacy  = cgroup{
		"sys/fs/cgroup/memory", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
		"total_active_file", "total_inactive_file",
	}
)

// least walks from the process's own group to the root, as every level may have a limit, and
// returns the least of what is in them. In a container the path of the group may lead
// nowhere, and the root is the group itself.
func (c cgroup) least(root fs.FS, in func(root fs.FS, dir string) (uint64, bool)) (least uint64, found bool) {
	name, ok := c.group(root)
	for dir := path.Join(c.mount, name); ok && strings.HasPrefix(dir, c.mount); dir = path.Dir(dir) {
		if n, limited := in(root, dir); limited && (!found || n < least) {
			least, found = n, true
		}
	}
	return least, found
}

// group returns the group of the process. A line has a number, controllers and the
// group, with colons between.
func (c cgroup) group(root fs.FS) (string, bool) {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(text)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) == 3 && slices.Contains(strings.Split(part[1], ","), c.controller) {
			return part[2], true
		}
	}
	return "", false
}

// limitIn returns the limit of one group. The older version has a huge number where there is
// none.
func (c cgroup) limitIn(root fs.FS, dir string) (uint64, bool) {
	limit, ok := readNumber(root, path.Join(dir, c.limit))
	return limit, ok && limit <= 1<<62
}

// leftIn returns what one group has left.
func (c cgroup) leftIn(root fs.FS, dir string) (uint64, bool) {
	limit, ok := c.limitIn(root, dir)
	if !ok {
		return 0, false
	}
	current, ok2 := readNumber(root, path.Join(dir, c.current))
	active, _ := readField(root, path.Join(dir, "memory.stat"), c.active)
	idle, _ := readField(root, path.Join(dir, "memory.stat"), c.idle)
	return minus(limit, minus(current, active+idle)), ok2
}
