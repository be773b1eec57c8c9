package resp

const (
	maxQuick    = 16 // arguments
	quickDigits = 4
)

// quick parses a command as clients send most of them: it is there as a whole, and has few
// arguments. It returns nil, and has changed nothing, for any other, and for what is wrong.
func (r *Reader) quick() [][]byte {
	b := r.buf[r.start:r.end]
	n, at := quickNumber(b, 0, '*')
	if n == 0 || n > min(maxQuick, r.limits.Args) {
		return nil
	}
	first, args := len(r.args), r.args
	for range n {
		size, from := quickNumber(b, at, '$')
		if from == 0 || size > r.limits.Bulk || from+size+2 > len(b) {
			return nil
		}
		args = append(args, b[from:from+size:from+size])
		at = from + size + 2
	}
	r.args = args
	r.skip(at)
	return args[first:len(args):len(args)]
}

// quickNumber returns the number of few digits that stands on the line at a position behind
// its kind, and where the next line begins: 0 if there is none.
func quickNumber(b []byte, at int, kind byte) (n, next int) {
	if at >= len(b) || b[at] != kind {
		return 0, 0
	}
	for i, c := range b[at+1:] {
		switch {
		case c >= '0' && c <= '9' && i < quickDigits && (n > 0 || i == 0):
			n = 10*n + int(c-'0')
		case c == '\r' && i > 0 && at+i+2 < len(b):
			return n, at + i + 3
		default:
			return 0, 0
		}
	}
	return 0, 0
}
