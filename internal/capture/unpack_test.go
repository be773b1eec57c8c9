package capture

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/everbloom-go/everbloom/internal/capture/capturetest"
)

// TestGzipIsUndoneOnce has gzip, gzip inside of gzip, and input that only begins like it.
func TestGzipIsUndoneOnce(t *testing.T) {
	inner := string(capturetest.Gzip(t, []byte("text")))
	for _, c := range []struct{ data, want string }{
		{"text", "text"},
		{inner, "text"},
		{string(capturetest.Gzip(t, []byte(inner))), inner},
		{"", ""},
		{"\x1f", "\x1f"},
		{"\x1fa", "\x1fa"},
		{"\x1f\x8b\x09\x00 another method", "\x1f\x8b\x09\x00 another method"},
		{"\x1f\x8b\x08\x20 unused flags", "\x1f\x8b\x08\x20 unused flags"},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.data), iotest.OneByteReader(strings.NewReader(c.data))} {
			b, err := Unpack(r)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(b); err != nil || string(got) != c.want {
				t.Errorf("%q: %q, %v", c.data, got, err)
			}
		}
	}
}

func TestDamagedGzipIsAnError(t *testing.T) {
	whole := capturetest.Gzip(t, bytes.Repeat([]byte("text "), 1000))
	for n := 2; n < len(whole); n++ {
		b, err := Unpack(bytes.NewReader(whole[:n]))
		if err == nil {
			_, err = io.ReadAll(b)
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}

func TestCapturesAreToldFromOtherInput(t *testing.T) {
	for start, want := range map[string]bool{
		"\xa1\xb2\xc3\xd4": true, "\xd4\xc3\xb2\xa1": true, // microseconds
		"\xa1\xb2\x3c\x4d": true, "\x4d\x3c\xb2\xa1 and more": true, // nanoseconds
		"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x4d\x3c\x2b\x1a": true, // pcapng
		"\x0a\x0d\x0d\x0a\x00\x00\x00\x1c\x1a\x2b\x3c\x4d": true,
		"\x0a\x0d\x0d\x0a": false, "\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x00\x00\x00\x01": false,
		"\xa1\xb2\xc3": false, "": false, "text": false, "\x1f\x8b\x08\x00": false,
	} {
		if Is([]byte(start)) != want {
			t.Errorf("%q is a capture: %t", start, !want)
		}
	}
}
