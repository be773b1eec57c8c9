package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/gatereport"
	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/fault"
	"github.com/everbloom-go/everbloom/internal/gate/event"
	"github.com/everbloom-go/everbloom/internal/gate/exact"
	"github.com/everbloom-go/everbloom/internal/gate/keeper"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// gateSession is a gate at work: it takes packets from readers and tells others what
// becomes of them.
type gateSession struct {
	*env
	engine   gateEngine
	single   *gate.Engine   // the same, unless there are several workers
	batch    *recordBatch   // nil if packets are judged one by one
	keeper   *keeper.Keeper // nil unless bans end or a state is kept; the engine is its own
	check    *exact.Check   // nil if nothing is compared
	twin     *gateSession   // judges the same packets beside the same exact gate; may be nil
	recorder *gatereport.Recorder
	start    time.Time

	out      *bufio.Writer // for verdicts and answers
	verdicts bool          // every one is printed
	answers  bool          // and so are these
	events   *bufio.Writer // nil if events are not logged
	log      *json.Encoder // to events
	input    string        // its name

	timeless, words uint64            // packets whose time is not known, and packets of words
	asked           uint64            // queries
	skipped         map[string]uint64 // frames of captures that are no packets
	limited         bool              // it was told that the limit is felt
	searches        bool              // patterns are searched for in payloads

	packets atomic.Uint64 // so far, for the progress bar
	watched func()        // called now and then from the loop; may be nil
}

// gateEngine is what one engine and several have in common.
type gateEngine interface {
	Blacklist(p netip.Prefix)
	Whitelist(p netip.Prefix)
	Query(src netip.Addr) gate.Answer
	Packets() uint64
	Stats() gate.Stats
	Lost() gate.Lost
	Confirms() bool
	RejectRate() float64
	StepBatch(records []gate.Record, out []gate.Verdict)
}

// newGateSession makes a gate, and an exact one beside it if that is wanted.
func newGateSession(e *env, g *gateFlags, k *keepFlags, compare bool) (*gateSession, error) {
	s := &gateSession{env: e, start: time.Now(), skipped: map[string]uint64{}}
	c := g.Config
	if c.Banned == 0 && g.black.Len() > 0 {
		c.Banned = uint64(g.black.Len()) + max(1, cmp.Or(c.Users, 100_000)/4)
	}
	var err error
	switch {
	case compare:
		if s.check, err = exact.NewCheck(c); err == nil {
			s.single = s.check.Engine
		}
	case k != nil && k.kept():
		if s.keeper, err = keeper.Open(k.Config, c); err == nil {
			s.keeper.Engine(func(e *gate.Engine) { s.single = e })
		}
	case g.workers > 1:
		s.engine, err = gate.NewWorkers(c, g.workers)
	default:
		s.single, err = gate.New(c)
	}
	if err != nil {
		return nil, byFlags(err)
	}
	if s.single != nil {
		s.engine = s.single
	}
	s.addLists(g)
	var patterns []pattern.Pattern
	if c.Patterns != nil {
		patterns = c.Patterns.Patterns()
	}
	s.recorder = gatereport.NewRecorder(patterns, s.look)
	return s, nil
}

// addLists gives the entries of files to the gate, one by one: they are not kept.
func (s *gateSession) addLists(g *gateFlags) {
	if s.keeper != nil {
		s.keeper.Relist(&g.black, &g.white)
		return
	}
	g.black.Each(func(p netip.Prefix) {
		s.engine.Blacklist(p)
		if s.check != nil {
			s.check.Exact.Blacklist(p)
		}
	})
	g.white.Each(func(p netip.Prefix) {
		s.engine.Whitelist(p)
		if s.check != nil {
			s.check.Exact.Whitelist(p)
		}
	})
}

// beside makes a twin that shares the exact gate.
func (s *gateSession) beside(g gateFlags) (err error) {
	if s.twin, err = newGateSession(s.env, &g, nil, true); err == nil {
		s.twin.check.Exact = s.check.Exact
	}
	return err
}

// look fills in what the gate predicts and what the comparison has found.
func (s *gateSession) look(p *gatereport.Point) {
	p.Rate = s.engine.RejectRate()
	if s.check != nil {
		r := s.check.Counts()
		p.Legitimate, p.Wrong, p.Expected = r.Legitimate, r.WronglyRejected(), r.Expected
	}
}

