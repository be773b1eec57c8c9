package command

import "math"

func ebInfo(c *Call) {
	e := c.anyFilter(c.args[1])
	if e == nil || !c.described(e) {
		return
	}
	i, spec := e.Info(), e.Spec()
	left := int64(-1)
	if at := c.expiry(e); at != 0 {
		left = max(at-c.time(), 0)
	}
	c.pairs("kind", i.Kind, "keys", min(i.Keys, math.MaxInt64), "exact", i.Exact, "capacity", spec.Capacity, "asked_fpr", spec.FPR,
		"fpr", max(i.FPR, 0), "fast_bits", i.FastBits, "slow_bits", i.SlowBits, "fill", i.Fill, "hash", e.HashName(),
		"items", c.items(e), "ttl", left)
}
