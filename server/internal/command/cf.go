package command

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/server/internal/resp"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

func cuckooCommands() []*Command {
	return []*Command{
		ofKey("cf.reserve", -3, Write|DenyOOM, "key capacity [BUCKETSIZE bucketsize] [MAXITERATIONS maxiterations] [EXPANSION expansion]", "Creates an empty filter", cfReserve),
		ofKey("cf.add", 3, Write|DenyOOM|Fast, "key item", "Adds a copy of an item; creates the filter if it does not exist", cfAdd),
		ofKey("cf.addnx", 3, Write|DenyOOM|Fast, "key item", "Adds an item unless it may be in the filter", cfAddNX),
		ofKey("cf.insert", -4, Write|DenyOOM, "key [CAPACITY capacity] [NOCREATE] ITEMS item [item ...]", "Adds a copy of each item; creates the filter if it does not exist", cfInsert),
		ofKey("cf.insertnx", -4, Write|DenyOOM, "key [CAPACITY capacity] [NOCREATE] ITEMS item [item ...]", "Adds the items that are not in the filter", cfInsertNX),
		ofKey("cf.exists", 3, Read|Fast, "key item", "Reports whether an item may be in the filter", cfExists),
		ofKey("cf.mexists", -3, Read, "key item [item ...]", "Reports for each item whether it may be in the filter", cfMExists),
		ofKey("cf.count", 3, Read|Fast, "key item", "Returns the number of copies of an item, or more", cfCount),
		ofKey("cf.del", 3, Write|Fast, "key item", "Deletes one copy of an item", cfDel),
		ofKey("cf.info", 2, Read|Fast, "key", "Describes a filter", cfInfo),
		ofKey("cf.debug", 2, Read, "key", "Describes a filter in one line", cfDebug),
		ofKey("cf.compact", 2, Write, "key", "Does nothing: filters are always compact", cfCompact),
		ofKey("cf.scandump", 3, Read|Alone|Admin, "key cursor", "Returns a chunk of a filter and the cursor of the next one", scanDump(store.Cuckoo)),
		ofKey("cf.loadchunk", 4, Write|DenyOOM, "key cursor data", "Restores a chunk that CF.SCANDUMP returned", loadChunk(store.Cuckoo)),
	}
}

// A cuckooRequest is what a filter is asked to be.
type cuckooRequest struct {
	capacity, bucketSize, iterations, expansion uint64
}

func (c *Call) cuckooDefaults() cuckooRequest {
	s := c.env.Settings
	return cuckooRequest{s.Number("cf-initial-size"), s.Number("cf-bucket-size"), s.Number("cf-max-iterations"), s.Number("cf-expansion-factor")}
}

// cuckooFPR is the rate of filters behind CF.*, below what RedisBloom has at the start.
const cuckooFPR = 0.01

// buckets returns how many buckets RedisBloom would have.
func buckets(s *store.Spec) uint64 {
	n := (s.Capacity + uint64(s.BucketSize) - 1) / uint64(max(s.BucketSize, 1))
	return 1 << bits.Len64(max(n, 1)-1)
}

// makeCuckoo makes the filter. It answers and returns nil if it cannot.
func (c *Call) makeCuckoo(name []byte, r cuckooRequest) *store.Entry {
	if r.expansion > 0 {
		r.expansion = 1 << bits.Len64(r.expansion-1)
	}
	spec := store.Spec{
		Type: store.Cuckoo, Kind: frame.Perennial, Capacity: r.capacity, FPR: cuckooFPR, Expansion: uint32(r.expansion),
		BucketSize: uint16(r.bucketSize), Iterations: uint16(r.iterations), Fixed: r.expansion == 0,
	}
	if c.env.Settings.Get("cf-kind") == "evergreen" {
		spec.Kind = frame.Evergreen
	}
	if spec.Fixed {
		spec.Limit = buckets(&spec) * r.bucketSize
	}
	return c.create(name, spec, 0, cuckooFPR, "ERR Insufficient memory to create filter")
}

func cfReserve(c *Call) {
	if len(c.args)%2 == 0 {
		c.arity()
		return
	}
	r, problem := c.parseCuckoo()
	c.reserve(store.Cuckoo, problem, func() *store.Entry { return c.makeCuckoo(c.args[1], r) })
}

// parseCuckoo understands the words of CF.RESERVE. Pairs that it does not know are passed
// over, as RedisBloom does.
func (c *Call) parseCuckoo() (r cuckooRequest, problem string) {
	r = c.cuckooDefaults()
	capacity, ok := resp.ParseInt(c.args[2])
	if !ok {
		return r, "Bad capacity"
	}
	options := map[string]struct {
		value    *uint64
		min, max int64
	}{
		"BUCKETSIZE":    {&r.bucketSize, 1, 255},
		"MAXITERATIONS": {&r.iterations, 1, 65535},
		"EXPANSION":     {&r.expansion, 0, maxExpansion},
	}
	for i := 3; i+1 < len(c.args); i += 2 {
		name := strings.ToUpper(string(c.args[i]))
		o, known := options[name]
		if !known {
			continue
		}
		n, ok := resp.ParseInt(c.args[i+1])
		switch {
		case !ok:
			return r, "Couldn't parse " + name
		case n < o.min || n > o.max:
			return r, fmt.Sprintf("%s: value must be in the range [%d, %d]", name, o.min, o.max)
		}
		*o.value = uint64(n)
	}
	if capacity < 2*int64(r.bucketSize) || capacity > maxCapacity {
		return r, "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"
	}
	r.capacity = uint64(capacity)
	return r, ""
}

