package filtertest

import (
	"errors"

	"github.com/everbloom-go/everbloom/filter"
)

// resizeKeepsAllKeys goes up and down several times, between additions. The
// first step up and one step down after it must succeed, unless the kind cannot
// go that way at all; further steps may end at a limit, with all keys kept.
func resizeKeepsAllKeys(c checker) {
	const steps, perStep = 5, 200
	f := c.make(steps*perStep, 0.01).(filter.Resizer)
	keys := c.keys(67, 2*steps*perStep)
	n := 0
	for _, direction := range []struct {
		name string
		run  func() error
	}{{"Grow", f.Grow}, {"Shrink", f.Shrink}} {
		for step := range steps {
			c.addAll(f, keys[n:n+perStep])
			n += perStep
			before := f.Info()
			err := direction.run()
			if step == 0 && err != nil && !errors.Is(err, errors.ErrUnsupported) {
				c.Errorf("%s: %v", direction.name, err)
			}
			if err != nil && f.Info().FastBits != before.FastBits {
				c.Errorf("%s failed with %v, and yet the size went from %d to %d bits", direction.name, err, before.FastBits, f.Info().FastBits)
			}
			c.wantAll(f, keys[:n], "after "+direction.name)
			c.checkInfo(f.Info())
		}
	}
}
