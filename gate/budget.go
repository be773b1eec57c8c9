package gate

import (
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/filter/bloom"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// A budget is how the memory is shared out, in bytes. Where there is a limit it is fixed
// when the gate is made: what one part leaves over only bans can take, so that a flood of
// users does not use up their room.
type budget struct {
	words, exceptions, exactBans, overflow uint64 // come first, whatever is left for the others
	states                                 uint64
	tracked, banned                        uint64
}

func (b budget) fixed() uint64 { return b.words + b.exceptions + b.exactBans + b.overflow }

func (b budget) total() uint64 { return b.fixed() + b.states + b.tracked + b.banned }

const (
	// statesShare is the largest part of a limit that the states may get.
	statesShare = 4

	// overflowPerBan is the memory at first of the table behind the banned set per expected ban, in bytes.
	overflowPerBan = 0.5
	minOverflow    = 1 << 12

	minExceptions = 256
)

// share shares the memory out. exactBans asks for a table of the banned users.
func (c Config) share(b backing, exactBans bool) (budget, error) {
	words, err := c.wordConfig().BlockedShape()
	if err != nil {
		return budget{}, err
	}
	out := budget{
		words:      words.Bits() / 8,
		exceptions: keysetBytes(c.exceptions()),
		overflow:   max(minOverflow, uint64(overflowPerBan*float64(c.Banned))),
		states:     max(leastStates(c.keptTimes()), uint64(float64(c.Users)/2*stateBytes(c.keptTimes()))),
		tracked:    max(b.least, uint64(float64(c.Users)*c.BitsPerUser/8)),
		banned:     max(b.least, uint64(float64(c.Banned)*c.BitsPerUser/8)),
	}
	if exactBans {
		out.exactBans = keysetBytes(c.Banned)
	}
	if c.Memory > 0 {
		if err := c.squeeze(b, &out); err != nil {
			return out, err
		}
	}
	if c.FPR > 0 {
		return out, c.ask(b, &out)
	}
	return out, nil
}

// ask gives the sets what the rate needs that was asked for.
func (c Config) ask(b backing, out *budget) error {
	tracked, err := b.plan(c.Users, c.FPR)
	if err != nil {
		return err
	}
	banned, err := b.plan(c.Banned, c.FPR)
	out.tracked, out.banned = uint64(math.Ceil(tracked.bits/8)), uint64(math.Ceil(banned.bits/8))
	return err
}

// squeeze fits states and sets into what the limit leaves for them. It refuses a limit
// that is too low for what they need at least. The states get their share, so that a
// higher limit always means more of them, unless the sets need it; these get the rest
// in proportion to the keys expected in them. Sets of fixed size take no more than
// without a limit; those that grow take all.
func (c Config) squeeze(b backing, out *budget) error {
	tracked, err := b.leastBytes(c.Users)
	if err != nil {
		return err
	}
	banned, err := b.leastBytes(c.Banned)
	if err != nil {
		return err
	}
	states := leastStates(c.keptTimes())
	need := out.fixed() + states + tracked + banned
	if c.Memory < need {
		return fault.Field("gate", "Memory", "%w", &LimitError{c.Memory, need, tracked + banned, fmt.Sprintf("%s sets of %d and %d keys", b.name, c.Users, c.Banned)})
	}
	left := c.Memory - out.fixed()
	out.states = max(states, min(left/statesShare, left-tracked-banned))
	left -= out.states + tracked + banned
	moreBanned := uint64(float64(left) * (float64(c.Banned) / (float64(c.Users) + float64(c.Banned))))
	tracked, banned = tracked+left-moreBanned, banned+moreBanned
	if !b.grows {
		tracked, banned = min(tracked, out.tracked), min(banned, out.banned)
	}
	out.tracked, out.banned = tracked, banned
	return nil
}

// A LimitError says that [Config.Memory] is too low.
type LimitError struct {
	Memory, Enough uint64 // what it is, and what it may be

	sets  uint64 // bytes of the sets
	which string
}

// Error returns the text.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%d bytes, %d are enough: %d for %s at a rate of %g, %d for the rest", e.Memory, e.Enough, e.sets, e.which, highestRate, e.Enough-e.sets)
}

// exceptions returns how many exceptions there is room for.
func (c Config) exceptions() uint64 { return max(minExceptions, c.Banned/16) }

// wordConfig sizes the set of words: at its default rate one ordinary word in a
// thousand reaches the automaton, which answers exactly.
func (c Config) wordConfig() bloom.Config {
	return bloom.Config{Items: max(1, uint64(len(c.Patterns.Words())))}
}
