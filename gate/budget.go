package gate

import (
	"fmt"

	"github.com/everbloom-go/everbloom/filter/bloom"
)

// A budget is how the memory is shared out, in bytes. It is fixed when the gate is
// made: what one part has left over, another cannot take, so that no flood of
// users can use up the room of the bans.
type budget struct {
	words, exceptions, exactBans, overflow uint64 // what comes first, whatever is left for the others
	states                                 uint64
	tracked, recent, banned                uint64
}

func (b budget) fixed() uint64 { return b.words + b.exceptions + b.exactBans + b.overflow }

func (b budget) total() uint64 { return b.fixed() + b.states + b.tracked + b.recent + b.banned }

const (
	// recentShare is the largest part of the tracked set's memory that may hold keys seen
	// lately, so that a set that has to be told every time is told less often. It
	// comes after a decent rate.
	recentShare = 4
	decentRate  = 0.001

	// statesShare is the largest part of a limit that the states may get.
	statesShare = 4

	// overflowPerBan is the memory that is kept, per ban expected, for those that the bad
	// set has no room for, in bytes.
	overflowPerBan = 0.5
	minOverflow    = 1 << 12

	minExceptions = 256
)

// share shares the memory out. needsBans says that exact confirmation needs a table
// beside the banned set.
func (c Config) share(b backing, needsBans bool) (budget, error) {
	words, err := c.wordConfig().BlockedShape()
	if err != nil {
		return budget{}, err
	}
	out := budget{
		words:      words.Bits() / 8,
		exceptions: keysetBytes(c.exceptions()),
		overflow:   max(minOverflow, uint64(overflowPerBan*float64(c.Banned))),
		states:     max(leastStates(c.keptTimes()), uint64(float64(c.Users)/2*stateBytes(c.keptTimes()))),
	}
	if needsBans {
		out.exactBans = keysetBytes(c.Banned)
	}
	out.tracked = max(b.least, uint64(float64(c.Users)*c.BitsPerUser/8))
	out.banned = max(b.least, uint64(float64(c.Banned)*c.BitsPerUser/8))
	if c.Memory > 0 {
		if err := c.squeeze(b, &out); err != nil {
			return out, err
		}
	}
	out.recent = c.recentBytes(b, out.tracked)
	out.tracked -= out.recent
	return out, nil
}

// squeeze fits states and sets into what the limit leaves for them. A limit that is
// too low for what they cannot do without is refused. The states get their share, so
// that a higher limit always means more of them, unless the sets need it; these get
// the rest in proportion to the keys expected in them. Sets of fixed size take no
// more than they were to have; those that grow take all.
func (c Config) squeeze(b backing, out *budget) error {
	good, err := b.leastBytes(c.Users)
	if err != nil {
		return err
	}
	bad, err := b.leastBytes(c.Banned)
	if err != nil {
		return err
	}
	states := leastStates(c.keptTimes())
	need := out.fixed() + states + good + bad
	if c.Memory < need {
		return fmt.Errorf("gate: Memory: %d bytes, %d are enough: %d for %s sets of %d and %d keys at a rate of %g, %d for the rest",
			c.Memory, need, good+bad, b.name, c.Users, c.Banned, highestRate, need-good-bad)
	}
	left := c.Memory - out.fixed()
	out.states = max(states, min(left/statesShare, left-good-bad))
	left -= out.states + good + bad
	moreBad := uint64(float64(left) * (float64(c.Banned) / (float64(c.Users) + float64(c.Banned))))
	good, bad = good+left-moreBad, bad+moreBad
	if !b.grows {
		good, bad = min(good, out.tracked), min(bad, out.banned)
	}
	out.tracked, out.banned = good, bad
	return nil
}

// recentBytes returns how much of the tracked set's memory is for recent keys. Only
// sets that are told every time have them.
func (c Config) recentBytes(b backing, good uint64) uint64 {
	if !b.exact {
		return 0
	}
	p, err := b.plan(c.Users, decentRate)
	if err != nil {
		return 0
	}
	least, err := b.leastBytes(c.Users) // may be more: sizes jump
	if err != nil {
		return 0
	}
	enough := max(float64(least), b.need(p, c.Users)/8)
	return min(good/recentShare, uint64(max(0, float64(good)-enough)))
}

// exceptions returns how many exceptions can be made.
func (c Config) exceptions() uint64 { return max(minExceptions, c.Banned/16) }

// wordConfig is the wish for the set of words: at its default rate one ordinary word
// in a thousand reaches the automaton, which finds out.
func (c Config) wordConfig() bloom.Config {
	return bloom.Config{Items: max(1, uint64(len(c.Patterns.Words())))}
}
