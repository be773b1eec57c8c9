package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

// Exit statuses.
const (
	fine       = 0
	failed     = 1 // a filter does not find a key that it holds, or output could not be written
	wrongFlags = 2
	barMissed  = 3
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main without the process.
func run(args []string, stdout, stderr io.Writer) int {
	out, log := &printer{w: stdout}, &printer{w: stderr}
	opts, err := parseOptions(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return fine
	}
	var chosen []contender
	if err == nil {
		chosen, err = opts.choose(contenders())
	}
	if err != nil {
		log.println(err)
		return wrongFlags
	}
	if opts.list {
		list(out, chosen)
		return fine
	}
	if opts.shared || opts.journey != "" {
		special := runJourney
		if opts.shared {
			special = runShared
		}
		if err := special(opts, out); err != nil {
			log.println(err)
			return failed
		}
		return fine
	}
	r := &runner{opts: opts, chosen: chosen, out: out, log: log}
	return r.run()
}

// choose returns the contenders that the flags ask for.
func (o *options) choose(all []contender) (chosen []contender, err error) {
	if o.base != "" {
		if _, err := byName(all, o.base); err != nil {
			return nil, fmt.Errorf("benchmarks: -base: %w", err)
		}
	}
	for _, c := range all {
		if o.wants(c) {
			chosen = append(chosen, c)
		}
	}
	if chosen == nil {
		return nil, fmt.Errorf("benchmarks: -only: %v: no contender has such a name; -list shows them", o.only)
	}
	return chosen, nil
}

// wants tells whether the flags ask for a contender. A name asked for is measured even where a
// short run would leave it out.
func (o *options) wants(c contender) bool {
	switch {
	case o.only != nil:
		return o.only.MatchString(c.name)
	case o.bars:
		return inBars(c.name)
	case o.short:
		return c.traits.has(short)
	}
	return true
}

// list writes the contenders with the versions they are linked in.
func list(w *printer, chosen []contender) {
	t := table{rows: [][]string{{"contender", "from", "remarks"}}}
	versions := map[string]string{"": "this program"}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			versions[m.Path] = m.Path + " " + m.Version
		}
	}
	for _, c := range chosen {
		t.row(c.name, cmp.Or(versions[c.module], c.module), c.traits.String())
	}
	t.writeTo(w)
}
