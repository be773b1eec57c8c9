package command

import (
	"math"
	"strconv"
	"strings"

	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/server/internal/resp"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

func bloomCommands() []*Command {
	return []*Command{
		ofKey("bf.reserve", -4, Write|DenyOOM, "key error_rate capacity [EXPANSION expansion] [NONSCALING]", "Creates an empty filter", bfReserve),
		ofKey("bf.add", 3, Write|DenyOOM|Fast, "key item", "Adds an item; creates the filter if it does not exist", bfAdd),
		ofKey("bf.madd", -3, Write|DenyOOM, "key item [item ...]", "Adds items; creates the filter if it does not exist", bfMAdd),
		ofKey("bf.insert", -4, Write|DenyOOM, "key [CAPACITY capacity] [ERROR error] [EXPANSION expansion] [NOCREATE] [NONSCALING] ITEMS item [item ...]", "Adds items; creates the filter with these options if it does not exist", bfInsert),
		ofKey("bf.exists", 3, Read|Fast, "key item", "Reports whether an item may be in the filter", bfExists),
		ofKey("bf.mexists", -3, Read, "key item [item ...]", "Reports for each item whether it may be in the filter", bfMExists),
		ofKey("bf.card", 2, Read|Fast, "key", "Returns the number of items that were new when they were added", bfCard),
		ofKey("bf.info", -2, Read|Fast, "key [CAPACITY|SIZE|FILTERS|ITEMS|EXPANSION]", "Describes a filter", bfInfo),
		ofKey("bf.debug", 2, Read, "key", "Describes the sub-filters of a filter", bfDebug),
		ofKey("bf.scandump", 3, Read|Alone|Admin, "key cursor", "Returns a chunk of a filter and the cursor of the next one", scanDump(store.Bloom)),
		ofKey("bf.loadchunk", 4, Write|DenyOOM, "key cursor data", "Restores a chunk that BF.SCANDUMP returned", loadChunk(store.Bloom)),
	}
}

const wrongType = "WRONGTYPE Operation against a key holding the wrong kind of value"

// A bloomRequest is what a filter is asked to be.
type bloomRequest struct {
	capacity  uint64
	fpr       float64
	expansion uint64
	fixed     bool
	reserved  bool // a capacity was named
}

// bloomDefaults returns the filter that is made if none was asked for.
func (c *Call) bloomDefaults() bloomRequest {
	s := c.env.Settings
	r := bloomRequest{capacity: s.Number("bf-initial-size"), fpr: s.Rate("bf-error-rate"), expansion: s.Number("bf-expansion-factor")}
	r.fixed = r.expansion == 0
	return r
}

const (
	maxCapacity  = 1 << 30
	maxExpansion = 32768
	maxBloomFPR  = 0.25 // what is above is taken for this
)

// makeBloom makes the filter. It answers and returns nil if it cannot.
func (c *Call) makeBloom(name []byte, r bloomRequest) *store.Entry {
	kind, items := frame.Perennial, uint64(0)
	choice := c.env.Settings.Get("bf-kind")
	switch {
	case r.fixed:
		kind, items = frame.Blocked, r.capacity
	case choice == "scalable" || choice == "auto" && r.reserved:
		kind, items = frame.Scalable, r.capacity
	}
	spec := store.Spec{Type: store.Bloom, Kind: kind, Capacity: r.capacity, FPR: r.fpr, Expansion: uint32(r.expansion), Fixed: r.fixed}
	if r.fixed {
		spec.Limit = r.capacity
	}
	return c.create(name, spec, items, min(r.fpr, maxBloomFPR), "ERR Insufficient memory to create filter")
}

// create makes an entry of a kind. It answers and returns nil if it cannot.
func (c *Call) create(name []byte, spec store.Spec, items uint64, fpr float64, failure string) *store.Entry {
	var err error
	if spec.Shape, err = c.tx.Store().Shape(spec.Kind, items, fpr); err != nil {
		c.w.Err("ERR " + err.Error())
		return nil
	}
	e, err := c.tx.Create(name, spec)
	if err != nil || c.tx.Bytes() > c.env.MaxMemory() {
		if err == nil {
			c.tx.Drop(e)
		}
		c.w.Err(failure)
		return nil
	}
	return e
}

func bfReserve(c *Call) {
	if len(c.args) > 7 {
		c.arity()
		return
	}
	r, problem := parseReserve(c.args)
	c.reserve(store.Bloom, problem, func() *store.Entry { return c.makeBloom(c.args[1], r) })
}

// reserve creates a filter of a type unless there is a problem or the name is taken.
func (c *Call) reserve(t store.Type, problem string, create func() *store.Entry) {
	if e := c.find(c.args[1]); problem == "" && e != nil {
		problem = "ERR item exists"
		if e.Type() != t {
			problem = wrongType
		}
	}
	if problem != "" {
		c.w.Err(problem)
	} else if create() != nil {
		c.w.OK()
	}
}

// parseReserve understands the words of BF.RESERVE. Words that it does not know are
// passed over, as RedisBloom does.
func parseReserve(args [][]byte) (r bloomRequest, problem string) {
	r = bloomRequest{expansion: 2, reserved: true}
	if r.fpr, problem = parseRate(args[2], "ERR bad error rate"); problem != "" {
		return r, problem
	}
	n, ok := resp.ParseInt(args[3])
	switch {
	case !ok:
		return r, "ERR bad capacity"
	case n < 1 || n > maxCapacity:
		return r, "ERR capacity must be in the range [1, 1073741824]"
	}
	r.capacity = uint64(n)
	expands := false
	for i := 4; i < len(args); i++ {
		switch strings.ToUpper(string(args[i])) {
		case "NONSCALING":
			r.fixed = true
		case "EXPANSION":
			if i++; i == len(args) {
				return r, "ERR no expansion"
			}
			n, ok := resp.ParseInt(args[i])
			switch {
			case !ok:
				return r, "ERR bad expansion"
			case n < 0 || n > maxExpansion:
				return r, "ERR expansion must be in the range [0, 32768]"
			}
			r.expansion, expands = uint64(n), n > 0
		}
	}
	if r.fixed && expands {
		return r, "Nonscaling filters cannot expand"
	}
	r.fixed = r.fixed || r.expansion == 0
	return r, ""
}

// parseRate understands a rate of false positives.
func parseRate(b []byte, bad string) (p float64, problem string) {
	p, err := strconv.ParseFloat(string(b), 64)
	if err != nil && !math.IsInf(p, 0) || math.IsNaN(p) {
		return 0, bad
	}
	if p <= 0 || p >= 1 {
		return 0, "ERR error rate must be in the range (0.000000, 1.000000)"
	}
	return p, ""
}

// toAdd returns the filter that items are added to, and creates it if it is missing. It
// answers and returns nil if it cannot.
func (c *Call) toAdd(t store.Type, create func() *store.Entry) *store.Entry {
	e := c.find(c.args[1])
	switch {
	case e == nil:
		return create()
	case e.Type() != t:
		c.w.Err(wrongType)
		return nil
	}
	return e
}

// bloomToAdd is toAdd with the defaults.
func (c *Call) bloomToAdd() *store.Entry {
	return c.toAdd(store.Bloom, func() *store.Entry { return c.makeBloom(c.args[1], c.bloomDefaults()) })
}

func bfAdd(c *Call) {
	if e := c.bloomToAdd(); e != nil {
		c.foreseeUnit(e)
		c.addBloom(e, c.args[2])
	}
}

// addBloom adds an item and answers. It reports whether there was room.
func (c *Call) addBloom(e *store.Entry, item []byte) bool {
	o := c.tx.Add(e, item, c.here(formBloom))
	if o == store.Full {
		c.w.Err("ERR non scaling filter is full")
		return false
	}
	c.outcome(formBloom, o)
	return true
}

func bfMAdd(c *Call) {
	if e := c.bloomToAdd(); e != nil {
		c.addBlooms(e, c.args[2:])
	}
}

// addBlooms adds items up to the first that there is no room for.
func (c *Call) addBlooms(e *store.Entry, items [][]byte) {
	start := c.w.Len()
	c.w.Array(len(items))
	for i, item := range items {
		c.foresee(e, items[i:])
		if !c.addBloom(e, item) {
			c.Fix(start, formArray, store.Outcome(i+1))
			return
		}
	}
}

func bfInsert(c *Call) {
	r := c.bloomDefaults()
	items, problem := c.parseInsert(r.option)
	if problem != "" {
		c.w.Err(problem)
		return
	}
	r.fixed = r.fixed || r.expansion == 0
	if e := c.toAdd(store.Bloom, func() *store.Entry { return c.makeBloom(c.args[1], r) }); e != nil {
		c.addBlooms(e, items)
	}
}

// parseInsert understands the words of BF.INSERT and CF.INSERT. option takes a word and the
// argument behind it, and reports how many of both it used; 0 means that it is unknown.
func (c *Call) parseInsert(option func(word string, value []byte) (used int, problem string)) (items [][]byte, problem string) {
	noCreate := false
	for i := 2; i < len(c.args); {
		word, rest := strings.ToUpper(string(c.args[i])), c.args[i+1:]
		switch {
		case word == "NOCREATE":
			noCreate = true
			i++
			continue
		case word == "ITEMS" && len(rest) > 0:
			if noCreate && c.find(c.args[1]) == nil {
				return nil, notFound
			}
			return rest, ""
		case len(rest) == 0:
			return nil, arity(c.cmd)
		}
		used, problem := option(word, rest[0])
		switch {
		case used == 0:
			return nil, "Unknown argument received"
		case problem != "":
			return nil, problem
		}
		i += used
	}
	return nil, arity(c.cmd)
}

// option takes one option of BF.INSERT, or one that other servers add.
func (r *bloomRequest) option(word string, value []byte) (used int, problem string) {
	n, ok := resp.ParseInt(value)
	switch word {
	case "NONSCALING":
		r.fixed = true
		return 1, ""
	case "CAPACITY":
		if !ok || n < 1 || n > maxCapacity {
			return 2, "Bad capacity"
		}
		r.capacity, r.reserved = uint64(n), true
	case "ERROR":
		p, bad := parseRate(value, "Bad error rate")
		if bad != "" {
			return 2, "Bad error rate"
		}
		r.fpr = p
	case "EXPANSION":
		if !ok || n < 0 || n > maxExpansion {
			return 2, "Bad expansion"
		}
		r.expansion = uint64(n)
	case "TIGHTENING", "SEED", "VALIDATESCALETO":
	default:
		return 0, ""
	}
	return 2, ""
}
