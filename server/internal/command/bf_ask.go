package command

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/everbloom-go/everbloom/server/internal/store"
)

// filterOf returns the entry of a name if it is a filter of a type, nil otherwise.
func (c *Call) filterOf(name []byte, t store.Type) *store.Entry {
	if e := c.find(name); e != nil && e.Type() == t {
		return e
	}
	return nil
}

func bfExists(c *Call) { c.exists(store.Bloom) }

func (c *Call) exists(t store.Type) {
	switch e := c.filterOf(c.args[1], t); {
	case e == nil:
		c.w.Bool(false)
	case c.tx != nil || c.silent != 0:
		c.w.Bool(c.mayContain(e, c.args[2]))
	default:
		c.ask(e, c.args[2])
	}
}

func bfMExists(c *Call) { c.existAll(c.filterOf(c.args[1], store.Bloom), c.args[2:]) }

// existAll answers which items may be in a filter, or none if there is no filter.
func (c *Call) existAll(e *store.Entry, items [][]byte) {
	c.w.Array(len(items))
	if e == nil || c.tx != nil {
		for _, item := range items {
			c.w.Bool(e != nil && c.mayContain(e, item))
		}
		return
	}
	c.keys = keysOf(e, items, c.keys[:0])
	for _, yes := range c.ofKeys(e, c.keys) {
		c.w.Bool(yes)
	}
	if cap(c.keys) > maxKeptKeys {
		c.keys, c.found = nil, nil
	}
}

// maxKeptKeys is how many keys a session keeps memory for.
const maxKeptKeys = 1 << 14

func bfCard(c *Call) {
	switch e := c.find(c.args[1]); {
	case e == nil:
		c.w.Int(0)
	case e.Type() != store.Bloom:
		c.w.Err(wrongType)
	default:
		c.w.Int(int64(c.items(e)))
	}
}

// existing returns the filter of a name. It answers and returns nil if there is none.
func (c *Call) existing(t store.Type) *store.Entry {
	switch e := c.find(c.args[1]); {
	case e == nil:
		c.w.Err(notFound)
	case e.Type() != t:
		c.w.Err(wrongType)
	default:
		return e
	}
	return nil
}

const notFound = "ERR not found"

func bfInfo(c *Call) {
	if len(c.args) > 3 {
		c.arity()
		return
	}
	e := c.existing(store.Bloom)
	if e == nil || !c.described(e) {
		return
	}
	spec := e.Spec()
	fields := []struct {
		word, name string
		value      uint64
	}{
		{"CAPACITY", "Capacity", grown(spec.Capacity, uint64(spec.Expansion), c.items(e))},
		{"SIZE", "Size", uint64(e.Size())},
		{"FILTERS", "Number of filters", uint64(e.Units())},
		{"ITEMS", "Number of items inserted", c.items(e)},
		{"EXPANSION", "Expansion rate", uint64(spec.Expansion)},
	}
	write := func(i int) {
		if i == 4 && spec.Fixed {
			c.w.Null()
			return
		}
		c.w.Int(int64(fields[i].value))
	}
	if len(c.args) == 2 {
		c.w.Map(len(fields))
		for i, f := range fields {
			c.w.Simple(f.name)
			write(i)
		}
		return
	}
	for i, f := range fields {
		if strings.EqualFold(f.word, string(c.args[2])) {
			if c.w.Version() == 3 {
				c.w.Map(1)
				c.w.Simple(f.name)
			} else {
				c.w.Array(1)
			}
			write(i)
			return
		}
	}
	c.w.Err("Invalid information value")
}

// grown returns the capacity of a chain of filters that has so many items.
func grown(capacity, expansion, items uint64) uint64 {
	const most = math.MaxInt64
	total, next := capacity, capacity
	switch {
	case expansion == 0 || items <= capacity:
		return capacity
	case expansion == 1:
		high, low := bits.Mul64(capacity, (items-1)/capacity+1)
		if high != 0 {
			return most
		}
		return min(low, most)
	}
	for total < items {
		if next > most/expansion {
			return most
		}
		next *= expansion
		total = min(total+next, most)
	}
	return total
}

func bfDebug(c *Call) {
	e := c.existing(store.Bloom)
	if e == nil || !c.described(e) {
		return
	}
	i := e.Info()
	c.w.Array(2)
	c.w.Text("size:" + strconv.FormatUint(c.items(e), 10))
	c.w.Text(strings.Join([]string{
		"kind:" + i.Kind,
		"bytes:" + strconv.FormatInt(e.Bytes(), 10),
		"bits:" + strconv.FormatUint(i.FastBits+i.SlowBits, 10),
		"capacity:" + strconv.FormatUint(e.Spec().Capacity, 10),
		"size:" + strconv.FormatUint(c.items(e), 10),
		"ratio:" + strconv.FormatFloat(e.Spec().FPR, 'g', -1, 64),
	}, " "))
}
