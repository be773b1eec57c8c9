package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/gatereport"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/progress"
	"github.com/everbloom-go/everbloom/gate/packets"
)

// gateInput is what the flags say about the packets to be read.
type gateInput struct {
	options packets.Options
	format  string
}

func (g *gateInput) inputFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&g.format, "format", "auto", "`FORMAT` of the inputs: auto, binary (8-byte records), text or capture (pcap, pcapng)")
	f.BoolVar(&g.options.Reassemble, "reassemble", false, "put TCP segments together before they are cut into words")
	complete(cmd, "format", "auto", "binary", "text", "capture")
}

// readInputs has a session judge all inputs; none means the standard input. What was
// judged before an error stays judged.
func (e *env) readInputs(ctx context.Context, s *gateSession, g *gateInput, paths []string, quiet bool) (err error) {
	if g.options.Format, err = packets.ParseFormat(g.format); err != nil {
		return err
	}
	var done atomic.Int64
	total := sizeOf(paths)
	bar := e.progress(quiet, func() progress.State {
		return progress.State{Label: "judge", Bytes: true, Done: done.Load(), Total: total, Keys: s.packets.Load()}
	})
	defer bar.Stop()
	if len(paths) == 0 {
		return readInput(ctx, s, g.options, countingReader{e.stdin, &done})
	}
	for _, path := range paths {
		err := fromFile(path, func(r io.Reader) error {
			return readInput(ctx, s, g.options, countingReader{r, &done})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func readInput(ctx context.Context, s *gateSession, o packets.Options, r io.Reader) error {
	reader, err := packets.Open(r, o)
	if err != nil {
		return err
	}
	return s.read(ctx, reader)
}

// gateOutput is what the flags say about what is told in the end.
type gateOutput struct {
	json  bool
	html  string
	quiet bool
}

func (g *gateOutput) outputFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&g.json, "json", false, "print the summary as a JSON object")
	f.StringVar(&g.html, "html", "", "write a report with figures to `FILE`")
	f.BoolVarP(&g.quiet, "quiet", "q", false, "no summary and no progress bar")
}

// tell prints the summary as was asked for.
func (g *gateOutput) tell(w io.Writer, s gatereport.Summary) error {
	if g.html != "" {
		if err := toFile(g.html, s.HTML); err != nil {
			return err
		}
	}
	switch {
	case g.json:
		return printJSON(w, s)
	case g.quiet:
		return nil
	}
	return s.Text(w)
}

// gateRun judges packets from files.
type gateRun struct {
	*env
	gateFlags
	gateInput
	gateOutput
	verdicts     bool
	log, queries string
}

func newGateRun(e *env) *cobra.Command {
	g := &gateRun{env: e}
	cmd := &cobra.Command{
		Use:   "run [INPUT...]",
		Short: "Judge the packets of files",
		Long: `Run judges packets and tells what became of them. INPUTs are records of 8
bytes (source and word, big endian), lines of text (an address and a word of 8
hexadecimal or 32 binary digits), or captures (pcap, pcapng), all possibly
compressed by gzip. Of a capture, the source is the IP address, and the words
are the payload of the transport in steps of 4 bytes.

A line of text that is a question mark and an address is a query: it is answered
by bad, good or none.

If an input is damaged, what was read before counts, and the exit status is 2.`,
		Example: `  everbloom gate run --patterns bad.txt --blacklist ips.txt --users 1M traffic.bin
  everbloom gate run --patterns bad.txt --verdicts capture.pcapng.gz
  everbloom gate run --patterns bad.txt --log events.json --html report.html *.pcap
  everbloom gate run --kind dleft --memory 16M --queries who.txt traffic.txt`,
		RunE: verb(g.run),
	}
	cmd.Flags().Var((*countFlag)(&g.Users), "users", "number of sources expected (default 100000)")
	g.makeFlags(cmd)
	g.fileFlags(cmd)
	g.inputFlags(cmd)
	g.outputFlags(cmd)
	cmd.Flags().BoolVar(&g.verdicts, "verdicts", false, "print a line for every packet: number, source, verdict, reason")
	cmd.Flags().StringVar(&g.log, "log", "", "write strikes and bans to `FILE`, a JSON object per line")
	cmd.Flags().StringVar(&g.queries, "queries", "", "answer the addresses in `FILE` in the end")
	return cmd
}

// run tells what was judged also if an input turns out to be damaged.
func (g *gateRun) run(ctx context.Context, args []string) error {
	if err := g.read(); err != nil {
		return err
	}
	s, err := newGateSession(g.Config, false)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(g.stdout)
	s.answers = out
	if g.verdicts {
		s.verdicts = out
	}
	err = g.logged(s, func() error { return g.readInputs(ctx, s, &g.gateInput, args, g.quiet || g.verdicts) })
	if errors.Is(err, context.Canceled) {
		return err
	}
	if g.queries != "" {
		err = errors.Join(err, s.askAll(g.queries))
	}
	return errors.Join(err, s.flush(), g.tell(g.stdout, s.summary(args, 0)))
}

// logged runs do with the event log open, if one is wanted.
func (g *gateRun) logged(s *gateSession, do func() error) error {
	if g.log == "" {
		return do()
	}
	file, err := os.Create(g.log)
	if err != nil {
		return unwritable(g.log, err)
	}
	w := bufio.NewWriter(file)
	s.log = json.NewEncoder(w)
	err = do()
	if failed := errors.Join(w.Flush(), file.Close()); failed != nil {
		err = errors.Join(err, unwritable(g.log, failed))
	}
	return err
}
