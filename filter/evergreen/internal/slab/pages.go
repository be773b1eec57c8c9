package slab

import (
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// pages is a pool of pages of equal size, each of which is in one list: that of the
// free ones, or that of a class. Its owner locks it.
type pages struct {
	words *mem.Array // the pages
	links *mem.Array // one word each: see link
	used  uint64     // pages that were given out at any time, and not taken back by release
	free  list
}

// A list is a stack of pages.
type list struct {
	top   uint64 // its number plus one; 0 if there is none
	count uint64
}

// A link says where in its list a page is: the numbers plus one of the page below
// and of the page above, and whose list it is: 0 the free one, else a class.
type link uint64

const (
	linkBits = 28
	linkMask = 1<<linkBits - 1
	maxPages = linkMask - 1
)

func newLink(below, above uint64, class int) link {
	return link(below | above<<linkBits | uint64(class)<<(2*linkBits))
}

func (l link) below() uint64 { return uint64(l) & linkMask }
func (l link) above() uint64 { return uint64(l) >> linkBits & linkMask }
func (l link) class() int    { return int(l >> (2 * linkBits)) }

// firstPages is the binary logarithm of the pages that are taken at once at first.
const firstPages = 2

func newPages(from mem.Allocator) pages {
	return pages{words: mem.NewArray(firstPages, pageWords, from), links: mem.NewArray(firstPages+4, 1, from)}
}

// reserve makes sure that n pages can be taken without an error.
func (p *pages) reserve(n uint64) error {
	total := p.used + n - min(n, p.free.count)
	if total <= min(p.words.Cap(), p.links.Cap()) {
		return nil
	}
	if total > maxPages {
		return fmt.Errorf("evergreen: slow memory of %d pages: at most %d: %w", total, uint64(maxPages), filter.ErrStorage)
	}
	if err := p.words.Grow(total); err != nil {
		return errMemory(err)
	}
	if err := p.links.Grow(p.words.Cap()); err != nil {
		return errMemory(err)
	}
	return nil
}

// take moves a page from the free ones to the top of a list.
func (p *pages) take(to *list, class int) (page uint64) {
	if p.free.count > 0 {
		page = p.free.top - 1
		p.remove(&p.free, page)
	} else {
		page = p.used
		p.used++
	}
	p.push(to, page, class)
	return page
}

// giveBack moves the top page of a list to the free ones.
func (p *pages) giveBack(from *list) {
	page := from.top - 1
	p.remove(from, page)
	p.push(&p.free, page, 0)
}

func (p *pages) push(l *list, page uint64, class int) {
	p.set(page, newLink(l.top, 0, class))
	if l.top != 0 {
		below := p.link(l.top - 1)
		p.set(l.top-1, newLink(below.below(), page+1, class))
	}
	l.top = page + 1
	l.count++
}

// remove takes a page out of its list, wherever it is there.
func (p *pages) remove(l *list, page uint64) {
	own := p.link(page)
	if below := own.below(); below != 0 {
		p.set(below-1, newLink(p.link(below-1).below(), own.above(), own.class()))
	}
	if above := own.above(); above != 0 {
		p.set(above-1, newLink(own.below(), p.link(above-1).above(), own.class()))
	} else {
		l.top = own.below()
	}
	l.count--
}

// replace puts page to, which is in no list, at the place of page from.
func (p *pages) replace(l *list, from, to uint64) {
	own := p.link(from)
	p.set(to, own)
	if below := own.below(); below != 0 {
		p.set(below-1, newLink(p.link(below-1).below(), to+1, own.class()))
	}
	if above := own.above(); above != 0 {
		p.set(above-1, newLink(to+1, p.link(above-1).above(), own.class()))
	} else {
		l.top = to + 1
	}
}

func (p *pages) link(page uint64) link       { return link(p.links.At(page)[0]) }
func (p *pages) set(page uint64, value link) { p.links.At(page)[0] = uint64(value) }

// release gives memory back behind the last used page, when there is so much of it
// that the next few pages will not want it again.
func (p *pages) release() {
	keep := p.used + p.used/16
	p.words.Shrink(keep)
	p.links.Shrink(p.words.Cap())
}
