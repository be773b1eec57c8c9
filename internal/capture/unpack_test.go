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

func TestGzipIsUndone(t *testing.T) {
	const text = "some text, which need not be a capture"
	for name, data := range map[string][]byte{
		"plain": []byte(text), "compressed": capturetest.Gzip(t, []byte(text)),
	} {
		for way, r := range map[string]io.Reader{
			"at once": bytes.NewReader(data), "byte wise": iotest.OneByteReader(bytes.NewReader(data)),
		} {
			b, err := Unpack(r)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(b); err != nil || string(got) != text {
				t.Errorf("%s, %s: %q, %v", name, way, got, err)
			}
		}
	}
}

// TestGzipIsUndoneOnce holds that what is inside is not looked at.
func TestGzipIsUndoneOnce(t *testing.T) {
	inner := capturetest.Gzip(t, []byte("text"))
	b, err := Unpack(bytes.NewReader(capturetest.Gzip(t, inner)))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(b); err != nil || !bytes.Equal(got, inner) {
		t.Errorf("%x, %v", got, err)
	}
}

func TestWhatIsNotGzipIsLeftAsItIs(t *testing.T) {
	for _, text := range []string{"", "\x1f", "\x1fa", "ab", "\x1f\x8b\x09\x00 another method", "\x1f\x8b\x08\x20 flags that are not used"} {
		b, err := Unpack(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(b); err != nil || string(got) != text {
			t.Errorf("%q: %q, %v", text, got, err)
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

func TestErrorsComeWhenTheInputIsRead(t *testing.T) {
	broken := errors.New("broken")
	b, err := Unpack(iotest.ErrReader(broken))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.ReadByte(); !errors.Is(err, broken) {
		t.Error(err)
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
