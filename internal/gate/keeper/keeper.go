package keeper

import (
	"cmp"
	"container/heap"
	"errors"
	"math"
	"net/netip"
	"sync"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/gate/event"
	"github.com/everbloom-go/everbloom/internal/gate/logs"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
	"github.com/everbloom-go/everbloom/internal/replace"
)

// Config says how long bans last and where the state is kept.
type Config struct {
	BanFor time.Duration // 0 means for ever
	Growth float64       // how much longer each further ban of a user lasts; 0 means 1
	BanMax time.Duration // the longest; 0 means no limit

	State string // a path; empty means that nothing is kept
	Sync  bool   // events are on disk before they are told

	Enforcer Enforcer         // nil if bans hold here only
	Now      func() time.Time // nil means time.Now
}

// An Enforcer makes bans hold elsewhere, such as in the kernel.
type Enforcer interface {
	Ban(user netip.Prefix, until time.Time) error // the zero time is for ever
	Unban(user netip.Prefix) error
	Except(user netip.Prefix) error // from the black list, until that is read again
}

// A Ban is a user that is banned.
type Ban struct {
	User   netip.Prefix `json:"user"`
	Since  time.Time    `json:"since"`
	Until  *time.Time   `json:"until,omitempty"` // nil means for ever
	Times  uint32       `json:"times"`           // that the user was banned, with this one
	Reason string       `json:"reason"`
}

// past is a ban that has ended.
type past struct {
	ended int64
	times uint32
}

// Keeper keeps a gate. See the package comment.
type Keeper struct {
	mu     sync.Mutex
	config Config
	engine *gate.Engine
	names  []string // of patterns

	bans    map[netip.Prefix]*Ban
	ends    endings
	past    map[netip.Prefix]past
	pruneAt int    // past bans from which on old ones are forgotten
	room    int    // bans and past bans that the limit of memory has room for; 0 means any number
	crowded uint64 // bans that ended early, or are not on the list, for want of room
	seq     uint64 // of the last event
	journal *journal

	positions map[string]logs.Position // of the last lines that were judged, by path
	watched   []netip.Prefix           // users that may have been inside a chain when the state was saved
	unknown   bool                     // others may have been, too

	black, white *packets.List
	excepted     map[netip.Prefix]bool // users that are on the black list and were unbanned by hand

	lock   *replace.Lock // of the state; nil if there is none
	saving sync.Mutex    // held while the state is saved, taken before mu
	closed bool

	queues    []*Queue
	listeners map[chan event.Event]bool
	missed    uint64 // events that listeners had no room for
	failed    uint64 // changes that the enforcer or the journal refused
	failure   error  // the last of them
	started   time.Time
}

// forgetAfter is how long past bans count, if bans have no longest time.
const forgetAfter = 30 * 24 * time.Hour

// minPruned is how many past bans are kept without looking for old ones.
const minPruned = 1 << 10

// JudgeLine judges a line of a log as a packet, whose number becomes the end of the line. The
// state has the position from then on, so that no line is judged twice.
func (k *Keeper) JudgeLine(p *packets.Packet, input string, at logs.Position) (gate.Verdict, *event.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p.Number = uint64(at.End)
	if _, followed := k.positions[input]; followed {
		k.positions[input] = at
	}
	return k.judge(p, input)
}

// Begin keeps where a log begins to be read.
func (k *Keeper) Begin(path string, at logs.Position) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.positions[path] = at
}

// Position returns that of the last line of a log that was judged, by this gate or by the one
// that has left its state.
func (k *Keeper) Position(path string) logs.Position {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.positions[path]
}

// Judge judges a packet from an input of that name. A packet that completed a pattern is
// an event.
func (k *Keeper) Judge(p *packets.Packet, input string) (gate.Verdict, *event.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.judge(p, input)
}

func (k *Keeper) judge(p *packets.Packet, input string) (gate.Verdict, *event.Event) {
	v := p.Judge(k.engine)
	if (v.Reason == gate.Banned || v.Reason == gate.OverLimit) && k.ended(p) {
		v = p.Judge(k.engine)
	}
	if v.Reason != gate.Struck {
		return v, nil
	}
	e := event.Of(p, v, k.names[v.Pattern], input)
	if v.Action == gate.Ban {
		k.add(&e, k.lasting(k.engine.User(p.Src), p.At), e.Pattern)
	}
	k.tell(&e)
	return v, &e
}

