package command

// pairs writes a map of names and values: strings, numbers, booleans, lists of strings, which
// are sets of simple strings, and functions that write the value.
func (c *Call) pairs(list ...any) {
	c.w.Map(len(list) / 2)
	for i, v := range list {
		if i%2 == 0 {
			c.w.Text(v.(string))
			continue
		}
		switch v := v.(type) {
		case string:
			c.w.Text(v)
		case int:
			c.w.Int(int64(v))
		case int64:
			c.w.Int(v)
		case uint64:
			c.w.Int(int64(v))
		case float64:
			c.w.Double(v)
		case bool:
			c.w.Bool(v)
		case []string:
			c.simples(v)
		case func():
			v()
		}
	}
}

// simples writes a set of simple strings.
func (c *Call) simples(list []string) {
	c.w.Set(len(list))
	for _, s := range list {
		c.w.Simple(s)
	}
}
