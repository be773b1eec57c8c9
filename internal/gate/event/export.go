package event

import (
	"encoding/csv"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// Formats are the names of the forms in which bans are exported.
func Formats() []string { return []string{"text", "csv", "nft", "ipset"} }

// FormatOf returns the format that the name of a file ends with, or text.
func FormatOf(path string) string {
	for _, f := range Formats() {
		if strings.HasSuffix(path, "."+f) {
			return f
		}
	}
	return "text"
}

// Export writes bans: text has a source to a line, csv all that is known, nft a file for
// nft -f, and ipset one for ipset restore. Bans that end have the time left at now.
func Export(w io.Writer, format string, bans []Event, now time.Time) error {
	switch format {
	case "text":
		for _, b := range bans {
			if _, err := fmt.Fprintln(w, b.target()); err != nil {
				return err
			}
		}
		return nil
	case "csv":
		return exportCSV(w, bans)
	case "nft":
		return exportNft(w, bans, now)
	case "ipset":
		return exportIPSet(w, bans, now)
	}
	return fault.In("event", "format %q: take %s", format, strings.Join(Formats(), ", "))
}

// target returns the address or the network that is banned.
func (e *Event) target() string {
	if e.User != "" {
		return e.User
	}
	return e.Src.String()
}

// left returns the seconds that a ban has left, or 0 if it has no end.
func (e *Event) left(now time.Time) int64 {
	if e.Until == nil {
		return 0
	}
	return max(1, int64(e.Until.Sub(now)/time.Second))
}

func exportCSV(w io.Writer, bans []Event) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"time", "source", "until", "pattern", "input", "packet"}}
	for _, b := range bans {
		rows = append(rows, []string{clock(b.Time), b.target(), clock(b.Until), b.Pattern, b.Input, strconv.FormatUint(b.Number, 10)})
	}
	return c.WriteAll(rows)
}

func clock(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339)
}

func exportNft(w io.Writer, bans []Event, now time.Time) error {
	var text strings.Builder
	text.WriteString("table inet everbloom {\n")
	for _, family := range []string{"4", "6"} {
		var elements []string
		for _, b := range of(family, bans) {
			one := b.target()
			if n := b.left(now); n > 0 {
				one += fmt.Sprintf(" timeout %ds", n)
			}
			elements = append(elements, one)
		}
		fmt.Fprintf(&text, "\tset bad%s {\n\t\ttype ipv%s_addr\n\t\tflags interval, timeout\n", family, family)
		if len(elements) > 0 {
			fmt.Fprintf(&text, "\t\telements = { %s }\n", strings.Join(elements, ",\n\t\t\t"))
		}
		text.WriteString("\t}\n")
	}
	text.WriteString("}\n")
	_, err := io.WriteString(w, text.String())
	return err
}

// ipsetRoom is how many elements a set of ipset has room for unless more are asked for.
const ipsetRoom = 1 << 16

func exportIPSet(w io.Writer, bans []Event, now time.Time) error {
	var text strings.Builder
	for i, name := range []string{"inet", "inet6"} {
		family := []string{"4", "6"}[i]
		set, list, room := "everbloom"+family, of(family, bans), ""
		if len(list) > ipsetRoom {
			room = fmt.Sprintf(" maxelem %d", len(list))
		}
		fmt.Fprintf(&text, "create %s hash:net family %s timeout 0%s -exist\n", set, name, room)
		for _, b := range list {
			fmt.Fprintf(&text, "add %s %s timeout %d -exist\n", set, b.target(), b.left(now))
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// of returns the bans of one family of addresses.
func of(family string, bans []Event) []Event {
	return slices.DeleteFunc(slices.Clone(bans), func(e Event) bool { return isFamily4(e.Src) != (family == "4") })
}

func isFamily4(a netip.Addr) bool { return a.Unmap().Is4() }
