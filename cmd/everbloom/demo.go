package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/gatereport"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/growth"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// demo tells the story of a set that changes and of a gate that is made of such sets.
type demo struct {
	gateDemo
	sizes growth.Config
}

func newDemo(e *env) *cobra.Command {
	d := newDemoRun(e)
	cmd := &cobra.Command{
		Use:     "demo",
		GroupID: groupLab,
		Short:   "Show in a few seconds what filters that change can do",
		Long: `Demo grows a set a hundredfold and shrinks it again, then judges two million
generated packets with a gate that keeps its users in such sets. Every figure is
measured while it runs, and every answer is checked exactly.`,
		Example: `  everbloom demo
  everbloom demo --html demo.html`,
		Args: cobra.NoArgs,
		RunE: verb(d.run),
	}
	cmd.Flags().StringVar(&d.html, "html", "", "write a page with charts to `FILE`")
	return cmd
}

// newDemoRun has the defaults of gate demo's flags.
func newDemoRun(e *env) *demo {
	d := &demo{gateDemo: gateDemo{env: e}}
	var flags cobra.Command
	d.makeFlags(&flags)
	d.trafficFlags.trafficFlags(&flags, "", "")
	return d
}

func (d *demo) run(ctx context.Context, _ []string) error {
	_, err := d.play(ctx)
	return err
}

// play runs both acts and writes the page.
func (d *demo) play(ctx context.Context) (page gatereport.Page, err error) {
	if err := d.openPage(d.env); err != nil {
		return page, err
	}
	defer d.abandon()
	grown, err := d.grow(ctx)
	if err != nil {
		return page, err
	}
	d.line("\n2. A gate that judges packets")
	if page, err = d.show(ctx); err != nil {
		return page, err
	}
	page.Growth = &grown
	if err := d.write(page); err != nil {
		return page, err
	}
	d.conclude(page)
	return page, nil
}

// grow measures a set that grows and shrinks, a line at a time.
func (d *demo) grow(ctx context.Context) (growth.Report, error) {
	d.line(`1. A set that grows a hundredfold and shrinks again
A filter answers whether a key is in a set. Its yes may be wrong (a false positive), its no
never is. This one is asked for 1 %% of false positives, and not told how many keys come.

       keys  bits per key  false positives  keys lost  Bloom filter made for 10,000 keys`)
	steps := 0
	return growth.Run(ctx, d.sizes, func(s growth.Step) error {
		if steps++; steps%2 == 0 {
			return nil // enough for a chart, too much to read
		}
		fixed := quantity.Rate(s.Fixed) + " false positives"
		if s.Shrinking {
			fixed = "cannot delete"
		}
		d.line("%11s  %12.1f  %13.2f %%  %9d  %s", quantity.Count(s.Keys), s.Bits, 100*s.FPR, s.Lost, fixed)
		return nil
	})
}

// conclude says what was shown and where to go from here.
func (d *demo) conclude(p gatereport.Page) {
	lost := "and lost no key"
	if n := p.Growth.Lost(); n > 0 {
		lost = "and lost " + quantity.Keys(n)
	}
	peak := p.Growth.Peak()
	d.line(`
What was shown
  The set kept to %.1f %% of false positives up to %s, %s. It takes
  %.0f bits per key, where a Go map takes %.0f; and unlike a map it gives memory back.
  %s
  The gate takes %s, where a Go map of its addresses takes %s; it confirms by default.

Next`, 100*p.Growth.Worst(), quantity.Keys(peak.Keys), lost, peak.Bits, peak.MapBits,
		p.Headline(), quantity.Bytes(float64(p.Gate.Bytes)), quantity.Bytes(float64(p.Traffic.MapBytes)))
	name := programName(os.Args[0])
	d.line("  %s plan --items 1M --fpr 1%% --delete                which filter suits a set", name)
	d.line("  %s build -o seen.bloom LIST                         a filter of the lines of a file", name)
	d.line("  %s gate run --patterns FILE --blacklist FILE PCAP   judge a capture", name)
	if d.html == "" {
		d.line("  %s demo --html demo.html                            all of this as a page with charts", name)
		return
	}
	d.line("Open %s in a browser: all of this as a page with charts.", d.html)
}

// programName returns how the tool was called, as far as that can be typed again.
func programName(called string) string {
	const name = "everbloom"
	if filepath.Base(called) == name {
		return called
	}
	return name
}
