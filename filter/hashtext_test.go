package filter

import (
	"bytes"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

var (
	_ encoding.BinaryMarshaler   = Hash{}
	_ encoding.BinaryAppender    = Hash{}
	_ encoding.BinaryUnmarshaler = (*Hash)(nil)
	_ encoding.TextMarshaler     = Hash{}
	_ fmt.Formatter              = Hash{}
)

func TestHashNames(t *testing.T) {
	for _, c := range []struct {
		hash Hash
		name string
	}{
		{Hash{}, "xxh3"},
		{XXH3(0), "xxh3"},
		{XXH3(42), "xxh3:42"},
		{XXH3(1<<64 - 1), "xxh3:18446744073709551615"},
		{Murmur3(0), "murmur3"},
		{Murmur3(7), "murmur3:7"},
		{SipHash([16]byte{}), "siphash"},
		{SipHash(vectorSecret), "siphash"},
		{Hash{algorithm: 9}, "algorithm(9)"},
	} {
		text, err := c.hash.MarshalText()
		if got := c.hash.Name(); got != c.name || string(text) != c.name || err != nil {
			t.Errorf("name %q, text %q, error %v; want %q", got, text, err, c.name)
		}
		if got := fmt.Sprintf("%s|%d|%#v", c.hash, c.hash, c.hash); got != c.name+"|"+c.name+"|"+c.name {
			t.Errorf("printed as %q, want %q each time", got, c.name)
		}
	}
	if text, err := json.Marshal(map[string]Hash{"hash": Murmur3(7)}); err != nil || string(text) != `{"hash":"murmur3:7"}` {
		t.Errorf("JSON %s, error %v", text, err)
	}
}

func TestParseHashUnderstandsAllForms(t *testing.T) {
	for text, want := range map[string]Hash{
		"xxh3":                      {},
		"xxh3:0":                    {},
		"xxh3:42":                   XXH3(42),
		"xxh3:18446744073709551615": XXH3(1<<64 - 1),
		"murmur3":                   Murmur3(0),
		"murmur3:7":                 Murmur3(7),
		"siphash:000102030405060708090a0b0c0d0e0f": SipHash(vectorSecret),
		"siphash:000102030405060708090A0B0C0D0E0F": SipHash(vectorSecret),
	} {
		if got, err := ParseHash(text); got != want || err != nil {
			t.Errorf("%q gives %v, error %v; want %v", text, got, err, want)
		}
	}
	a, errA := ParseHash("siphash")
	b, errB := ParseHash("siphash")
	if errA != nil || errB != nil || !a.Secret() || a == b {
		t.Errorf("siphash twice: errors %v, %v, equal %t, secret %t", errA, errB, a == b, a.Secret())
	}
	for _, h := range hashes {
		if h.Secret() {
			continue
		}
		if got, err := ParseHash(h.Name()); got != h || err != nil {
			t.Errorf("%q is not understood as itself: %v, error %v", h.Name(), got, err)
		}
	}
}

func TestParseHashSaysWhatIsWrong(t *testing.T) {
	const take = "is unknown: take xxh3, siphash or murmur3"
	for text, want := range map[string]string{
		"":                                   `filter: hash "" ` + take,
		"md5":                                `filter: hash "md5" ` + take,
		"XXH3":                               `filter: hash "XXH3" ` + take,
		"xxh3 ":                              `filter: hash "xxh3 " ` + take,
		"xxh3:":                              `filter: hash xxh3: the seed is not a number from 0 to 2^64-1`,
		"xxh3:-1":                            `filter: hash xxh3: the seed is not a number from 0 to 2^64-1`,
		"murmur3:0x7":                        `filter: hash murmur3: the seed is not a number from 0 to 2^64-1`,
		"murmur3:18446744073709551616":       `filter: hash murmur3: the seed is not a number from 0 to 2^64-1`,
		"siphash:":                           `filter: hash siphash: secret has 0 characters, want 32 hexadecimal digits`,
		"siphash:0011":                       `filter: hash siphash: secret has 4 characters, want 32 hexadecimal digits`,
		"siphash:" + strings.Repeat("g", 32): `filter: hash siphash: secret has 32 characters, want 32 hexadecimal digits`,
	} {
		if got, err := ParseHash(text); err == nil || err.Error() != want || got != (Hash{}) {
			t.Errorf("%q gives %v, error\n%v, want\n%s", text, got, err, want)
		}
	}
}

func TestStoredFormsNeverChange(t *testing.T) {
	for _, c := range []struct {
		hash Hash
		form string
	}{
		{Hash{}, "000000000000000000"},
		{XXH3(0x0102030405060708), "000807060504030201"},
		{SipHash(vectorSecret), "01000102030405060708090a0b0c0d0e0f"},
		{Murmur3(7), "020700000000000000"},
	} {
		got, err := c.hash.MarshalBinary()
		if hex.EncodeToString(got) != c.form || err != nil {
			t.Errorf("%v is stored as %x, error %v; must stay %s", c.hash, got, err, c.form)
		}
	}
}

func TestUnmarshalSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		form []byte
		want string
	}{
		{nil, "filter: hash: no bytes, at offset 0: corrupt"},
		{make([]byte, 8), "filter: hash: bytes: 8, want 9 for xxh3, at offset 0: corrupt"},
		{make([]byte, 10), "filter: hash: bytes: 10, want 9 for xxh3, at offset 0: corrupt"},
		{append([]byte{2}, make([]byte, 9)...), "filter: hash: bytes: 10, want 9 for murmur3, at offset 0: corrupt"},
		{append([]byte{1}, make([]byte, 8)...), "filter: hash: bytes: 9, want 17 for siphash, at offset 0: corrupt"},
		{append([]byte{3}, make([]byte, 8)...), "filter: hash: algorithm: 3, want 0 to 2, at offset 0: corrupt"},
		{append([]byte{255}, make([]byte, 16)...), "filter: hash: algorithm: 255, want 0 to 2, at offset 0: corrupt"},
	} {
		h := Murmur3(99)
		err := h.UnmarshalBinary(c.form)
		if err == nil || err.Error() != c.want || !errors.Is(err, ErrCorrupt) {
			t.Errorf("%x: error %v, want %s", c.form, err, c.want)
		}
		if h != Murmur3(99) {
			t.Errorf("%x: a failed read left %v", c.form, h)
		}
	}
}