// cuckooToAdd is toAdd with a request.
func (c *Call) cuckooToAdd(r cuckooRequest) *store.Entry {
	return c.toAdd(store.Cuckoo, func() *store.Entry { return c.makeCuckoo(c.args[1], r) })
}

func cfAdd(c *Call) {
	if e := c.cuckooToAdd(c.cuckooDefaults()); e != nil {
		c.outcome(formCuckoo, c.tx.AddCopy(e, e.Key(c.args[2]), c.here(formCuckoo)))
	}
}

func cfAddNX(c *Call) {
	if e := c.cuckooToAdd(c.cuckooDefaults()); e != nil {
		c.outcome(formCuckoo, c.tx.AddNew(e, e.Key(c.args[2]), c.here(formCuckoo)))
	}
}

func cfInsert(c *Call) { c.insertCuckoo(false) }

func cfInsertNX(c *Call) { c.insertCuckoo(true) }

func (c *Call) insertCuckoo(onlyNew bool) {
	r := c.cuckooDefaults()
	items, problem := c.parseInsert(r.option)
	if problem != "" {
		c.w.Err(problem)
		return
	}
	e := c.cuckooToAdd(r)
	if e == nil {
		return
	}
	c.w.Array(len(items))
	for _, item := range items {
		if onlyNew {
			c.outcome(formInts, c.tx.AddNew(e, e.Key(item), c.here(formInts)))
		} else {
			c.outcome(formInsert, c.tx.AddCopy(e, e.Key(item), c.here(formInsert)))
		}
	}
}

// option takes one option of CF.INSERT.
func (r *cuckooRequest) option(word string, value []byte) (used int, problem string) {
	if word != "CAPACITY" {
		return 0, ""
	}
	n, ok := resp.ParseInt(value)
	switch {
	case !ok:
		return 2, "Bad capacity"
	case n < 2*int64(r.bucketSize) || n > maxCapacity:
		return 2, "Capacity must be in the range [cf-bucket-size * 2, 1073741824]"
	}
	r.capacity = uint64(n)
	return 2, ""
}

func cfExists(c *Call) { c.exists(store.Cuckoo) }

func cfMExists(c *Call) { c.existAll(c.filterOf(c.args[1], store.Cuckoo), c.args[2:]) }

func cfCount(c *Call) {
	e := c.filterOf(c.args[1], store.Cuckoo)
	switch {
	case e == nil:
		c.w.Int(0)
	case c.tx != nil:
		c.w.Int(int64(c.tx.Count(e, e.Key(c.args[2]), c.here(formCount))))
	default:
		c.w.Int(int64(e.Count(e.Key(c.args[2]))))
	}
}

func cfDel(c *Call) {
	e := c.filterOf(c.args[1], store.Cuckoo)
	if e == nil {
		c.w.Err("Not found")
		return
	}
	c.outcome(formBool, c.tx.RemoveCopy(e, e.Key(c.args[2]), c.here(formBool)))
}

func cfInfo(c *Call) {
	e := c.existing(store.Cuckoo)
	if e == nil || !c.described(e) {
		return
	}
	s := e.Spec()
	fields := []struct {
		name  string
		value uint64
	}{
		{"Size", uint64(e.Size())},
		{"Number of buckets", buckets(s)},
		{"Number of filters", uint64(e.Units())},
		{"Number of items inserted", c.items(e)},
		{"Number of items deleted", c.deletes(e)},
		{"Bucket size", uint64(s.BucketSize)},
		{"Expansion rate", uint64(s.Expansion)},
		{"Max iterations", uint64(s.Iterations)},
	}
	c.w.Map(len(fields))
	for _, f := range fields {
		c.w.Simple(f.name)
		c.w.Int(int64(f.value))
	}
}

func cfDebug(c *Call) {
	e := c.existing(store.Cuckoo)
	if e == nil {
		return
	}
	s := e.Spec()
	c.w.Text(fmt.Sprintf("bktsize:%d buckets:%d items:%d deletes:%d filters:%d max_iterations:%d expansion:%d",
		s.BucketSize, buckets(s), c.items(e), c.deletes(e), e.Units(), s.Iterations, s.Expansion))
}

func cfCompact(c *Call) {
	if c.filterOf(c.args[1], store.Cuckoo) == nil {
		c.w.Err("Cuckoo filter was not found")
		return
	}
	c.w.OK()
}
