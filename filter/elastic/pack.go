package elastic

// packWords is how many words a packer collects before it emits them.
const packWords = 512

// A packer writes numbers without gaps.
type packer struct {
	emit  func([]uint64) error
	words [packWords + 512]uint64 // room for one tree beyond packWords
	at    uint64                  // bits used
}

// add appends a number of the given width, at most 63 bits.
func (p *packer) add(v, width uint64) {
	put(p.words[:], p.at, width, v)
	p.at += width
}

// relieve emits what is full if there is much. It is called after every tree.
func (p *packer) relieve() error {
	full := p.at / 64
	if full < packWords {
		return nil
	}
	err := p.emit(p.words[:full])
	rest := p.words[full]
	clear(p.words[:])
	p.words[0], p.at = rest, p.at%64
	return err
}

// flush emits the rest.
func (p *packer) flush() error { return p.emit(p.words[:(p.at+63)/64]) }

// An unpacker reads what a packer wrote. The caller knows how much there is.
type unpacker struct {
	words []uint64
	at    uint64
}

// next returns the next number of the given width, at most 63 bits.
func (u *unpacker) next(width uint64) uint64 {
	if width == 0 {
		return 0 // there may be no word left
	}
	v := get(u.words, u.at, width)
	u.at += width
	return v
}