// often is how many packets lie between two looks at the world outside.
const often = 1024

// read judges all packets of a reader.
func (s *gateSession) read(ctx context.Context, r packets.Reader) error {
	var p packets.Packet
	for n := 1; ; n++ {
		if err := r.Read(&p); err != nil {
			s.packets.Add(uint64((n - 1) % often))
			if failed := s.judgeBatch(); failed != nil || errors.Is(err, io.EOF) {
				return failed
			}
			return err
		}
		if err := s.judge(&p); err != nil {
			return err
		}
		if n%often == 0 {
			s.packets.Add(often)
			s.warnOfLimit()
			if s.watched != nil {
				s.watched()
			}
			if err := ctx.Err(); err != nil {
				return errors.Join(s.judgeBatch(), err)
			}
		}
	}
}

// judge judges one packet, or answers a query.
func (s *gateSession) judge(p *packets.Packet) error {
	if s.batch != nil {
		return s.addToBatch(p)
	}
	if p.Query {
		return s.ask(p.Src)
	}
	if p.Payload != nil && !s.searches {
		if err := s.single.Payloads(); err != nil {
			return tooManyPatterns(err)
		}
		s.searches = true
	}
	var v, want gate.Verdict
	var e *event.Event
	switch {
	case s.check != nil:
		v, want = s.check.Step(p)
	case s.keeper != nil:
		v, e = s.keeper.Judge(p, s.input)
	default:
		v = p.Judge(s.single)
	}
	if s.twin != nil {
		s.twin.recorder.Count(p, s.twin.check.Follow(p, want))
	}
	return s.record(p, v, e)
}

// tooManyPatterns says of which flag an error about patterns is.
func tooManyPatterns(err error) error { return fmt.Errorf("--patterns: %s", fault.Text(err)) }

// record tells others of a verdict. The event may be nil.
func (s *gateSession) record(p *packets.Packet, v gate.Verdict, e *event.Event) error {
	s.recorder.Count(p, v)
	if p.At == 0 {
		s.timeless++
	}
	if len(p.Words) > 0 {
		s.words++
	}
	if s.verdicts {
		if err := s.print(p, v); err != nil {
			return err
		}
	}
	if v.Reason != gate.Struck {
		return nil
	}
	if e == nil {
		one := event.Of(p, v, s.recorder.Pattern(v), s.input)
		e = &one
	}
	s.recorder.Strike(v, *e)
	if s.log == nil {
		return nil
	}
	return s.log.Encode(e)
}

func (s *gateSession) print(p *packets.Packet, v gate.Verdict) error {
	_, err := fmt.Fprintf(s.out, "%d %v %v %v\n", p.Number, p.Src, v.Action, v.Reason)
	return err
}

// ask answers a query.
func (s *gateSession) ask(src netip.Addr) error {
	a := s.engine.Query(src)
	s.asked++
	s.recorder.Answer(src, a)
	if !s.answers {
		return nil
	}
	both := ""
	if a.Both {
		both = " (both sets claim it)"
	}
	_, err := fmt.Fprintf(s.out, "? %v %v%s\n", src, a.Standing, both)
	return err
}

// askAll answers the queries of a file, an address to a line, with or without a
// question mark in front.
func (s *gateSession) askAll(path string) error {
	return fromList(path, func(r io.Reader) error {
		lines := bufio.NewScanner(r)
		for n := 1; lines.Scan(); n++ {
			text, _, _ := strings.Cut(lines.Text(), "#")
			text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "?"))
			if text == "" {
				continue
			}
			src, err := packets.ParseAddress(text)
			if err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			if err := s.ask(src); err != nil {
				return err
			}
		}
		return lines.Err()
	})
}

// absentSources is how many absent addresses a check asks about.
const absentSources = 200_000

// summary tells what has happened since the session began.
func (s *gateSession) summary(inputs []string, seed uint64) gatereport.Summary {
	sum := s.recorder.Summary(s.engine.Stats(), time.Since(s.start).Seconds())
	sum.Inputs, sum.Skipped, sum.Confirmed = inputs, s.skipped, s.engine.Confirms()
	if s.check != nil {
		r := s.check.Report(absentSources, seed)
		sum.Check = &r
	}
	return sum
}
