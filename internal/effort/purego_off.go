//go:build !purego

package effort

const purego = false
