//go:build !amd64 || purego

package dleft

import "github.com/everbloom-go/everbloom/filter"

func (c *store) mayContainShort(k filter.Key) bool { return c.hasShort(c.fingerprint(k)) }
