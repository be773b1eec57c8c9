package console

import (
	"fmt"
	"hash/crc32"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/everbloom-go/everbloom/internal/quantity"
)

const (
	// maxShown is how many bytes of a name or an item are shown.
	maxShown = 200

	// maxCell is how many bytes of a name a table shows.
	maxCell = 60

	// maxLinked is how long a name may be that stands in addresses.
	maxLinked = 200
)

// display returns a name or an item as text that cannot be mistaken: what is not printable,
// such as control characters and marks that turn the direction of text, is escaped.
func display(name string) string { return shortened(name, maxShown) }

// shortened is display with at most so many bytes of the name.
func shortened(name string, most int) string {
	cut := ""
	if len(name) > most {
		end := most
		for end > 0 && !utf8.RuneStart(name[end]) {
			end--
		}
		if end == 0 { // it is no text
			end = most
		}
		cut = " … (" + quantity.Count(uint64(len(name))) + " bytes)"
		name = name[:end]
	}
	plain := name != "" && utf8.ValidString(name)
	for _, r := range name {
		plain = plain && unicode.IsPrint(r)
	}
	if !plain || name[0] == ' ' || name[len(name)-1] == ' ' || name[0] == '"' {
		name = strconv.Quote(name)
	}
	return name + cut
}

// A setName is the name of a set in a table.
type setName struct{ name string }

// Text returns what the table shows.
func (n setName) Text() string { return shortened(n.name, maxCell) }

// Title returns more of a name that the table does not show in full, and nothing of others.
func (n setName) Title() string {
	if len(n.name) <= maxCell {
		return ""
	}
	return display(n.name)
}

// String returns the whole name.
func (n setName) String() string { return n.name }

// setAddress returns the parameters that name a set: its name, or its number if the name is
// long. Numbers are given out by partitions, so a checksum of the name stands beside it.
func setAddress(name string, s Set) url.Values {
	if len(name) <= maxLinked {
		return url.Values{"name": {name}}
	}
	return url.Values{"number": {fmt.Sprintf("%d-%08x", s.Number(), crc32.ChecksumIEEE([]byte(name)))}}
}

// setLink returns the address of the page of a set.
func setLink(name string, s Set) string { return "/console/set?" + setAddress(name, s).Encode() }

// linkTo returns the address of the page of a set that was just made.
func (c *Console) linkTo(name string) string {
	if len(name) <= maxLinked {
		return setLink(name, nil)
	}
	if s := c.source.Set(name); s != nil {
		return setLink(name, s)
	}
	return "/console/sets"
}

// named returns the set of some parameters that a user may see, nil if there is none.
func (c *Console) named(q url.Values, u User) (name string, s Set) {
	if name = q.Get("name"); name == "" && q.Has("number") {
		name = c.nameOf(q.Get("number"))
	}
	if !strings.HasPrefix(name, u.Prefix) {
		return name, nil
	}
	return name, c.source.Set(name)
}

// nameOf returns the name of the set that an address names by its number.
func (c *Console) nameOf(address string) string {
	digits, _, _ := strings.Cut(address, "-")
	number, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return ""
	}
	for name, s := range c.source.Sets() {
		if s.Number() == number && setAddress(name, s).Get("number") == address {
			return name
		}
	}
	return ""
}
