package frame

import "fmt"

// Limits of the format. They are part of it: do not change.
const (
	envelopeVersion = 1

	maxHeader  = 4096    // bytes of a header, its CRC included
	maxHash    = 64      // bytes of the hash
	maxFields  = 32      // fields of a shape
	maxName    = 32      // bytes of a field's name
	maxPayload = 1 << 50 // bytes: 2^32 numbered chunks of chunkSize

	chunkSize = 256 << 10 // bytes of every written chunk but the last
	maxChunk  = 1 << 20   // bytes of a chunk that a reader accepts
)

// Kind says which kind of filter a frame holds. The numbers are given out in
// kinds.go and never reused.
type Kind uint16

// Header says what a frame holds. It can be read without the payload.
type Header struct {
	Kind    Kind    `json:"kind"`
	Version uint16  `json:"version"` // of the kind's own format, not of the envelope
	Part    uint16  `json:"part"`    // from 0, below Parts
	Parts   uint16  `json:"parts"`   // frames of the set; 0 is written as 1
	Hash    Opaque  `json:"hash"`    // how keys were hashed, at most 64 bytes; empty if unknown
	Shape   Shape   `json:"shape"`   // the geometry
	Summary Summary `json:"summary"`
	Payload uint64  `json:"payload"` // bytes, without the chunks' own heads
}

// Summary is what a user wants to know of a file before loading it. It is
// information, not instruction: readers do not build upon it.
type Summary struct {
	Keys     uint64 `json:"keys"`
	Capacity uint64 `json:"capacity"`  // keys it was made for; 0 if unknown or without limit
	SetBits  uint64 `json:"set_bits"`  // or whatever the kind has instead: counters above zero, cells in use
	FastBits uint64 `json:"fast_bits"` // memory that queries touch
	SlowBits uint64 `json:"slow_bits"` // memory that only changes touch
}

// String gives the header in one line, without the bytes of the hash.
func (h Header) String() string {
	return fmt.Sprintf("kind %d version %d part %d of %d hash %v shape {%v} keys %d payload %d bytes",
		h.Kind, h.Version, h.Part, h.parts(), h.Hash, h.Shape, h.Summary.Keys, h.Payload)
}

// parts is Parts with its zero value resolved.
func (h Header) parts() uint16 { return max(h.Parts, 1) }

// Opaque is a run of bytes that is stored but never shown: the hash may hold a
// secret seed, which must not reach a log or a terminal by way of a Header.
type Opaque []byte

// Format prints the length only, whatever the verb.
func (o Opaque) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "(%d bytes)", len(o))
}

// MarshalText gives the length only, as Format does.
func (o Opaque) MarshalText() ([]byte, error) {
	return fmt.Append(nil, o), nil
}
