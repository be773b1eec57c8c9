package filter

// A Key is a key that has been hashed, by a [Hash] or by any other function
// whose 64 bits are all good.
type Key uint64
