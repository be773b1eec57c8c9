package resp

import (
	"math"
	"testing"
)

func TestWriter(t *testing.T) {
	for _, c := range []struct {
		name   string
		write  func(*Writer)
		v2, v3 string
	}{
		{"simple", func(w *Writer) { w.OK() }, "+OK\r\n", "+OK\r\n"},
		{"error", func(w *Writer) { w.Err("ERR a\r\nb") }, "-ERR a  b\r\n", "-ERR a  b\r\n"},
		{"ints", func(w *Writer) { w.Int(0); w.Int(-1); w.Int(10) }, ":0\r\n:-1\r\n:10\r\n", ":0\r\n:-1\r\n:10\r\n"},
		{"bools", func(w *Writer) { w.Bool(true); w.Bool(false) }, ":1\r\n:0\r\n", "#t\r\n#f\r\n"},
		{"bulk", func(w *Writer) { w.Bulk([]byte("a\r\n")); w.Text("") }, "$3\r\na\r\n\r\n$0\r\n\r\n", "$3\r\na\r\n\r\n$0\r\n\r\n"},
		{"verbatim", func(w *Writer) { w.Verbatim("hi") }, "$2\r\nhi\r\n", "=6\r\ntxt:hi\r\n"},
		{"null", func(w *Writer) { w.Null(); w.NullArray() }, "$-1\r\n*-1\r\n", "_\r\n_\r\n"},
		{"array", func(w *Writer) { w.Array(12) }, "*12\r\n", "*12\r\n"},
		{"map", func(w *Writer) { w.Map(5) }, "*10\r\n", "%5\r\n"},
		{"set", func(w *Writer) { w.Set(5) }, "*5\r\n", "~5\r\n"},
		{"double", func(w *Writer) { w.Double(0.01) }, "$4\r\n0.01\r\n", ",0.01\r\n"},
		{"infinite", func(w *Writer) { w.Double(math.Inf(1)); w.Double(math.NaN()) }, "$3\r\ninf\r\n$3\r\nnan\r\n", ",inf\r\n,nan\r\n"},
		{"replaced", func(w *Writer) {
			var other Writer
			w.Bool(true)
			other.Err("ERR full")
			other.Raw(w.Bytes())
			w.Swap(&other)
		}, "-ERR full\r\n:1\r\n", "-ERR full\r\n#t\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for version, want := range map[int]string{2: c.v2, 3: c.v3} {
				var w Writer
				w.SetVersion(version)
				c.write(&w)
				if got := string(w.Bytes()); got != want {
					t.Errorf("version %d: %q, want %q", version, got, want)
				}
			}
		})
	}
}
