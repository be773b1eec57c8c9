package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/everbloom-go/everbloom/internal/fault"
	"github.com/everbloom-go/everbloom/server/load"
)

// node is a server that was started.
type node struct {
	dir, addr, web string
	cmd            *exec.Cmd
}

// servers are the nodes of one cluster, or one node alone.
type servers struct {
	dir   string
	nodes []*node
	stop  context.CancelFunc
}

const (
	startTime = 2 * time.Minute // for a cluster to have leaders
	stopTime  = 20 * time.Second
	lookAgain = 200 * time.Millisecond
)

// start starts the nodes of a plan and waits until all partitions have leaders. End stops
// them.
func start(ctx context.Context, p plan) (s *servers, err error) {
	run, stop := context.WithCancel(ctx)
	s = &servers{stop: stop}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.end())
		}
	}()
	if s.dir, err = os.MkdirTemp("", "everbloom-scale-"); err != nil {
		return s, err
	}
	addrs, err := freeAddresses(3 * p.nodes)
	program, bad := os.Executable()
	if err = errors.Join(err, bad); err != nil {
		return s, err
	}
	var peers []string
	for i := range p.nodes {
		peers = append(peers, fmt.Sprintf("n%d=%s", i, addrs[3*i]))
	}
	for i := range p.nodes {
		n := &node{dir: filepath.Join(s.dir, strconv.Itoa(i)), addr: addrs[3*i+1], web: addrs[3*i+2]}
		args := []string{"serve", "--dir", n.dir, "--addr", n.addr, "--http", n.web}
		if p.nodes > 1 {
			copies := map[bool]string{true: "all", false: "1"}[p.all]
			args = append(args, "--member", fmt.Sprint("n", i), "--peers", strings.Join(peers, ","), "--partitions", strconv.Itoa(p.partitions), "--copies", copies)
		}
		n.cmd = exec.CommandContext(run, program, args...)
		n.cmd.Cancel = func() error { return n.cmd.Process.Signal(os.Interrupt) }
		n.cmd.WaitDelay = stopTime
		if err := n.cmd.Start(); err != nil {
			return s, err
		}
		s.nodes = append(s.nodes, n)
	}
	return s, s.wait(ctx, p)
}

// freeAddresses returns addresses that nothing listens at.
func freeAddresses(count int) (out []string, err error) {
	for range count {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }() // the address is what counts
		out = append(out, l.Addr().String())
	}
	return out, nil
}

// end stops all nodes and removes their folders.
func (s *servers) end() error {
	s.stop()
	for _, n := range s.nodes {
		_ = n.cmd.Wait() // how it ended says nothing: it was interrupted
	}
	return os.RemoveAll(s.dir)
}

// wait waits until all nodes answer and all partitions have a leader.
func (s *servers) wait(ctx context.Context, p plan) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		writable, leaders := 0.0, 0.0
		for _, n := range s.nodes {
			m, _ := n.metrics(ctx) // not yet, if it does not answer
			writable, leaders = writable+m["everbloom_writable"], leaders+m[led]
		}
		if int(writable) == p.nodes && (p.nodes == 1 || int(leaders) == p.partitions) {
			return nil
		}
		if ctx.Err() != nil {
			return fault.In("cluster", "%.0f of %d servers serve, and %.0f of %d partitions have leaders: %w", writable, p.nodes, leaders, p.partitions, ctx.Err())
		}
		time.Sleep(lookAgain)
	}
}

// What nodes and the system tell. Led is how many partitions a node leads.
const (
	records, effects, waited = "everbloom_log_records_total", "everbloom_log_effects_total", "everbloom_log_wait_seconds_total"
	cpu, received, written   = "process_cpu_seconds_total", "rchar:", "write_bytes:"
	led, seconds, busy       = "led", "seconds", "busy"
)

// metrics returns what a node tells, and what the system knows about its process.
func (n *node) metrics(ctx context.Context) (map[string]float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.web+"/metrics", http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(answer.Body)
	used, bad := os.ReadFile(fmt.Sprintf("/proc/%d/io", n.cmd.Process.Pid))
	return readMetrics(string(text) + string(used)), errors.Join(err, bad, answer.Body.Close())
}

// readMetrics reads lines of names and numbers.
func readMetrics(text string) map[string]float64 {
	m := map[string]float64{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if v, err := strconv.ParseFloat(value, 64); err == nil { // else it is a comment
			m[name] = v
			if strings.HasPrefix(name, "everbloom_partition_lease_seconds{") && v > 0 {
				m[led]++
			}
		}
	}
	return m
}

// look returns the metrics of all nodes, and then what this process and the machine have
// used.
func (s *servers) look(ctx context.Context) (all []map[string]float64, err error) {
	for _, n := range s.nodes {
		m, bad := n.metrics(ctx)
		all, err = append(all, m), errors.Join(err, bad)
	}
	own, bad := load.ProcessCPU(os.Getpid())()
	text, worse := os.ReadFile("/proc/stat")
	return append(all, map[string]float64{seconds: float64(time.Now().UnixMicro()) / second, cpu: own.Seconds(), busy: readBusy(string(text))}), errors.Join(err, bad, worse)
}

// readBusy returns how many seconds the processors have worked for any program.
func readBusy(text string) (sum float64) {
	const user, idle, wait, last, ticks = 1, 4, 5, 8, 100
	line, _, _ := strings.Cut(text, "\n")
	for i, f := range strings.Fields(line) {
		if i >= user && i <= last && i != idle && i != wait {
			v, _ := strconv.ParseFloat(f, 64) // the system writes numbers
			sum += v / ticks
		}
	}
	return sum
}

// hasLog reports whether the node has a copy of the log of the first partition.
func (n *node) hasLog() bool {
	found, err := filepath.Glob(filepath.Join(n.dir, "cluster", "jetstream", "jetstream", "*", "streams", "everbloom-log-0"))
	return err == nil && len(found) > 0
}

// reserve makes a filter at a node.
func (s *servers) reserve(ctx context.Context, at int, key string, keys int) error {
	addr := s.nodes[at%len(s.nodes)].addr
	return load.Prepare(ctx, load.Config{}, load.Target{Name: addr, Addr: addr, Prepare: fmt.Sprintf("BF.RESERVE %s 0.01 %d", key, keys)})
}
