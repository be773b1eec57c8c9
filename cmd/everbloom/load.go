package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/internal/quantity"
	"github.com/everbloom-go/everbloom/server/load"
)

// loadVerb measures servers.
type loadVerb struct {
	*env
	load.Config
	rounds       int
	command      string
	other        string
	otherCommand string
	prepare      string
	otherPrepare string
	logs         []string
	consoles     int
}

func newLoad(e *env) *cobra.Command {
	l := &loadVerb{env: e}
	cmd := &cobra.Command{
		Use:     "load",
		GroupID: groupServe,
		Short:   "Measure a server beside others",
		Long: `Start servers with different logs, send them the same commands in turns, and
print how many they answer: with the log that everbloom serve has, with a plain
file in its place, and with a log in memory that forgets. --other names a server
that runs already, to compare with. The shares are those of the first row's rate
and of its rate per second of processor time.

--consoles adds a row: the first server again, while so many pages of its
console are open, and what these take while no command is sent.

In commands, {item} stands for a random item. They must be answered with a
number, as BF.ADD, BF.EXISTS, SETBIT and SADD are. What --prepare says is sent
for one turn before all others, or once if it is about no item.`,
		Example: `  everbloom load
  everbloom load --prepare 'BF.ADD s {item}' --command 'BF.EXISTS s {item}'
  everbloom load --prepare 'BF.RESERVE load 0.01 10000000' --pipeline 64
  everbloom load --consoles 10 --rounds 9 --logs memory
  everbloom load --other 127.0.0.1:6379 --other-command 'SADD load {item}'`,
		Args: noArguments("say what to send with --command"),
		RunE: verb(l.run),
	}
	f := cmd.Flags()
	f.IntVar(&l.Connections, "connections", 50, "connections that send at the same time")
	f.IntVar(&l.Pipeline, "pipeline", 16, "commands that are sent at once")
	f.DurationVar(&l.Duration, "duration", time.Second, "time of one turn")
	f.IntVar(&l.rounds, "rounds", 3, "turns of each server; the median counts")
	l.Items = 10_000_000
	f.Var(countFlag(&l.Items), "items", "different items")
	f.StringVar(&l.command, "command", "BF.ADD load {item}", "what to send")
	f.StringVar(&l.prepare, "prepare", "", "what to send first, to make or fill a set")
	f.StringSliceVar(&l.logs, "logs", []string{"jetstream", "file", "memory"}, "logs to start servers with")
	f.IntVar(&l.consoles, "consoles", 0, "pages of the console of the first server that are open, in a row of their own")
	f.StringVar(&l.other, "other", "", "`ADDRESS` of another server")
	f.StringVar(&l.otherCommand, "other-command", "", "what to send to that one (default: the same)")
	f.StringVar(&l.otherPrepare, "other-prepare", "", "what to send to that one first (default: the same)")
	return cmd
}

