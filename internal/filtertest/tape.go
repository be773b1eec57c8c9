package filtertest

import "math/rand/v2"

// A tape holds the decisions of a model run: bytes that a fuzzer wrote, or dice
// without end.
type tape struct {
	script []byte
	dice   *rand.Rand
}

// over reports whether a script has been read to its end.
func (t *tape) over() bool { return t.dice == nil && len(t.script) == 0 }

// next returns the next byte, and 0 beyond the end of a script.
func (t *tape) next() int {
	if t.dice != nil {
		return int(t.dice.Uint32() >> 24)
	}
	if len(t.script) == 0 {
		return 0
	}
	b := t.script[0]
	t.script = t.script[1:]
	return int(b)
}

// below returns a number from 0 up to but not including n, 1 <= n <= 2^16.
func (t *tape) below(n int) int { return (t.next() | t.next()<<8) % n }
