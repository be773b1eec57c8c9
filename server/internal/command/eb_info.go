package command

import "math"

func ebInfo(c *Call) {
	e := c.anyFilter(c.args[1])
	if e == nil || !c.described(e) {
		return
	}
	i, spec := e.Info(), e.Spec()
	c.w.Map(12)
	c.w.Text("kind")
	c.w.Text(i.Kind)
	c.w.Text("keys")
	c.w.Int(int64(min(i.Keys, math.MaxInt64)))
	c.w.Text("exact")
	c.w.Bool(i.Exact)
	c.w.Text("capacity")
	c.w.Int(int64(spec.Capacity))
	c.w.Text("asked_fpr")
	c.w.Double(spec.FPR)
	c.w.Text("fpr")
	c.w.Double(max(i.FPR, 0))
	c.w.Text("fast_bits")
	c.w.Int(int64(i.FastBits))
	c.w.Text("slow_bits")
	c.w.Int(int64(i.SlowBits))
	c.w.Text("fill")
	c.w.Double(i.Fill)
	c.w.Text("hash")
	c.w.Text(e.HashName())
	c.w.Text("items")
	c.w.Int(int64(c.items(e)))
	c.w.Text("ttl")
	left := int64(-1)
	if at := c.expiry(e); at != 0 {
		left = max(at-c.time(), 0)
	}
	c.w.Int(left)
}
