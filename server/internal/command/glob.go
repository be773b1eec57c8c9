package command

// glob reports whether a name matches a pattern of Redis: * ? [a-z] [^a] and \ before a
// character that is meant as it is. It takes time in proportion to the product of the
// lengths at most.
func glob(pattern []byte, name string) bool {
	p, n := 0, 0
	star, again := -1, 0 // where the last * stands, and how far the name went with it
	for n < len(name) || p < len(pattern) {
		if p < len(pattern) && pattern[p] == '*' {
			star, again = p, n
			p++
			continue
		}
		if n < len(name) && p < len(pattern) {
			if size, ok := globOne(pattern[p:], name[n]); ok {
				p += size
				n++
				continue
			}
		}
		if star < 0 || again >= len(name) {
			return false
		}
		again++
		p, n = star+1, again
	}
	return true
}

// globOne reports whether a character matches the front of a pattern, and how long that is.
func globOne(pattern []byte, c byte) (size int, ok bool) {
	switch pattern[0] {
	case '?':
		return 1, true
	case '[':
		return globClass(pattern, c)
	case '\\':
		if len(pattern) > 1 {
			return 2, pattern[1] == c
		}
	}
	return 1, pattern[0] == c
}

// globClass matches a class of characters. One that is not closed goes on to the end.
func globClass(pattern []byte, c byte) (size int, ok bool) {
	i := 1
	not := i < len(pattern) && pattern[i] == '^'
	if not {
		i++
	}
	for i < len(pattern) && pattern[i] != ']' {
		switch {
		case pattern[i] == '\\' && i+1 < len(pattern):
			ok = ok || pattern[i+1] == c
			i += 2
		case i+2 < len(pattern) && pattern[i+1] == '-':
			low, high := pattern[i], pattern[i+2]
			if low > high {
				low, high = high, low
			}
			ok = ok || c >= low && c <= high
			i += 3
		default:
			ok = ok || pattern[i] == c
			i++
		}
	}
	return min(i+1, len(pattern)), ok != not
}
