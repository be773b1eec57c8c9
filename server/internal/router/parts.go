package router

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/everbloom-go/everbloom/server/internal/resp"
)

func secondWord([][]byte) int { return 2 }

// itemsOf says where the items of commands begin.
var itemsOf = map[string]func(args [][]byte) int{
	"eb.add": secondWord, "eb.exists": secondWord, "eb.contains": secondWord, "eb.del": secondWord,
	"bf.add": secondWord, "bf.madd": secondWord, "bf.exists": secondWord, "bf.mexists": secondWord, "bf.insert": afterItems,
	"cf.add": secondWord, "cf.addnx": secondWord, "cf.exists": secondWord, "cf.mexists": secondWord, "cf.count": secondWord,
	"cf.del": secondWord, "cf.insert": afterItems, "cf.insertnx": afterItems,
}

// onParts says what other commands do with a set that is spread.
var onParts = map[string]func(s *Session, t *task) ([]byte, error){
	"exists": (*Session).onFirst, "touch": (*Session).onFirst, "type": (*Session).onFirst, "get": (*Session).onFirst,
	"ttl": (*Session).onFirst, "pttl": (*Session).onFirst, "expiretime": (*Session).onFirst, "pexpiretime": (*Session).onFirst,
	"bf.reserve": (*Session).onFirst, "cf.reserve": (*Session).onFirst, "cf.compact": (*Session).onFirst,
	"del": (*Session).dropParts, "unlink": (*Session).dropParts,
	"expire": (*Session).expireParts, "pexpire": (*Session).expireParts, "expireat": (*Session).expireParts,
	"pexpireat": (*Session).expireParts, "persist": (*Session).expireParts,
	"bf.card": (*Session).sumParts, "memory|usage": (*Session).sumParts,
	"eb.info": (*Session).describeParts, "bf.info": (*Session).describeParts, "cf.info": (*Session).describeParts,
	"eb.union": (*Session).mergeParts, "eb.intersect": (*Session).mergeParts, "eb.diff": (*Session).mergeParts,
}

// onFirst asks the first part.
func (s *Session) onFirst(t *task) ([]byte, error) { return s.ask1(s.portion(t, 0, t.args)) }

// others returns a command about the set for each part but the first.
func (s *Session) others(t *task, c call) (portions []portion) {
	for i := uint16(1); i < t.set.Count; i++ {
		p := s.portion(t, i, c.args)
		p.cmd = c.cmd
		portions = append(portions, p)
	}
	return portions
}

// about returns one of the router's commands about the set.
func (t *task) about(c call, words ...[]byte) call {
	return call{cmd: c.cmd, args: append([][]byte{c.args[0], t.name()}, words...)}
}

// first returns one of the router's commands about the set for the first part.
func (s *Session) first(t *task, c call) portion {
	p := s.portion(t, 0, t.about(c).args)
	p.cmd = c.cmd
	return p
}

// sendOthers has each part but the first carry out a command. Parts that are not there, or
// belong to another set, are passed over. The first error is returned as problem.
func (s *Session) sendOthers(t *task, c call) (problem []byte, err error) {
	portions := s.others(t, c)
	if err := s.send(portions); err != nil {
		return nil, err
	}
	for _, p := range portions {
		if _, ok := misrouted(p.reply); !ok && failed(p.reply) {
			return p.reply, nil
		}
	}
	return nil, nil
}

// dropParts deletes the set. The first part goes last: a deletion that broke off can be done
// again.
func (s *Session) dropParts(t *task) ([]byte, error) {
	problem, err := s.sendOthers(t, t.about(s.node.commands.del))
	if problem != nil || err != nil {
		return problem, err
	}
	s.node.spread.forget(t.name())
	return s.onFirst(t)
}

// expireParts has the first part decide when the set ends, and tells the others: also if the
// first one has not changed, so what broke off can be done again.
func (s *Session) expireParts(t *task) ([]byte, error) {
	reply, err := s.onFirst(t)
	if err != nil || failed(reply) {
		return reply, err
	}
	if problem, err := s.alignParts(t, untold); problem != nil || err != nil {
		return problem, err
	}
	return reply, nil
}

// When a set ends, besides times.
const (
	untold = 0
	never  = -1
	gone   = -2 // it has ended
)

// alignParts has the other parts, which were told a time, end when the first one does. Several
// commands may do that at once. Each goes on until the first part says what it has told last, so
// what any part is told last is right: a command that changes the first part later tells later.
func (s *Session) alignParts(t *task, told int64) (problem []byte, err error) {
	for {
		at, problem, err := s.expiryOf(t)
		if problem != nil || err != nil || at == told {
			return problem, err
		}
		c := t.about(s.node.commands.expireAt, strconv.AppendInt(nil, at, 10))
		switch at {
		case gone:
			s.node.spread.forget(t.name())
			c = t.about(s.node.commands.del)
		case never:
			c = t.about(s.node.commands.persist)
		}
		if problem, err := s.sendOthers(t, c); problem != nil || err != nil {
			return problem, err
		}
		told = at
	}
}

