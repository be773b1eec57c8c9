//go:build !linux

package live

import (
	"errors"

	"github.com/everbloom-go/everbloom/internal/fault"
)

var errLinux = fault.In("live", "Linux only: %w", errors.ErrUnsupported)

// Open is for Linux.
func Open(_, _ string, _ Options, _ func(format string, args ...any)) (*Live, error) {
	return nil, errLinux
}

// OpenEnforcer is for Linux.
func OpenEnforcer(_ string, _ Options) (Enforcer, error) { return nil, errLinux }

// Detach is for Linux.
func Detach() (string, error) { return "", errLinux }