// ended unbans the source of a packet whose ban ends before it, by its own time.
func (k *Keeper) ended(p *packets.Packet) bool {
	user := k.engine.User(p.Src)
	b := k.bans[user]
	if b == nil || b.Until == nil {
		return false
	}
	at := cmp.Or(p.At, k.config.Now().UnixNano())
	if at < b.Until.UnixNano() {
		return false
	}
	e := event.Event{Kind: event.Unban, Src: p.Src, Time: event.At(at), Reason: "its time is over"}
	return k.end(&e, user) == nil
}

// lasting returns how long a new ban of a user lasts.
func (k *Keeper) lasting(user netip.Prefix, at int64) time.Duration {
	c := k.config
	if c.BanFor == 0 {
		return 0
	}
	times := k.past[user].times
	if age := at - k.past[user].ended; time.Duration(age) > cmp.Or(c.BanMax, forgetAfter) {
		times = 0
	}
	long := float64(c.BanFor) * math.Pow(c.Growth, float64(times))
	if c.BanMax > 0 {
		long = min(long, float64(c.BanMax))
	}
	return time.Duration(min(long, float64(math.MaxInt64/4)))
}

// add puts the ban of an event on the list, and enforces it.
func (k *Keeper) add(e *event.Event, lasts time.Duration, reason string) *Ban {
	since := k.config.Now().UTC()
	if e.Time != nil {
		since = *e.Time
	}
	user := k.engine.User(e.Src)
	b := &Ban{User: user, Since: since, Times: k.past[user].times + 1, Reason: reason}
	if lasts > 0 {
		until := since.Add(lasts)
		b.Until = &until
	}
	e.Until = b.Until
	if !user.IsSingleIP() {
		e.User = user.String()
	}
	k.put(b)
	k.enforce(b)
	return b
}

// put puts a ban on the list, if there is room. Without, it holds for good and is not shown.
func (k *Keeper) put(b *Ban) {
	if !k.makeRoom(b.User) {
		k.crowded++
		return
	}
	k.bans[b.User] = b
	if b.Until != nil {
		heap.Push(&k.ends, ending{b.Until.UnixNano(), b.User})
	}
}

func (k *Keeper) enforce(b *Ban) {
	if k.config.Enforcer == nil {
		return
	}
	until := time.Time{}
	if b.Until != nil {
		until = *b.Until
	}
	k.recordFailure(k.config.Enforcer.Ban(b.User, until))
}

// recordFailure keeps an error of something that is done beside judging.
func (k *Keeper) recordFailure(err error) {
	if err != nil {
		k.failed++
		k.failure = err // of many the last
	}
}

// end ends a ban whose time is over. A user that the black list has, too, stays rejected,
// unless there was an exception for it: that holds again.
func (k *Keeper) end(e *event.Event, user netip.Prefix) error {
	var err error
	switch {
	case k.excepted[user]:
		err = k.engine.Unban(e.Src)
	case !k.black.Has(user):
		err = k.engine.EndBan(e.Src)
	}
	if err != nil && !errors.Is(err, filter.ErrNotFound) {
		return err
	}
	k.forget(e, user)
	return nil
}

// forget takes a ban off the list, and tells.
func (k *Keeper) forget(e *event.Event, user netip.Prefix) {
	if b := k.bans[user]; b != nil {
		k.past[user] = past{e.Time.UnixNano(), b.Times}
		delete(k.bans, user)
	}
	if !user.IsSingleIP() {
		e.User = user.String()
	}
	if k.config.Enforcer != nil {
		k.recordFailure(k.config.Enforcer.Unban(user))
	}
	k.tell(e)
}

// Enforce has an enforcer take over all bans, and all that come.
func (k *Keeper) Enforce(e Enforcer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.config.Enforcer = e
	for _, b := range k.bans {
		k.enforce(b)
	}
}
