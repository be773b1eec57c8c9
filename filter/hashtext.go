package filter

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// Name returns the hash as text, such as "xxh3" or "murmur3:7" with a seed.
// A secret does not show: the name is then just "siphash".
func (h Hash) Name() string {
	if int(h.algorithm) >= len(algorithmNames) {
		return fmt.Sprintf("algorithm(%d)", uint8(h.algorithm))
	}
	name := algorithmNames[h.algorithm]
	if h.Secret() || h.seed == 0 {
		return name
	}
	return name + ":" + strconv.FormatUint(h.seed, 10)
}

// Format prints the Name whatever the verb, so that no secret can slip out.
func (h Hash) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(h.Name())) }

// MarshalText returns the Name.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.Name()), nil }

// ParseHash understands "xxh3", "murmur3", both also with a decimal seed as in
// "xxh3:42", "siphash" (a new random secret) and "siphash:" followed by the 32
// hexadecimal digits of a secret.
func ParseHash(text string) (Hash, error) {
	name, seed, seeded := strings.Cut(text, ":")
	switch name {
	case "xxh3", "murmur3":
		n, err := parseSeed(seed, seeded)
		if err != nil {
			return Hash{}, fault.In("filter", "hash %s: the seed is not a number from 0 to 2^64-1", name)
		}
		if name == "xxh3" {
			return XXH3(n), nil
		}
		return Murmur3(n), nil
	case "siphash":
		if !seeded {
			return NewSipHash(), nil
		}
		return parseSipHash(seed)
	}
	return Hash{}, fault.In("filter", "hash %q is unknown: take xxh3, siphash or murmur3", leadingWord(name))
}

// leadingWord returns a mistyped name, of a long one the letters that it begins
// with: what follows may be a secret.
func leadingWord(text string) string {
	if len(text) <= 8 {
		return text
	}
	for i, r := range text {
		if i >= 8 || !unicode.IsLetter(r) {
			return text[:i] + "…"
		}
	}
	return text
}

func parseSeed(text string, given bool) (uint64, error) {
	if !given {
		return 0, nil
	}
	return strconv.ParseUint(text, 10, 64)
}

// parseSipHash keeps the digits out of its error: they may be a secret with one
// letter mistyped.
func parseSipHash(digits string) (Hash, error) {
	secret, err := hex.DecodeString(digits)
	if err != nil || len(secret) != 16 {
		return Hash{}, fault.In("filter", "hash siphash: secret has %d characters, want 32 hexadecimal digits", len(digits))
	}
	return SipHash([16]byte(secret)), nil
}

// The stored form of a Hash, at most 17 bytes:
//
//	algorithm u8 | seed u64              (xxh3, murmur3)
//	algorithm u8 | secret 16 bytes       (siphash)

// AppendBinary appends the stored form, secret and all.
func (h Hash) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, byte(h.stored()))
	if h.Secret() {
		secret := h.secret.reveal()
		b = binary.LittleEndian.AppendUint64(b, secret[0])
		return binary.LittleEndian.AppendUint64(b, secret[1]), nil
	}
	return binary.LittleEndian.AppendUint64(b, h.seed), nil
}

// stored returns the algorithm's number in files.
func (h Hash) stored() algorithm {
	if h.algorithm == algorithmSeeded {
		return algorithmXXH3
	}
	return h.algorithm
}

// MarshalBinary returns the stored form, secret and all.
func (h Hash) MarshalBinary() ([]byte, error) { return h.AppendBinary(nil) }

// UnmarshalBinary reads the stored form.
func (h *Hash) UnmarshalBinary(b []byte) error {
	if len(b) == 0 {
		return corruptHash("hash", "no bytes", "")
	}
	got := Hash{algorithm: algorithm(b[0])}
	if got.algorithm > algorithmMurmur3 {
		return corruptHash("hash: algorithm", strconv.Itoa(int(b[0])), fmt.Sprintf("0 to %d", algorithmMurmur3))
	}
	want := 9
	if got.Secret() {
		want = 17
	}
	if len(b) != want {
		return corruptHash("hash: bytes", strconv.Itoa(len(b)), fmt.Sprintf("%d for %s", want, got.Name()))
	}
	switch got.algorithm {
	case algorithmSipHash:
		*h = SipHash([16]byte(b[1:]))
	case algorithmMurmur3:
		*h = Murmur3(binary.LittleEndian.Uint64(b[1:]))
	default:
		*h = XXH3(binary.LittleEndian.Uint64(b[1:]))
	}
	return nil
}

func corruptHash(field, value, limit string) error {
	return &FormatError{Field: field, Value: value, Limit: limit, Err: ErrCorrupt}
}
