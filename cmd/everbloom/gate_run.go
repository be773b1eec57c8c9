package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/gatereport"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/terminal"
	"github.com/everbloom-go/everbloom/internal/gate/event"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// gateInput is what the flags say about the packets to be read.
type gateInput struct {
	options    packets.Options
	format     string
	reassemble bool
}

func (g *gateInput) inputFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&g.format, "format", "auto", "`FORMAT` of the inputs: auto (text or capture), binary (8-byte records, not compressed), text or capture (pcap, pcapng)")
	f.BoolVar(&g.reassemble, "reassemble", true, "put TCP segments together: in order, and without those sent again")
	f.BoolVar(&g.options.Inner, "inner", false, "count packets in tunnels for their inner source, as where traffic is mirrored; a sender can make it up")
	complete(cmd, "format", "auto", "binary", "text", "capture")
}

// readInputs has a session judge all inputs; none means the standard input. What was
// judged before an error stays judged.
func (e *env) readInputs(ctx context.Context, s *gateSession, g *gateInput, paths []string, quiet bool) (err error) {
	if g.options.Format, err = packets.ParseFormat(g.format); err != nil {
		return err
	}
	g.options.Segments = !g.reassemble
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
		paths = []string{lines.Stdin}
	}
	for _, path := range paths {
		s.input = path
		err := e.fromInput(path, func(r io.Reader) error {
			return readInput(ctx, s, g.options, countingReader{r, &done})
		})
		if err != nil {
			return err
		}
	}
	return s.nothing()
}

// readInput judges one input, which may be compressed and may wait.
func readInput(ctx context.Context, s *gateSession, o packets.Options, r countingReader) error {
	in := newSlowInput(ctx, r, s.idle)
	if o.Format == packets.Binary {
		return judgeInput(ctx, s, o, in)
	}
	return lines.Unpack(in, func(text io.Reader) error { return judgeInput(ctx, s, o, text) })
}

func judgeInput(ctx context.Context, s *gateSession, o packets.Options, r io.Reader) error {
	reader, err := packets.Open(r, o)
	if err != nil {
		return err
	}
	defer func() {
		for what, n := range packets.Skipped(reader) {
			s.skipped[what] += n
		}
	}()
	return s.read(ctx, reader)
}

// nothing is an error if no input had anything to judge.
func (s *gateSession) nothing() error {
	if s.asked > 0 || s.engine.Packets() > 0 {
		return nil
	}
	text := "the inputs have no packets"
	if len(s.skipped) > 0 {
		text = "all frames were skipped: " + gatereport.Skipped(s.skipped)
	}
	return errors.New("nothing was judged: " + text)
}

// gateRun judges packets from files.
type gateRun struct {
	*env
	gateFlags
	keepFlags
	gateInput
	gateOutput
	verdicts     bool
	log, queries string
	bans         string
}

func newGateRun(e *env) *cobra.Command {
	g := &gateRun{env: e}
	cmd := &cobra.Command{
		Use:   "run [INPUT...]",
		Short: "Judge the packets of files",
		Long: `Run judges packets and tells what became of them. INPUTs are captures (pcap,
pcapng) or lines of text (an address and words of 8 hexadecimal or 32 binary
digits, with a time in front or not), possibly compressed by gzip, zstd, xz or
bzip2, or with --format binary records of 8 bytes (source and word, big endian);
- is the standard input, and so is none. Events are written as they happen, also
from a pipe that waits.

Of a capture, the source is the IP address, and patterns are found at any place
of what it sends in one conversation: fragments and TCP segments are put
together, and packets in tunnels (GRE, IP in IP, VXLAN and others) are opened.

A line of text that is a question mark and an address is a query: it is answered
by bad, good or none.

The exit status is 2 if an input is damaged, and what was read before counts, or
if nothing was judged. Otherwise it is 1 if --memory made the gate give up
bans, strikes or beginnings of patterns.`,
		Example: `  everbloom gate run --patterns bad.txt --blacklist ips.txt capture.pcap
  tcpdump -i eth0 -U -w - | everbloom gate run --patterns bad.txt --log -
  everbloom gate run --format binary --patterns bad.txt --users 1M t.bin
  everbloom gate run --patterns bad.txt --verdicts capture.pcapng.gz
  everbloom gate run --patterns bad.txt --log log.json --html gate.html *.pcap
  everbloom gate run --kind dleft --memory 16M --queries ask.txt traffic.txt`,
		RunE: verb(g.run),
	}
	cmd.Flags().Var(countFlag(&g.Users), "users", "number of sources expected (default 100000)")
	g.makeFlags(cmd)
	g.fileFlags(cmd)
	g.keepFlags.keepFlags(cmd)
	g.inputFlags(cmd)
	g.outputFlags(cmd)
	cmd.Flags().IntVar(&g.workers, "workers", 1, "judge with so many engines at once, `N`, among which sources are split; for --format binary")
	cmd.Flags().BoolVar(&g.verdicts, "verdicts", false, "print a line for every packet: number, source, verdict, reason")
	cmd.Flags().StringVar(&g.log, "log", "", "write strikes and bans to `FILE`, a JSON object per line")
	cmd.Flags().StringVar(&g.bans, "bans-out", "", "write the sources banned to `FILE`: .csv, .nft (for nft -f), .ipset (for ipset restore), else one per line")
	cmd.Flags().StringVar(&g.queries, "queries", "", "answer the addresses in `FILE` in the end")
	return cmd
}

