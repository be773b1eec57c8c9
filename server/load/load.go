// Package load measures servers of the Redis protocol: it sends the same commands over the
// same number of connections to several of them in turns, and says how many they answer
// and how long that takes.
package load

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Config says what to send.
type Config struct {
	Connections int           // that send at the same time
	Pipeline    int           // commands that are sent at once
	Duration    time.Duration // of one turn
	Items       uint64        // different items
	Seed        uint64
}

// A Target is a server and a command. In the command, {item} stands for a random item.
type Target struct {
	Name    string
	Addr    string
	Prepare string // what is sent before, to make or fill a set; may be empty
	Command string

	Web      string // address of HTTP, for consoles
	Consoles int    // that are open during a turn

	// CPU returns the processor time that the server has used; nil if it is unknown.
	CPU func() (time.Duration, error)
}

// A Result is what a target did in one turn.
type Result struct {
	Operations int
	Took       time.Duration
	CPU        time.Duration // 0 if it is unknown
	latencies  []time.Duration
}

// Rate returns operations per second.
func (r Result) Rate() float64 { return float64(r.Operations) / r.Took.Seconds() }

// PerCPU returns operations per second of processor time, 0 if that is unknown.
func (r Result) PerCPU() float64 {
	if r.CPU <= 0 {
		return 0
	}
	return float64(r.Operations) / r.CPU.Seconds()
}

// Latency returns the time of a pipeline at a quantile.
func (r Result) Latency(q float64) time.Duration {
	if len(r.latencies) == 0 {
		return 0
	}
	slices.Sort(r.latencies)
	return r.latencies[min(int(q*float64(len(r.latencies))), len(r.latencies)-1)]
}

// Prepare sends a target what prepares it: for one turn, or once if it is about no item.
func Prepare(ctx context.Context, c Config, t Target) error {
	t.Command = t.Prepare
	switch {
	case t.Prepare == "":
		return nil
	case !strings.Contains(t.Prepare, item):
		return once(ctx, t)
	}
	c.Pipeline = preparePipeline
	_, err := Run(ctx, c, t)
	return err
}

// once sends the command of a target, which may be answered with anything but an error.
func once(ctx context.Context, t Target) error {
	conn, end, err := connect(ctx, t, time.Now())
	if err != nil {
		return err
	}
	defer end()
	if _, err := conn.Write(appendCommand(nil, strings.Fields(t.Command), 0)); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadSlice('\n')
	if err == nil && line[0] == '-' {
		err = fmt.Errorf("load: %s answers %s with %q", t.Name, t.Command, line)
	}
	return err
}

const (
	preparePipeline = 64
	item            = "{item}" // stands for a random item in commands
)

// connect connects to a target. The connection ends with ctx, and when the target does not
// answer for a while after a turn.
func connect(ctx context.Context, t Target, turn time.Time) (conn net.Conn, end func(), err error) {
	if conn, err = new(net.Dialer).DialContext(ctx, "tcp", t.Addr); err != nil {
		return nil, nil, err
	}
	_ = conn.SetDeadline(turn.Add(askTime)) // a connection that was just made is open
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return conn, func() {
		stop()
		_ = conn.Close() // nothing is left to be sent
	}, nil
}

// Run sends commands to a target for one turn.
func Run(ctx context.Context, c Config, t Target) (Result, error) {
	closeAll, err := t.open(ctx)
	if err != nil {
		return Result{}, err
	}
	defer closeAll()
	before, err := cpu(t)
	if err != nil {
		return Result{}, err
	}
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		total Result
		first error
	)
	started := time.Now()
	for i := range c.Connections {
		wg.Go(func() {
			r, err := send(ctx, c, t, uint64(i), started.Add(c.Duration))
			mu.Lock()
			defer mu.Unlock()
			total.Operations += r.Operations
			total.latencies = append(total.latencies, r.latencies...)
			if first == nil {
				first = err
			}
		})
	}
	wg.Wait()
	total.Took = time.Since(started)
	after, err := cpu(t)
	if first == nil {
		first = err
	}
	if ctx.Err() != nil {
		first = ctx.Err()
	}
	total.CPU = after - before
	return total, first
}

func cpu(t Target) (time.Duration, error) {
	if t.CPU == nil {
		return 0, nil
	}
	return t.CPU()
}

// send is one connection, which sends until a turn ends.
func send(ctx context.Context, c Config, t Target, number uint64, turn time.Time) (r Result, err error) {
	conn, end, err := connect(ctx, t, turn)
	if err != nil {
		return r, err
	}
	defer end()
	rng := rand.New(rand.NewPCG(c.Seed, number))
	replies := bufio.NewReaderSize(conn, 64<<10)
	words := strings.Fields(t.Command)
	var b []byte
	for time.Now().Before(turn) {
		b = b[:0]
		for range c.Pipeline {
			b = appendCommand(b, words, rng.Uint64N(max(c.Items, 1)))
		}
		started := time.Now()
		if _, err := conn.Write(b); err != nil {
			return r, err
		}
		for range c.Pipeline {
			line, err := replies.ReadSlice('\n')
			if err != nil {
				return r, err
			}
			if line[0] == '-' || line[0] == '$' || line[0] == '*' {
				return r, fmt.Errorf("load: %s answers %s with %q: name a command that is answered with a number", t.Name, t.Command, line)
			}
		}
		r.latencies = append(r.latencies, time.Since(started))
		r.Operations += c.Pipeline
	}
	return r, nil
}

// appendCommand appends a command about an item.
func appendCommand(b []byte, words []string, number uint64) []byte {
	b = append(b, '*')
	b = strconv.AppendInt(b, int64(len(words)), 10)
	b = append(b, '\r', '\n')
	for _, w := range words {
		if strings.Contains(w, item) {
			w = strings.ReplaceAll(w, item, strconv.FormatUint(number, 10))
		}
		b = append(b, '$')
		b = strconv.AppendInt(b, int64(len(w)), 10)
		b = append(b, '\r', '\n')
		b = append(b, w...)
		b = append(b, '\r', '\n')
	}
	return b
}