func FuzzHashUnmarshalBinary(f *testing.F) {
	for _, h := range hashes {
		form, _ := h.MarshalBinary()
		f.Add(form)
		f.Add(form[:len(form)-1])
	}
	f.Add([]byte{})
	f.Add([]byte{3, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, form []byte) {
		var h Hash
		if err := h.UnmarshalBinary(form); err != nil {
			if !errors.Is(err, ErrCorrupt) || h != (Hash{}) {
				t.Errorf("error %v, hash %v", err, h)
			}
			return
		}
		if again, err := h.MarshalBinary(); err != nil || !bytes.Equal(again, form) {
			t.Errorf("%x was read and is stored as %x, error %v", form, again, err)
		}
		if h.Bytes([]byte("x")) != h.String("x") || h.Name() == "" {
			t.Errorf("%x gives a hash that does not work", form)
		}
	})
}

func FuzzParseHash(f *testing.F) {
	for _, text := range []string{"xxh3", "xxh3:42", "murmur3:7", "siphash:000102030405060708090a0b0c0d0e0f", "siphash:0g", "md5", ":", "xxh3:+1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, err := ParseHash(text)
		if err != nil {
			if h != (Hash{}) || !strings.HasPrefix(err.Error(), "filter: hash ") {
				t.Errorf("hash %v, error %v", h, err)
			}
			return
		}
		if again, err := ParseHash(h.Name()); !h.Secret() && (again != h || err != nil) {
			t.Errorf("%q is named %s, which is %v, error %v", text, h.Name(), again, err)
		}
	})
}

// TestMistypedSecretsAreNotEchoed tries what slips of the fingers make of
// "siphash:" and a secret.
func TestMistypedSecretsAreNotEchoed(t *testing.T) {
	const secret = "00112233445566778899aabbccddeeff"
	for _, text := range []string{"sipash:" + secret, "SIPHASH:" + secret, "siphash=" + secret, "xxh3:" + secret, "siphash" + secret, secret, "siphash:" + secret + "0", "siphash:" + secret[1:], "siphash:x" + secret[1:], "siphash:" + secret + ":"} {
		_, err := ParseHash(text)
		if err == nil || strings.Contains(err.Error(), secret[:6]) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
