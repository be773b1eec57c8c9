package logs

import (
	"net/netip"
	"regexp"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// byRegexp reads lines that a regular expression describes.
type byRegexp struct {
	re              *regexp.Regexp
	src, time, text int // groups
	layout          string
}

// NewRegexp returns a parser for lines that match an expression with a group of the name
// src, and may be groups time, in a layout as Go writes it, and text; without it the text
// is the whole line.
func NewRegexp(expression, layout string) (Parser, error) {
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, fault.In("logs", "%w", err)
	}
	p := &byRegexp{re: re, src: re.SubexpIndex("src"), time: re.SubexpIndex("time"), text: re.SubexpIndex("text"), layout: layout}
	if p.src < 0 {
		return nil, fault.In("logs", "expression %q: no group (?P<src>…) for the address", expression)
	}
	return p, nil
}

func (p *byRegexp) Parse(line []byte, e *Entry) bool {
	m := p.re.FindSubmatch(line)
	if m == nil {
		return false
	}
	src, err := netip.ParseAddr(string(m[p.src]))
	if err != nil {
		return false
	}
	*e = Entry{Src: src.Unmap(), Text: line}
	if p.text >= 0 {
		e.Text = m[p.text]
	}
	if p.time >= 0 {
		stamp := string(m[p.time])
		if e.At = timeOf(stamp, p.layout); e.At == 0 {
			e.At = seconds(stamp)
		}
	}
	return true
}
