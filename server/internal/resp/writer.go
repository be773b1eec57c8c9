package resp

import (
	"math"
	"strconv"
	"strings"
)

// A Writer collects replies in memory, in the version that its connection speaks. The
// zero Writer speaks version 2.
type Writer struct {
	buf     []byte
	version int
}

// Version returns the version of the protocol, 2 or 3.
func (w *Writer) Version() int {
	if w.version == 3 {
		return 3
	}
	return 2
}

// SetVersion changes the version, for what is written from then on.
func (w *Writer) SetVersion(version int) { w.version = version }

// Len returns how many bytes were written.
func (w *Writer) Len() int { return len(w.buf) }

// Bytes returns what was written. It is good until the next write.
func (w *Writer) Bytes() []byte { return w.buf }

// Reset forgets what was written, and memory beyond what is usual.
func (w *Writer) Reset() {
	if cap(w.buf) > keptBuffer {
		w.buf = nil
	}
	w.buf = w.buf[:0]
}

// Truncate forgets what was written beyond n bytes.
func (w *Writer) Truncate(n int) { w.buf = w.buf[:n] }

// Raw writes what another Writer wrote.
func (w *Writer) Raw(b []byte) { w.buf = append(w.buf, b...) }

// Swap exchanges what was written with another Writer.
func (w *Writer) Swap(other *Writer) { w.buf, other.buf = other.buf, w.buf }

func (w *Writer) v3() bool { return w.version == 3 }

// head writes a type with a number.
func (w *Writer) head(kind byte, n int64) {
	w.buf = append(w.buf, kind)
	if n >= 0 && n < 10 {
		w.buf = append(w.buf, byte('0'+n), '\r', '\n')
		return
	}
	w.buf = strconv.AppendInt(w.buf, n, 10)
	w.buf = append(w.buf, '\r', '\n')
}

// Simple writes a short text without line ends.
func (w *Writer) Simple(s string) {
	w.buf = append(w.buf, '+')
	w.buf = append(w.buf, s...)
	w.buf = append(w.buf, '\r', '\n')
}

// OK writes that all is well.
func (w *Writer) OK() { w.Simple("OK") }

// Err writes an error. Line ends in it become spaces.
func (w *Writer) Err(text string) {
	if strings.ContainsAny(text, "\r\n") {
		text = strings.NewReplacer("\r", " ", "\n", " ").Replace(text)
	}
	w.buf = append(w.buf, '-')
	w.buf = append(w.buf, text...)
	w.buf = append(w.buf, '\r', '\n')
}

// Int writes a whole number.
func (w *Writer) Int(n int64) { w.head(':', n) }

// Bool writes a truth: 1 or 0 in version 2. It takes four bytes in both.
func (w *Writer) Bool(b bool) {
	switch {
	case w.v3() && b:
		w.buf = append(w.buf, "#t\r\n"...)
	case w.v3():
		w.buf = append(w.buf, "#f\r\n"...)
	case b:
		w.buf = append(w.buf, ":1\r\n"...)
	default:
		w.buf = append(w.buf, ":0\r\n"...)
	}
}

// Confirm makes the Bool at an offset true.
func (w *Writer) Confirm(offset int) {
	if w.buf[offset] == '#' { // the version may have changed since
		w.buf[offset+1] = 't'
		return
	}
	w.buf[offset+1] = '1'
}

// Bulk writes bytes.
func (w *Writer) Bulk(b []byte) {
	w.head('$', int64(len(b)))
	w.buf = append(w.buf, b...)
	w.buf = append(w.buf, '\r', '\n')
}

// Text writes a text that may have line ends.
func (w *Writer) Text(s string) {
	w.head('$', int64(len(s)))
	w.buf = append(w.buf, s...)
	w.buf = append(w.buf, '\r', '\n')
}

// Verbatim writes a text that is meant to be printed as it is.
func (w *Writer) Verbatim(s string) {
	if !w.v3() {
		w.Text(s)
		return
	}
	w.head('=', int64(len(s)+4))
	w.buf = append(w.buf, "txt:"...)
	w.buf = append(w.buf, s...)
	w.buf = append(w.buf, '\r', '\n')
}

// Double writes a number: as text in version 2.
func (w *Writer) Double(x float64) {
	s := strconv.FormatFloat(x, 'g', 17, 64)
	if short := strconv.FormatFloat(x, 'g', -1, 64); len(short) < len(s) {
		s = short
	}
	if math.IsInf(x, 0) || math.IsNaN(x) {
		s = strings.ToLower(strings.TrimPrefix(s, "+"))
	}
	if !w.v3() {
		w.Text(s)
		return
	}
	w.buf = append(w.buf, ',')
	w.buf = append(w.buf, s...)
	w.buf = append(w.buf, '\r', '\n')
}

// Null writes that there is nothing, in the place of a text.
func (w *Writer) Null() { w.null("$-1\r\n") }

// NullArray writes that there is nothing, in the place of an array.
func (w *Writer) NullArray() { w.null("*-1\r\n") }

func (w *Writer) null(version2 string) {
	if w.v3() {
		version2 = "_\r\n"
	}
	w.buf = append(w.buf, version2...)
}

// Array announces n replies.
func (w *Writer) Array(n int) { w.head('*', int64(n)) }

// Set announces n replies in no order.
func (w *Writer) Set(n int) { w.either('~', n, n) }

// Map announces n pairs of replies.
func (w *Writer) Map(n int) { w.either('%', n, 2*n) }

// either announces n replies of a type that version 2 does not have.
func (w *Writer) either(kind byte, n, flat int) {
	if w.v3() {
		w.head(kind, int64(n))
		return
	}
	w.Array(flat)
}
