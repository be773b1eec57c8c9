package gate

import (
	"encoding/binary"
	"net/netip"

	"github.com/everbloom-go/everbloom/filter"
)

// track adds the user to the tracked set, unless that claims it. A claim may be a mistake:
// a set that ignores duplicates exactly is told nevertheless every so many packets, so that
// such a user enters it with one of its next. Sets that count duplicates are never told
// twice; [Stats] and the check against an exact gate show the harm.
func (e *Engine) track(k filter.Key, claimed bool) {
	if claimed {
		if e.claimed++; e.claimed%retell != 0 || !e.tracked.exact {
			return
		}
	}
	if !e.tracked.put(k) && !e.tracked.MayContain(k) {
		e.lost.Users++
	}
}

// retell is how many claims of the tracked set are believed before one is told again.
const retell = 16

// feedWords sends words through the automaton, from the user's node.
func (e *Engine) feedWords(u user, words []uint32, at int64) Verdict {
	p := e.states.find(u.key)
	var old cell
	if p != nowhere {
		old = e.states.cell(p)
	}
	node, match := e.walk(old.node(), words)
	if match >= 0 {
		return e.strike(u, p, node, match, at)
	}
	switch {
	case p != nowhere:
		if node != old.node() {
			e.states.set(p, node, old.strikes())
		}
	case node != 0:
		e.begin(u.key, node, e.origin(u.src))
	}
	return Verdict{Pass, Clean, 0, -1}
}

// feedPayload sends bytes through the automaton, from the node of their flow.
func (e *Engine) feedPayload(u user, flow, payload []byte, at int64) Verdict {
	k := e.flowKey(u.key, flow)
	p, from := e.states.find(k), uint32(0)
	if p != nowhere {
		from = e.states.cell(p).node()
	}
	node, match := e.stream.Find(from, payload)
	switch {
	case p == nowhere && node != 0:
		e.begin(k, node, e.origin(u.src)|flowTag)
	case p != nowhere && node != from:
		e.states.set(p, node, 0)
	}
	if match < 0 {
		return Verdict{Pass, Clean, 0, -1}
	}
	return e.strike(u, e.states.find(u.key), 0, match, at)
}

// begin keeps the node of a new chain, if there is room.
func (e *Engine) begin(k filter.Key, node uint32, t tag) {
	if e.states.insert(k, newCell(node, 0), t) == nowhere {
		e.lost.Chains++
	}
}

// flowKey returns the key of a flow of a user: not that of any user, all but surely.
func (e *Engine) flowKey(user filter.Key, flow []byte) filter.Key {
	var b [8 + 64]byte
	binary.LittleEndian.PutUint64(b[:], uint64(user))
	return e.config.Hash.Bytes(b[:8+copy(b[8:], flow)])
}

// origin returns the tag of the network that an address is in: 16 bits of an IPv4
// address, 32 of an IPv6 address.
func (e *Engine) origin(src netip.Addr) tag {
	if src.Is4() {
		b := src.As4()
		return tag(e.config.Hash.Bytes(b[:2]) % origins)
	}
	b := src.As16()
	return tag(e.config.Hash.Bytes(b[:5]) % origins) // one byte more: no IPv4 network is the same
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
func (e *Engine) strike(u user, p place, node uint32, match int32, at int64) Verdict {
	e.strikes++
	live := 0
	if p != nowhere {
		live = e.states.live(p, at)
	}
	if live+1 >= e.config.Strikes {
		e.ban(u.key, p)
		return Verdict{Ban, Struck, uint8(live + 1), match}
	}
	if e.states.strike(u.key, p, live, node, e.origin(u.src), at) == nowhere {
		e.lost.Strikes++
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
	e.banCount++
	e.tracked.take(k)
	e.exceptions.remove(k)
	e.addBan(k)
}

// addBan adds a key to the banned set, or to the table behind it. The table of exact bans
// has only keys of the banned set, which Unban may delete there.
func (e *Engine) addBan(k filter.Key) {
	switch {
	case e.overflow.Contains(k), e.confirm != nil && e.confirm.Contains(k):
	case !e.banned.put(k):
		e.addOverflow(k)
	case e.exactBans != nil && !e.exactBans.add(k):
		e.confirm = nil // a user that the table does not have may be banned all the same
	}
}

// addOverflow keeps a ban in the table behind the banned set, which takes what memory is
// unused. If there is none another ban is forgotten: the alternative would be to reject
// sources that are not banned.
func (e *Engine) addOverflow(k filter.Key) {
	e.overflowed++
	if e.overflow.count < e.overflow.most || e.growOverflow() {
		e.overflow.add(k)
		return
	}
	e.lost.Bans++
	if e.overflow.count > 0 {
		e.hand = e.overflow.replaceAny(k, e.hand)
	}
}

// leastGrowth is how many bans the table behind the banned set grows for at least.
const leastGrowth = 64

// growOverflow makes the table behind the banned set larger, by half of it or less, if
// there is memory that no other part has or needs.
func (e *Engine) growOverflow() bool {
	most := uint64(e.overflow.most)
	for more := max(leastGrowth, most/2); more >= leastGrowth; more /= 2 {
		bytes := keysetBytes(most+more) - keysetBytes(most)
		switch {
		case e.limit == 0:
		case bytes <= e.slack:
			e.slack -= bytes
		case e.tracked.release(bytes):
		default:
			continue
		}
		return e.overflow.resize(most + more)
	}
	return false
}
