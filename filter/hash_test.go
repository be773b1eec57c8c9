package filter

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
)

// vectorSecret is the key of the test vectors in the SipHash paper.
var vectorSecret = [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

var hashes = []Hash{
	{}, XXH3(1), XXH3(1<<64 - 1), Murmur3(0), Murmur3(7), SipHash(vectorSecret), SipHash([16]byte{15: 255}),
}

// input returns the bytes 0, 1, 2, … as the SipHash paper has them.
func input(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// TestKeysNeverChange compares with a file of keys that were made once and for
// all: stored filters depend on them. Never write the file anew. Its columns are
// the hash, the length of the input, which is 0, 1, 2, …, and the key.
func TestKeysNeverChange(t *testing.T) {
	file, err := os.Open("testdata/keys-v1.golden")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := 0
	for s := bufio.NewScanner(file); s.Scan(); lines++ {
		var name string
		var length int
		var want Key
		if _, err := fmt.Sscanf(s.Text(), "%s %d %x", &name, &length, &want); err != nil {
			t.Fatalf("line %d, %q: %v", lines+1, s.Text(), err)
		}
		h, err := ParseHash(name)
		if err != nil {
			t.Fatalf("line %d: %v", lines+1, err)
		}
		if got := h.Bytes(input(length)); got != want {
			t.Errorf("line %d: %s of %d bytes is %016x, must stay %016x", lines+1, h, length, uint64(got), uint64(want))
		}
	}
	if lines != 372 {
		t.Errorf("the file has %d lines, want 372", lines)
	}
}

// TestPublishedVectors compares with numbers that others have published.
func TestPublishedVectors(t *testing.T) {
	sip := SipHash(vectorSecret)
	for _, v := range []struct {
		where string
		got   Key
		want  Key
	}{
		{"SipHash paper, Appendix A", sip.Bytes(input(15)), 0xa129ca6149be45e5},
		{"SipHash reference code, vector 0", sip.Bytes(nil), 0x726fdb47dd0e0e31},
		{"SipHash reference code, vector 1", sip.Bytes(input(1)), 0x74f839c593dc67fd},
		{"XXH3 of nothing", Hash{}.Bytes(nil), 0x2d06800538d394c2},
		{"MurmurHash3 of nothing", Murmur3(0).Bytes(nil), 0},
		{"MurmurHash3 of hello", Murmur3(0).String("hello"), 0xcbd8a7b341bd9b02},
	} {
		if v.got != v.want {
			t.Errorf("%s: got %#x, want %#x", v.where, uint64(v.got), uint64(v.want))
		}
	}
}

func TestAllFormsOfAKeyAgree(t *testing.T) {
	for _, h := range hashes {
		for _, n := range []int{0, 1, 3, 4, 8, 9, 16, 17, 31, 64, 128, 129, 240, 241, 1024, 5000} {
			b := input(n)
			if h.Bytes(b) != h.String(string(b)) {
				t.Errorf("%v of %d bytes: Bytes and String differ", h, n)
			}
		}
		for _, x := range []uint64{0, 1, 0x0102030405060708, 1<<64 - 1} {
			if h.Uint64(x) != h.Bytes(binary.LittleEndian.AppendUint64(nil, x)) {
				t.Errorf("%v of %#x: Uint64 and its little-endian bytes differ", h, x)
			}
		}
	}
}

func TestHashesCompare(t *testing.T) {
	for i, a := range hashes {
		for j, b := range hashes {
			if (a == b) != (i == j) {
				t.Errorf("hashes %d and %d: equal is %t", i, j, a == b)
			}
		}
	}
	if again := SipHash(vectorSecret); (Hash{}) != XXH3(0) || hashes[5] != again {
		t.Error("equal hashes are unequal")
	}
	if a, b := NewSipHash(), NewSipHash(); a == b || a.String("x") == b.String("x") {
		t.Error("two new secrets are equal or give one key")
	}
}

func TestHashingAllocatesNothing(t *testing.T) {
	b, s := input(100), string(input(100))
	var sum Key
	for _, h := range hashes {
		if n := testing.AllocsPerRun(1, func() {
			for i := range 100 {
				sum += h.Bytes(b[:i]) + h.String(s[:i]) + h.Uint64(uint64(i))
			}
		}); n != 0 {
			t.Errorf("%v: %.0f allocations in 300 calls", h, n)
		}
	}
	if sum == 0 {
		t.Error("the keys add up to 0")
	}
}

// TestSecretIsNeverShown prints a Hash in every way that people print things, by
// itself and inside of others, and looks for all forms of the secret.
func TestSecretIsNeverShown(t *testing.T) {
	secret := [16]byte{0xde, 0xad, 0xbe, 0xef, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0, 0x55, 0xaa, 0x66, 0x99}
	h := SipHash(secret)
	type owner struct{ hash Hash } // unexported: fmt does not ask Hash how to print it
	type renamed Hash              // without Hash's methods
	things := []any{
		h, &h,
		owner{h},
		&owner{h}, renamed(h),
		struct{ Hash }{h},
		struct{ Public any }{h},
		[]Hash{h},
		[]owner{{h}},
		[1]renamed{renamed(h)},
		map[string]Hash{"h": h},
		map[Hash]int{h: 1},
	}
	var out strings.Builder
	for _, thing := range things {
		for _, verb := range "vTdbcoOqxXUeEfFgGstpw" {
			for _, flag := range []string{"", "+", "#", " ", "0", "-", "40", "+#"} {
				fmt.Fprintf(&out, "%"+flag+string(verb)+"\n", thing)
			}
		}
		fmt.Fprintln(&out, thing)
		text, err := json.Marshal(thing)
		fmt.Fprintf(&out, "%s %v\n", text, err)
		for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(handler).Info("x", "hash", thing)
		}
	}
	fmt.Fprintln(&out, fmt.Errorf("trouble with %v and %w", h, errors.New(h.Name())))
	wantNoSecret(t, out.String(), secret)
	if !strings.Contains(out.String(), "siphash") {
		t.Error("not even the algorithm is shown")
	}
}

// wantNoSecret looks for the secret's numbers in the bases that fmt knows, and
// for its bytes as text and as hexadecimal digits.
func wantNoSecret(t *testing.T, text string, secret [16]byte) {
	t.Helper()
	text = strings.ToLower(text)
	for i := 0; i < 16; i += 8 {
		n := binary.LittleEndian.Uint64(secret[i:])
		for _, base := range []string{"%d", "%x", "%o", "%b"} {
			if shown := fmt.Sprintf(base, n); strings.Contains(text, shown) {
				t.Errorf("the secret shows as %s", shown)
			}
		}
		for _, shown := range []string{hex.EncodeToString(secret[i : i+8]), strings.ToLower(string(secret[i : i+8]))} {
			if strings.Contains(text, shown) {
				t.Errorf("the secret shows as %q", shown)
			}
		}
	}
}
