package gate

import (
	"net/netip"
	"unsafe"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/line"
)

// A Record is a packet of one word.
type Record struct {
	Src  netip.Addr
	Word uint32
	At   int64 // as of [Engine.Step]
}

// stride is how many records of a batch are under way together: their reads of memory
// overlap.
const stride = 32

// StepBatch judges records in order, each as [Engine.Step] does, and puts the verdicts into
// out. It panics if out is shorter. It takes less time than as many calls of Step, because it
// asks the sets for many users at once.
func (e *Engine) StepBatch(records []Record, out []Verdict) {
	out = out[:len(records)]
	var a ahead
	for i := range records {
		a.add(e, e.identify(records[i].Src), records, i, out)
	}
	a.judge(e, records, out)
}

// ahead has the users of the next records, and what the sets say about them.
type ahead struct {
	n               int
	places          [stride]int32 // of the records
	users           [stride]user
	keys            [stride]filter.Key
	banned, tracked [stride]bool
}

// add takes the next record, and judges when there are enough.
func (a *ahead) add(e *Engine, u user, records []Record, at int, out []Verdict) {
	a.places[a.n], a.users[a.n], a.keys[a.n] = int32(at), u, u.key
	if a.n++; a.n == stride {
		a.judge(e, records, out)
	}
}

// judge judges the records that were added. After a ban nothing holds that was asked before.
func (a *ahead) judge(e *Engine, records []Record, out []Verdict) {
	keys := a.keys[:a.n]
	filter.MayContainBatch(e.banned.Deleter, keys, a.banned[:])
	filter.MayContainBatch(e.tracked.Deleter, keys, a.tracked[:])
	for _, k := range keys {
		e.states.prefetch(k)
	}
	prefetch(e.banned.Deleter, keys, &a.banned, true)
	prefetch(e.tracked.Deleter, keys, &a.tracked, false)
	bans := e.banCount
	for i, at := range a.places[:a.n] {
		u, r := a.users[i], &records[at]
		word := [1]uint32{r.Word}
		var v Verdict
		if e.banCount == bans {
			v = e.judgeAsked(u, a.banned[i], a.tracked[i])
		} else {
			v = e.judge(u)
		}
		if v.Reason == Clean {
			v = e.feedWords(u, word[:], r.At)
		}
		e.tally[v.Action][v.Reason]++
		out[at] = v
	}
	a.n = 0
}

// prefetch asks for the memory behind the keys that a set claims, or does not claim: those
// are looked up exactly, or added.
func prefetch(f filter.Filter, keys []filter.Key, claims *[stride]bool, claimed bool) {
	p, ok := f.(filter.Prefetcher)
	if !ok {
		return
	}
	const most = 16 // of a call
	var list [most]filter.Key
	n := 0
	for i, k := range keys {
		if claims[i] == claimed {
			list[n] = k
			if n++; n == most {
				p.PrefetchDelete(list[:])
				n = 0
			}
		}
	}
	if n > 0 {
		p.PrefetchDelete(list[:n])
	}
}

// judgeAsked is judge for a user that the sets were asked about before. Since then users may
// have entered the tracked set.
func (e *Engine) judgeAsked(u user, banned, tracked bool) Verdict {
	if e.allowed.Size() > 0 && e.allowed.Contains(u.src) {
		return Verdict{Pass, Whitelisted, 0, -1}
	}
	if reason := e.rejects(u, banned); reason != Clean {
		return Verdict{Reject, reason, 0, -1}
	}
	e.track(u.key, tracked || e.tracked.MayContain(u.key))
	return Verdict{Pass, Clean, 0, -1}
}

// prefetch asks for the bucket of a key, if a search will look there.
func (s *states) prefetch(k filter.Key) {
	if b := s.home(k); s.homes[b] != 0 {
		line.Prefetch(unsafe.Pointer(&s.buckets[b]))
	}
}
