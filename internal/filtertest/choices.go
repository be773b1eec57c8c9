package filtertest

import (
	"fmt"
	"math/rand/v2"
)

// choices are the decisions of a model run: bytes that a fuzzer wrote, or random
// ones without end.
type choices struct {
	origin string // for messages
	script []byte
	random *rand.Rand
}

func randomChoices(seed uint64) *choices {
	return &choices{origin: fmt.Sprintf("seed %d", seed), random: rand.New(rand.NewPCG(seed, 0))}
}

func scripted(script []byte) *choices { return &choices{origin: "script", script: script} }

// over reports whether a script has been read to its end.
func (c *choices) over() bool { return c.random == nil && len(c.script) == 0 }

// next returns the next byte, and 0 beyond the end of a script.
func (c *choices) next() int {
	if c.random != nil {
		return c.random.IntN(256)
	}
	if len(c.script) == 0 {
		return 0
	}
	b := c.script[0]
	c.script = c.script[1:]
	return int(b)
}

// below returns a number from 0 up to but not including n. In a script n is at most
// 2^16.
func (c *choices) below(n int) int {
	if c.random != nil {
		return c.random.IntN(n)
	}
	return (c.next() | c.next()<<8) % n
}

// seedScripts returns inputs that reach every command, in filters of several sizes.
func seedScripts() [][]byte {
	random := rand.New(rand.NewPCG(1, 1))
	scripts := make([][]byte, 24)
	for i := range scripts {
		scripts[i] = make([]byte, 400)
		for at := range scripts[i] {
			scripts[i][at] = byte(random.Uint32())
		}
	}
	return scripts
}
