package command

import (
	"strings"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/internal/quantity"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

func ownCommands() []*Command {
	const needs = "[ITEMS n] [FPR p] [DELETE] [KNOWNDELETES] [GROW] [MERGE] [SPARE time|fast|total] [KIND kind]"
	return []*Command{
		ofKey("eb.create", -2, Write|DenyOOM, "key "+needs+" [EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT unix-time-milliseconds] [NX] [SHARDS n]", "Creates an empty set of the kind that fits the needs", ebCreate),
		{Name: "eb.plan", Arity: -1, Flags: Read | Alone, Syntax: needs, Summary: "Lists the kinds that fit the needs, with their cost", Run: ebPlan},
		ofKey("eb.add", -3, Write|DenyOOM, "key item [item ...]", "Adds items and reports which were new", ebAdd),
		ofKey("eb.exists", -3, Read, "key item [item ...]", "Reports for each item whether it may be in the filter", ebExists),
		ofKey("eb.contains", -3, Read, "key item [item ...]", "Reports for each item whether it is in the set, exactly", ebContains),
		ofKey("eb.del", -3, Write, "key item [item ...]", "Deletes items and reports which were in the set", ebDel),
		ofKey("eb.info", 2, Read, "key", "Describes a set", ebInfo),
		{Name: "eb.union", Arity: -3, Flags: Write | Alone | DenyOOM | NoMulti, First: 1, Last: -1, Step: 1, Syntax: "destination source [source ...]", Summary: "Adds the keys of the sources to the destination", Run: merge(mergeUnion)},
		{Name: "eb.intersect", Arity: -3, Flags: Write | Alone | NoMulti, First: 1, Last: -1, Step: 1, Syntax: "destination source [source ...]", Summary: "Deletes the keys of the destination that are not in all sources", Run: merge(mergeIntersect)},
		{Name: "eb.diff", Arity: -3, Flags: Write | Alone | NoMulti, First: 1, Last: -1, Step: 1, Syntax: "destination source [source ...]", Summary: "Deletes the keys of the sources from the destination", Run: merge(mergeDiff)},
		ofKey("eb.export", 3, Read|Alone|Admin, "key cursor", "Returns a chunk of the file of a set and the cursor of the next one", ebExport),
		ofKey("eb.import", 4, Write|DenyOOM|Admin, "key cursor data", "Restores a chunk of the file of a set; cursor 0 ends it", ebImport),
	}
}

// ebRequest is what EB.CREATE is asked for.
type ebRequest struct {
	everbloom.Needs
	expiry int64
	nx     bool
	shards uint64
}

// parseNeeds understands the words of EB.CREATE and EB.PLAN, in any order.
func (c *Call) parseNeeds(words [][]byte) (r ebRequest, problem string) {
	for i := 0; i < len(words); i++ {
		name := strings.ToUpper(string(words[i]))
		if r.flag(name) {
			continue
		}
		if i++; i == len(words) {
			return r, "ERR syntax error near '" + string(words[i-1]) + "'"
		}
		if problem := c.need(&r, name, words[i]); problem != "" {
			return r, problem
		}
	}
	return r, ""
}

// flag takes a word that stands alone.
func (r *ebRequest) flag(name string) bool {
	switch name {
	case "DELETE":
		r.Delete = true
	case "KNOWNDELETES":
		r.KnownDeletes, r.Delete = true, true
	case "GROW":
		r.Grow = true
	case "MERGE":
		r.Merge = true
	case "NX":
		r.nx = true
	default:
		return false
	}
	return true
}

// need takes a word and its value.
func (c *Call) need(r *ebRequest, name string, value []byte) (problem string) {
	var err error
	switch name {
	case "ITEMS":
		r.Items, err = quantity.ParseCount(string(value))
		if err == nil && r.Items > maxCapacity<<8 {
			return "ERR ITEMS: at most 274877906944"
		}
	case "FPR":
		r.FPR, err = quantity.ParseRate(string(value))
	case "SPARE":
		r.Spare, err = everbloom.ParseResource(strings.ToLower(string(value)))
	case "KIND":
		r.Kind = strings.ToLower(string(value))
		if _, ok := store.KindOf(r.Kind); !ok {
			return "ERR KIND: a server has no kind '" + r.Kind + "'"
		}
	case "SHARDS":
		r.shards, problem = parseShards(value)
		return problem
	case "EX", "PX", "EXAT", "PXAT":
		r.expiry, problem = c.expiryOption(name, value)
		return problem
	default:
		return "ERR syntax error near '" + name + "'"
	}
	if err != nil {
		return "ERR " + name + ": " + err.Error()
	}
	return ""
}

// maxChoices is how many choices are kept.
const maxChoices = 1024

// choose returns the first kind of the plan that a server makes. Planning takes longer than
// making a small set, so choices are kept. The partition calls it.
func (e *Env) choose(n everbloom.Needs) (frame.Kind, error) {
	if kind, ok := e.choices[n]; ok {
		return kind, nil
	}
	choices, err := everbloom.Plan(n)
	if err != nil {
		return 0, err
	}
	for _, ch := range choices {
		kind, ok := store.KindOf(ch.Kind)
		if ok && (ch.Fits || ch.Weaker) && (n.Kind == "" && ch.Fits || ch.Kind == n.Kind) {
			if len(e.choices) >= maxChoices || e.choices == nil {
				e.choices = make(map[everbloom.Needs]frame.Kind)
			}
			e.choices[n] = kind
			return kind, nil
		}
	}
	return 0, everbloom.ErrNoKind
}

const (
	defaultItems = 1_000_000
	defaultFPR   = 0.001
)

func ebCreate(c *Call) {
	r, problem := c.parseNeeds(c.args[2:])
	if problem == "" {
		problem = c.sharded(r.shards)
	}
	if problem != "" {
		c.w.Err(problem)
		return
	}
	if c.superseded() {
		c.w.OK()
		return
	}
	if c.find(c.args[1]) != nil {
		if r.nx {
			c.w.Bool(false)
		} else {
			c.w.Err("ERR item exists")
		}
		return
	}
	if r.Items == 0 {
		r.Items = defaultItems
	}
	if r.FPR == 0 {
		r.FPR = defaultFPR
	}
	if c.part.Count > 0 {
		r.Items = store.Share(r.Items, c.part.Count)
	}
	kind, err := c.env.choose(r.Needs)
	if err != nil {
		c.w.Err("ERR " + err.Error())
		return
	}
	spec := store.Spec{Type: store.Bloom, Kind: kind, Capacity: r.Items, FPR: r.FPR, Expansion: 2, BucketSize: 2, Iterations: 20, Expiry: r.expiry, Part: c.newPart()}
	if r.Delete || kind == frame.Evergreen || kind == frame.DLeft || kind == frame.Counting {
		spec.Type = store.Cuckoo
	}
	items := r.Items
	if kind == frame.Perennial {
		items = 0 // it grows as keys come
	}
	if c.create(c.args[1], spec, items, r.FPR, "ERR Insufficient memory to create the set") == nil {
		return
	}
	switch {
	case spec.Part.Count > 0:
		c.w.Int(int64(spec.Part.Set)) // the router answers
	case r.nx:
		c.w.Bool(true)
	default:
		c.w.OK()
	}
}

func ebPlan(c *Call) {
	r, problem := c.parseNeeds(c.args[1:])
	if problem != "" {
		c.w.Err(problem)
		return
	}
	choices, err := everbloom.Plan(r.Needs)
	if err != nil && len(choices) == 0 {
		c.w.Err("ERR " + err.Error())
		return
	}
	var known []everbloom.Choice
	for _, ch := range choices {
		if _, ok := store.KindOf(ch.Kind); ok {
			known = append(known, ch)
		}
	}
	c.w.Array(len(known))
	for _, ch := range known {
		c.pairs("kind", ch.Kind, "fits", ch.Fits, "why", ch.Why, "fast_bits_per_key", ch.FastBitsPerKey, "slow_bits_per_key", ch.SlowBitsPerKey,
			"fpr", ch.FPR, "hit_lines", ch.HitLines, "miss_lines", ch.MissLines)
	}
}

// anyFilter returns the filter of a name, of whatever type. It answers and returns nil if
// there is none.
func (c *Call) anyFilter(name []byte) *store.Entry {
	switch e := c.find(name); {
	case e == nil:
		c.w.Err(notFound)
	case e.Type() == store.Text:
		c.w.Err(wrongType)
	default:
		return e
	}
	return nil
}

func ebAdd(c *Call) {
	e := c.anyFilter(c.args[1])
	if e == nil {
		return
	}
	c.w.Array(len(c.args) - 2)
	for i, item := range c.args[2:] {
		c.foresee(e, c.args[2+i:])
		o := c.tx.Add(e, item, c.here(formCuckoo))
		c.outcome(formCuckoo, o)
	}
}

func ebExists(c *Call) {
	e := c.find(c.args[1])
	if e != nil && e.Type() == store.Text {
		c.w.Err(wrongType)
		return
	}
	c.existAll(e, c.args[2:])
}

func ebContains(c *Call) {
	e := c.anyFilter(c.args[1])
	if e == nil {
		return
	}
	if !e.Exact() {
		c.w.Err("ERR the kind " + store.KindName(e.Spec().Kind) + " cannot answer exactly: create the set with DELETE")
		return
	}
	c.w.Array(len(c.args) - 2)
	for _, item := range c.args[2:] {
		k := e.Key(item)
		if c.tx != nil {
			c.w.Bool(c.tx.Contains(e, k))
		} else {
			c.w.Bool(e.Has(k))
		}
	}
}

func ebDel(c *Call) {
	e := c.anyFilter(c.args[1])
	if e == nil {
		return
	}
	if e.Type() != store.Cuckoo {
		c.w.Err("ERR the set cannot delete: create it with DELETE")
		return
	}
	c.w.Array(len(c.args) - 2)
	for _, item := range c.args[2:] {
		c.outcome(formBool, c.tx.Remove(e, e.Key(item), c.here(formBool)))
	}
}