// expiryOf returns when the first part ends.
func (s *Session) expiryOf(t *task) (at int64, problem []byte, err error) {
	reply, err := s.ask1(s.first(t, s.node.commands.expiry))
	if _, ok := misrouted(reply); ok {
		return gone, nil, err
	}
	if failed(reply) {
		return untold, reply, err
	}
	return number(reply), nil, err
}

// all asks all parts. The first reply that is an error is returned as problem.
func (s *Session) all(t *task) (portions []portion, problem []byte, err error) {
	for i := range t.set.Count {
		portions = append(portions, s.portion(t, i, t.args))
	}
	if err := s.send(portions); err != nil {
		return nil, nil, err
	}
	for _, p := range portions {
		if failed(p.reply) {
			return nil, p.reply, nil
		}
	}
	return portions, nil, nil
}

// sumParts sums numbers of all parts.
func (s *Session) sumParts(t *task) ([]byte, error) {
	portions, problem, err := s.all(t)
	if problem != nil || err != nil {
		return problem, err
	}
	total := int64(0)
	for _, p := range portions {
		total += number(p.reply)
	}
	return fmt.Appendf(nil, ":%d\r\n", total), nil
}

// mergeParts merges sets part by part. All must have as many.
func (s *Session) mergeParts(t *task) ([]byte, error) {
	alike := *t
	alike.set.Set = 0 // each set has its own
	check := s.portion(&alike, 0, append([][]byte{s.node.commands.exists.args[0]}, t.args[1:]...))
	check.cmd = s.node.commands.exists.cmd
	reply, err := s.ask1(check)
	if _, ok := misrouted(reply); ok {
		return errorReply("ERR the sets are not spread alike: create all of them, the destination too, with the same SHARDS"), nil
	}
	if err != nil || failed(reply) {
		return reply, err
	}
	return s.sumParts(&alike)
}

// added are the fields of descriptions that are sums over all parts; of the others the first
// part's are told, and of these two the mean.
var (
	added = []string{
		"keys", "capacity", "fast_bits", "slow_bits", "items",
		"Capacity", "Size", "Number of filters", "Number of buckets", "Number of items inserted", "Number of items deleted",
	}
	averaged = []string{"fpr", "fill"}
)

// describeParts describes the set by what its parts say.
func (s *Session) describeParts(t *task) ([]byte, error) {
	portions, problem, err := s.all(t)
	if problem != nil || err != nil {
		return problem, err
	}
	var lists [][][]byte
	for _, p := range portions {
		list, err := replies(p.reply)
		if err != nil || len(lists) > 0 && len(list) != len(lists[0]) {
			return nil, errReply
		}
		lists = append(lists, list)
	}
	var w resp.Writer
	w.SetVersion(s.w.Version())
	if n := len(lists[0]); n == 1 { // BF.INFO and a field
		w.Array(1)
		w.Raw(describe(lists, 0, strings.ToLower(string(t.args[2])), s.w.Version()))
		return w.Bytes(), nil
	}
	own := t.cmd.Name == "eb.info"
	fields := len(lists[0]) / 2
	if own {
		fields++
	}
	w.Map(fields)
	for i := 1; i < len(lists[0]); i += 2 {
		w.Raw(lists[0][i-1])
		w.Raw(describe(lists, i, nameOf(lists[0][i-1]), s.w.Version()))
	}
	if own {
		w.Text("shards")
		w.Int(int64(t.set.Count))
	}
	return w.Bytes(), nil
}

// describe returns a field of the set.
func describe(lists [][][]byte, i int, name string, version int) []byte {
	var w resp.Writer
	w.SetVersion(version)
	switch {
	case slices.Contains(averaged, name):
		sum := 0.0
		for _, l := range lists {
			sum += float(l[i])
		}
		w.Double(sum / float64(len(lists)))
	case slices.Contains(added, name) || len(lists[0]) == 1 && name != "expansion":
		sum := int64(0)
		for _, l := range lists {
			sum += number(l[i])
		}
		w.Int(sum)
	default:
		w.Raw(lists[0][i])
	}
	return w.Bytes()
}

// replies returns the elements of an array or a map.
func replies(reply []byte) (list [][]byte, err error) {
	kind, _, rest, ok := replyHead(reply, 0)
	if !ok || kind != '*' && kind != '%' {
		return nil, errReply
	}
	for at := rest; at < len(reply); {
		end, ok := replySize(reply, at, maxDepth)
		if !ok {
			return nil, errReply
		}
		list, at = append(list, reply[at:end]), end
	}
	return list, nil
}

// nameOf returns the text that a bulk or a simple string is.
func nameOf(reply []byte) string {
	if s, ok := text(reply); ok {
		return string(s)
	}
	return strings.TrimSuffix(string(reply[1:]), "\r\n")
}

// float returns the number that a text or a double is, 0 if it is none.
func float(reply []byte) float64 {
	x, _ := strconv.ParseFloat(nameOf(reply), 64)
	return x
}