// check refuses what would mix two things in the standard output.
func (g *gateRun) check() error {
	if g.workers < 1 || g.workers > 64 {
		return fmt.Errorf("--workers: %d must be 1 to 64", g.workers)
	}
	if g.workers > 1 && (g.format != string(packets.Binary) || g.kept()) {
		return errors.New("--workers: for --format binary, and not together with --state or --ban-for")
	}
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
	s, err := newGateSession(g.env, &g.gateFlags, &g.keepFlags, false)
	if err != nil {
		return err
	}
	if err := g.openPage(g.env); err != nil {
		return err
	}
	defer g.abandon()
	if g.html != "" {
		s.recorder.CountSources()
	}
	if g.bans != "" {
		s.recorder.KeepBans()
	}
	if g.format == string(packets.Binary) && !g.kept() {
		s.batch = newRecordBatch()
	}
	s.out = bufio.NewWriter(g.stdout)
	s.verdicts, s.answers = g.verdicts, !g.json
	err = g.logged(s, func() error {
		return s.keeping(ctx, func() error { return g.readInputs(ctx, s, &g.gateInput, args, g.quiet || g.verdicts) })
	})
	if g.queries != "" {
		err = errors.Join(err, s.askAll(g.queries))
	}
	g.warn(s, &g.gateFlags)
	if failed := g.exportBans(s); failed != nil {
		err = errors.Join(err, failed)
	}
	if failed := s.out.Flush(); failed != nil {
		return errors.Join(err, failed) // and so would the summary
	}
	if err := errors.Join(stopped(err), g.tell(g.stdout, s.summary(args, 0))); err != nil {
		return err
	}
	if s.warnOfLimit(); s.limited {
		return errNone
	}
	return nil
}

// keeping saves the state every minute while do is at work, and at its end.
func (s *gateSession) keeping(ctx context.Context, do func() error) error {
	if s.keeper == nil {
		return do()
	}
	tending, stop := context.WithCancel(ctx)
	defer stop()
	go s.keeper.Tend(tending, time.Minute, false, func(err error) { s.say("%v", err) })
	err := do()
	if failed := errors.Join(s.keeper.Save(context.WithoutCancel(ctx)), s.keeper.Close()); failed != nil {
		return errors.Join(err, failed)
	}
	return err
}

// exportBans writes the list of bans, if it is wanted.
func (g *gateRun) exportBans(s *gateSession) error {
	if g.bans == "" {
		return nil
	}
	return g.toFile(g.bans, func(w io.Writer) error { return event.Export(w, event.FormatOf(g.bans), s.recorder.Bans(), time.Now()) })
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
	s.log, s.events = json.NewEncoder(w), w
	err = do()
	if failed := w.Flush(); failed != nil && file.file != nil {
		return errors.Join(err, file.finish(failed))
	}
	return errors.Join(err, file.finish(nil))
}
