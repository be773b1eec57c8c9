package gatereport

import (
	"cmp"
	"net/netip"
	"slices"
)

// A Talker is a source and its packets: at least so many, all if there were few sources.
type Talker struct {
	Src     netip.Addr `json:"src"`
	Packets uint64     `json:"packets"`
}

// top counts the most frequent sources. It keeps few: when there is no room for a new
// one, all lose a packet [MG82]. So a source that sent more than one in maxSources of all
// packets is there, and a count is too low by no more than that share.
type top struct{ packets map[netip.Addr]uint64 }

const (
	maxSources = 4096
	shown      = 10
)

func newTop() *top { return &top{map[netip.Addr]uint64{}} }

func (t *top) count(src netip.Addr) {
	if _, ok := t.packets[src]; !ok && len(t.packets) == maxSources {
		for a, n := range t.packets {
			if n == 1 {
				delete(t.packets, a)
			} else {
				t.packets[a] = n - 1
			}
		}
		return
	}
	t.packets[src]++
}

// most returns the most frequent sources.
func (t *top) most() (list []Talker) {
	for src, n := range t.packets {
		list = append(list, Talker{src, n})
	}
	slices.SortFunc(list, func(a, b Talker) int { return cmp.Or(cmp.Compare(b.Packets, a.Packets), a.Src.Compare(b.Src)) })
	return list[:min(len(list), shown)]
}
