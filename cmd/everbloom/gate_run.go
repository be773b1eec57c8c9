package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/terminal"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// gateInput is what the flags say about the packets to be read.
type gateInput struct {
	options packets.Options
	format  string
}

func (g *gateInput) inputFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&g.format, "format", "auto", "`FORMAT` of the inputs: auto, binary (8-byte records, not compressed), text or capture (pcap, pcapng)")
	f.BoolVar(&g.options.Reassemble, "reassemble", false, "put TCP segments together before they are cut into words")
	complete(cmd, "format", "auto", "binary", "text", "capture")
}

// readInputs has a session judge all inputs; none means the standard input. What was
// judged before an error stays judged.
func (e *env) readInputs(ctx context.Context, s *gateSession, g *gateInput, paths []string, quiet bool) (err error) {
	if g.options.Format, err = packets.ParseFormat(g.format); err != nil {
		return err
	}
	if named := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return p != lines.Stdin }); len(named) > 1 {
		return within(lines.Stdin, "the standard input is named twice: name it once")
	}
	var done atomic.Int64
	total := sizeOf(paths)
	bar := e.progress(quiet, func() terminal.State {
		return terminal.State{Label: "judge", Bytes: true, Done: done.Load(), Total: total, Keys: s.packets.Load()}
	})
	defer bar.Stop()
	if len(paths) == 0 {
		return readInput(ctx, s, g.options, countingReader{e.stdin, &done})
	}
	for _, path := range paths {
		err := e.fromInput(path, func(r io.Reader) error {
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
	defer func() { s.skipped += packets.Skipped(reader) }()
	return s.read(ctx, reader)
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
compressed by gzip; - is the standard input, and so is none. Of a capture, the
source is the IP address, and the words are the payload of the transport in
steps of 4 bytes.

A line of text that is a question mark and an address is a query: it is answered
by bad, good or none.

If an input is damaged, what was read before counts, and the exit status is 2.`,
		Example: `  everbloom gate run --patterns bad.txt --blacklist ips.txt --users 1M t.bin
  everbloom gate run --patterns bad.txt --verdicts capture.pcapng.gz
  everbloom gate run --patterns bad.txt --log log.json --html gate.html *.pcap
  everbloom gate run --kind dleft --memory 16M --queries ask.txt traffic.txt`,
		RunE: verb(g.run),
	}
	cmd.Flags().Var(countFlag(&g.Users), "users", "number of sources expected (default 100000)")
	g.makeFlags(cmd)
	g.fileFlags(cmd)
	g.inputFlags(cmd)
	g.outputFlags(cmd)
	cmd.Flags().BoolVar(&g.verdicts, "verdicts", false, "print a line for every packet: number, source, verdict, reason")
	cmd.Flags().StringVar(&g.log, "log", "", "write strikes and bans to `FILE`, a JSON object per line")
	cmd.Flags().StringVar(&g.queries, "queries", "", "answer the addresses in `FILE` in the end")
	return cmd
}

// check refuses what would mix two things in the standard output.
func (g *gateRun) check() error {
	if !g.json {
		return g.checkValues()
	}
	if g.verdicts {
		return errors.New("--verdicts: not together with --json, which prints one object: take --log for events")
	}
	if g.log == lines.Stdin {
		return errors.New("--log: the standard output is taken by --json: name a file")
	}
	return g.checkValues()
}

// run tells what was judged also if an input turns out to be damaged, or if it is
// interrupted.
func (g *gateRun) run(ctx context.Context, args []string) error {
	if err := errors.Join(g.check(), g.read()); err != nil {
		return err
	}
	s, err := newGateSession(g.Config, false)
	if err != nil {
		return err
	}
	if err := g.openPage(g.env); err != nil {
		return err
	}
	defer g.abandon()
	s.out = bufio.NewWriter(g.stdout)
	s.verdicts, s.answers = g.verdicts, !g.json
	err = g.logged(s, func() error { return g.readInputs(ctx, s, &g.gateInput, args, g.quiet || g.verdicts) })
	if g.queries != "" {
		err = errors.Join(err, s.askAll(g.queries))
	}
	g.warn(s, &g.gateFlags)
	if failed := s.out.Flush(); failed != nil {
		return errors.Join(err, failed) // and so would the summary
	}
	return errors.Join(stopped(err), g.tell(g.stdout, s.summary(args, 0)))
}

// stopped says of an interrupted verb that what it had done was told.
func stopped(err error) error {
	if errors.Is(err, context.Canceled) {
		return &partial{err, "what was judged before is told"}
	}
	return err
}

// logged runs do with the event log open, if one is wanted. What was logged stays,
// whatever happens.
func (g *gateRun) logged(s *gateSession, do func() error) error {
	if g.log == "" {
		return do()
	}
	file, err := g.create(g.log)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	if file.file == nil {
		w = s.out // in turn with what else is printed
	}
	s.log = json.NewEncoder(w)
	err = do()
	if failed := w.Flush(); failed != nil && file.file != nil {
		return errors.Join(err, file.finish(failed))
	}
	return errors.Join(err, file.finish(nil))
}
