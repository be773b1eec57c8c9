//go:build !amd64 || purego

package dleft

import "github.com/everbloom-go/everbloom/filter"

func (f *Filter) mayContainShort(k filter.Key) bool { return f.hasShort(f.fingerprint(k)) }