// run measures the servers in turns.
func (l *loadVerb) run(ctx context.Context, _ []string) error {
	switch {
	case l.Connections < 1 || l.Pipeline < 1 || l.rounds < 1 || l.Duration <= 0:
		return fmt.Errorf("connections, pipeline, rounds and duration must be above 0")
	case l.consoles < 0 || l.consoles > 0 && len(l.logs) == 0:
		return fmt.Errorf("consoles must not be below 0, and need a server that --logs starts")
	}
	dir, err := os.MkdirTemp("", "everbloom-load-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what stays is in the system's temporary folder
	var targets []load.Target
	for _, name := range l.logs {
		t, stop, err := l.start(ctx, name, filepath.Join(dir, name))
		if err != nil {
			return err
		}
		defer stop()
		targets = append(targets, t)
		if l.consoles > 0 && len(targets) == 1 {
			t.Name += fmt.Sprintf(", %d consoles", l.consoles)
			t.Consoles, t.Prepare = l.consoles, "" // it is prepared
			targets = append(targets, t)
		}
	}
	if l.other != "" {
		targets = append(targets, load.Target{
			Name: l.other, Addr: l.other, CPU: load.InfoCPU(l.other),
			Prepare: cmp.Or(l.otherPrepare, l.prepare), Command: cmp.Or(l.otherCommand, l.command),
		})
	}
	results, err := l.measure(ctx, targets)
	if err != nil {
		return err
	}
	if err := l.print(targets, results); err != nil || l.consoles == 0 {
		return err
	}
	return l.idle(ctx, targets[0], targets[1])
}

// measure gives each server its turns.
func (l *loadVerb) measure(ctx context.Context, targets []load.Target) ([][]load.Result, error) {
	for _, t := range targets {
		if err := load.Prepare(ctx, l.Config, t); err != nil {
			return nil, err
		}
	}
	results := make([][]load.Result, len(targets))
	for round := range l.rounds {
		for _, i := range l.order(round, len(targets)) {
			l.Seed = uint64(2 * round)
			if targets[i].Consoles > 0 {
				l.Seed++ // the server has the items of the other row by now
			}
			r, err := load.Run(ctx, l.Config, targets[i])
			if err != nil {
				return nil, err
			}
			results[i] = append(results[i], r)
		}
	}
	return results, nil
}

// order returns the turns of a round. Of the two rows of the same server another one is first
// in each round: what the first adds is there when the second begins.
func (l *loadVerb) order(round, targets int) []int {
	turns := make([]int, targets)
	for i := range turns {
		turns[i] = i
	}
	if l.consoles > 0 && round%2 == 1 {
		turns[0], turns[1] = 1, 0
	}
	return turns
}

// idle prints what open consoles take while no command is sent, in turns with none.
func (l *loadVerb) idle(ctx context.Context, without, with load.Target) error {
	var shares [2][]float64
	for range l.rounds {
		for i, t := range []load.Target{without, with} {
			share, err := load.Idle(ctx, t, max(l.Duration, idleTime))
			if err != nil {
				return err
			}
			shares[i] = append(shares[i], share)
		}
	}
	for _, s := range shares {
		slices.Sort(s)
	}
	none, some := shares[0][l.rounds/2], shares[1][l.rounds/2]
	_, err := fmt.Fprintf(l.stdout, "without commands: %.1f %% of a core, with %d consoles %.1f %%: %.2f %% for 100 of them\n",
		100*none, l.consoles, 100*some, 100*(some-none)*100/float64(l.consoles))
	return err
}

// idleTime is how long consoles are watched at least: processor time is told in hundredths of
// a second.
const idleTime = 3 * time.Second

// start starts a server with a log.
func (l *loadVerb) start(ctx context.Context, log, dir string) (t load.Target, stop func(), err error) {
	program, err := os.Executable()
	if err != nil {
		return t, nil, err
	}
	cmd := exec.CommandContext(ctx, program, "serve", "--log", log, "--dir", dir, "--addr", "127.0.0.1:0", "--http", l.http())
	cmd.Stderr = io.Discard
	out, err := cmd.StdoutPipe()
	if err != nil {
		return t, nil, err
	}
	if err := cmd.Start(); err != nil {
		return t, nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill() // its data is thrown away
		_ = cmd.Wait()
	}
	t = load.Target{Name: log, Prepare: l.prepare, Command: l.command, CPU: load.ProcessCPU(cmd.Process.Pid)}
	lines := bufio.NewScanner(out)
	for (t.Addr == "" || t.Web == "" && l.consoles > 0) && lines.Scan() {
		if addr, ok := strings.CutPrefix(lines.Text(), "everbloom serves at "); ok {
			t.Addr, _, _ = strings.Cut(addr, ". ")
		}
		if addr, ok := strings.CutPrefix(lines.Text(), "The console is at http://"); ok {
			t.Web, _, _ = strings.Cut(addr, "/")
		}
	}
	if t.Addr == "" || t.Web == "" && l.consoles > 0 {
		stop()
		return t, nil, fmt.Errorf("the server with log %s did not start", log)
	}
	return t, stop, nil
}

// http returns where servers show their consoles.
func (l *loadVerb) http() string {
	if l.consoles > 0 {
		return "127.0.0.1:0"
	}
	return "off"
}

// print prints a row for each server.
func (l *loadVerb) print(targets []load.Target, results [][]load.Result) error {
	w := tabwriter.NewWriter(l.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(w, "server\tops/s\tops/CPU s\tmedian\t99 %\tshare\tof CPU\t")
	var first, firstCPU float64
	for i, t := range targets {
		rate, perCPU := median(results[i], load.Result.Rate), median(results[i], load.Result.PerCPU)
		if i == 0 {
			first, firstCPU = rate, perCPU
		}
		each, share := "–", "–"
		if perCPU > 0 {
			each = quantity.Short(math.Round(perCPU))
		}
		if perCPU > 0 && firstCPU > 0 {
			share = fmt.Sprintf("%.2f", perCPU/firstCPU)
		}
		r := results[i][len(results[i])/2] // in the order of PerCPU: one turn is as good as another
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%.2f\t%s\t\n", t.Name, quantity.Short(rate), each,
			r.Latency(0.5).Round(time.Microsecond), r.Latency(0.99).Round(time.Microsecond), rate/first, share)
	}
	return w.Flush()
}

// median returns the median of a figure of all turns.
func median(turns []load.Result, figure func(load.Result) float64) float64 {
	slices.SortFunc(turns, func(a, b load.Result) int { return cmp.Compare(figure(a), figure(b)) })
	return figure(turns[len(turns)/2])
}
