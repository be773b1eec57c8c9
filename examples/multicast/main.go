// Command multicast forwards packets by the filter in their header ([DlBF10] Sec. V):
// nodes know their own links and nothing about receivers. A line of two nodes links
// them; a line of > and nodes sends a packet from the first of them to the others. The
// links that it goes over are printed, also those that a filter claims by mistake:
//
//	$ printf '%s\n' 'a b' 'b c' 'b d' 'd e' 'e a' '> a c d' '> d a' | go run ./examples/multicast
//	a>b b>c b>d
//	d>b b>a
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
)

func main() {
	log.SetFlags(0)
	if err := run(os.Stdin, os.Stdout); err != nil {
		log.Fatal("multicast: ", err)
	}
}

// A header has 256 bits: the best of 16 filters, and its number.
var shape = deletable.Shape{Bits: 252, Hashes: 5, Regions: 25}

type network map[string][]string // the neighbours of each node

func run(in io.Reader, out io.Writer) (err error) {
	net, w, lines := network{}, bufio.NewWriter(out), bufio.NewScanner(in)
	for err == nil && lines.Scan() {
		switch nodes := strings.Fields(lines.Text()); {
		case len(nodes) > 1 && nodes[0] == ">":
			err = net.send(w, nodes[1], nodes[2:])
		case len(nodes) == 2:
			a, b := nodes[0], nodes[1]
			net[a], net[b] = append(net[a], b), append(net[b], a)
		default:
			err = fmt.Errorf("%q is neither a link nor a packet", lines.Text())
		}
	}
	return errors.Join(err, lines.Err(), w.Flush())
}

// send makes a header of the shortest ways to the receivers, and prints where it goes.
func (n network) send(w io.Writer, source string, receivers []string) error {
	before := map[string]string{source: source}
	for queue := []string{source}; len(queue) > 0; queue = queue[1:] {
		for _, next := range n[queue[0]] {
			if before[next] == "" {
				before[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	ids, farthest := []filter.Key{}, 0
	for _, node := range receivers {
		for hops := 1; node != source; hops++ {
			if before[node] == "" {
				return fmt.Errorf("there is no way from %s to %s", source, node)
			}
			ids = append(ids, id(before[node], node))
			node, farthest = before[node], max(farthest, hops)
		}
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids))) // twice in a filter, a link could not be deleted
	best, number, err := deletable.Choose(shape, ids, deletable.BestFill(), 16)
	header, err2 := shape.Candidate(number).Wire() // nodes read the number in the header
	if err := errors.Join(err, err2); err != nil {
		return err
	} else if best.Info().FPR > 0.05 {
		return fmt.Errorf("too many links for one header from %s to %s", source, receivers)
	}
	_, err = fmt.Fprintln(w, strings.Join(n.forward(source, "", header, best.AppendRaw(nil), farthest), " "))
	return err
}

// id names a link in headers.
func id(from, to string) filter.Key { return filter.Hash{}.String(from + ">" + to) }

// forward sends a copy over each link of the header. What is deleted keeps it out of circles.
func (n network) forward(node, from string, header deletable.Wire, bits []byte, hops int) (links []string) {
	for _, next := range n[node] {
		if link := id(node, next); hops > 0 && next != from && header.MayContain(bits, link) {
			branch := slices.Clone(bits)
			_ = header.Delete(branch, link) // if it is pinned it stays
			links = append(append(links, node+">"+next), n.forward(next, node, header, branch, hops-1)...)
		}
	}
	return links
}
