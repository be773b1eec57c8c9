package gate

import "github.com/everbloom-go/everbloom/filter"

// track adds the user to the tracked set. A set that ignores duplicates exactly is
// told every packet, but for recent keys: to ask it first would leave out users that
// it claims by mistake, and their bans would delete others. Sets that count duplicates
// have to be asked; [Stats] and the check against an exact gate show the harm.
func (e *Engine) track(k filter.Key) {
	if e.recent.has(k) || !e.tracked.exact && e.tracked.MayContain(k) {
		return
	}
	if e.tracked.put(k) {
		e.recent.remember(k)
		return
	}
	if !e.tracked.MayContain(k) {
		e.lost.Users++
	}
}

// feed sends the words through the automaton, from the user's node.
func (e *Engine) feed(k filter.Key, words []uint32) Verdict {
	p := e.states.find(k)
	var old cell
	if p != nowhere {
		old = e.states.cell(p)
	}
	node, match := e.walk(old.node(), words)
	if match >= 0 {
		return e.strike(k, p, node, match)
	}
	switch {
	case p != nowhere:
		if live := e.states.live(p, e.now); newCell(node, live) != old {
			e.states.set(p, node, live)
		}
	case node != 0:
		if e.states.insert(k, newCell(node, 0), e.now) == nowhere {
			e.lost.Chains++
		}
	}
	return Verdict{Pass, Clean, 0, -1}
}

// walk returns the node that the words lead to and the first pattern that they
// complete, or -1. After each pattern it begins at the root. Most words are in no
// pattern: the set of words answers so, and the automaton is not asked.
func (e *Engine) walk(node uint32, words []uint32) (at uint32, match int32) {
	match = -1
	for _, w := range words {
		if !e.words.MayContain(filter.Key(w)) {
			node = 0
			continue
		}
		node = e.patterns.Next(node, w)
		if m := e.patterns.Match(node); m >= 0 {
			node = 0
			if match < 0 {
				match = int32(m)
			}
		}
	}
	return node, match
}

// strike gives the user a strike, and bans the user if it is the last. The rest of the
// packet behind the pattern may have begun a chain, which ends at node.
func (e *Engine) strike(k filter.Key, p place, node uint32, match int32) Verdict {
	e.strikes++
	live := 0
	if p != nowhere {
		live = e.states.live(p, e.now)
	}
	if live+1 >= e.config.Strikes {
		e.ban(k, p)
		return Verdict{Ban, Struck, uint8(live + 1), match}
	}
	if p = e.states.strike(k, p, live, e.now); p == nowhere {
		e.lost.Strikes++
	} else if node != 0 {
		e.states.set(p, node, live+1)
	}
	action := Pass
	if e.config.DropFlagged {
		action = Drop
	}
	return Verdict{action, Struck, uint8(live + 1), match}
}

// ban moves a user from the tracked set to the banned set.
func (e *Engine) ban(k filter.Key, p place) {
	if p != nowhere {
		e.states.remove(p)
	}
	e.recent.forget(k)
	e.tracked.take(k)
	e.exceptions.remove(k)
	e.addBan(k)
}

// addBan adds a key to the banned set, or to the overflow filter, which is never full:
// its rate rises instead. The table of exact bans has only keys of the banned set,
// which Unban may delete there; hits of the overflow filter are not confirmed.
func (e *Engine) addBan(k filter.Key) {
	if e.exactBans != nil && e.exactBans.Contains(k) {
		return
	}
	if !e.banned.put(k) {
		e.overflowed++
		_, _ = e.overflow.Add(k) // never fails
		return
	}
	if e.exactBans != nil && !e.exactBans.add(k) {
		e.confirm = nil // a user that the table does not have may be banned all the same
	}
}
