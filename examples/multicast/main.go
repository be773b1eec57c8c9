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
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/inpacket"
)

func main() {
	log.SetFlags(0)
	if err := run(os.Stdin, os.Stdout); err != nil {
		log.Fatal("multicast: ", err)
	}
}

// A network has the neighbours of each node.
type network map[string][]string

func run(in io.Reader, out io.Writer) error {
	format, err := inpacket.New(inpacket.Config{}) // headers of 256 bits
	net, w, lines := network{}, bufio.NewWriter(out), bufio.NewScanner(in)
	for err == nil && lines.Scan() {
		var links []string
		switch nodes := strings.Fields(lines.Text()); {
		case len(nodes) > 1 && nodes[0] == ">":
			if links, err = net.send(format, nodes[1], nodes[2:]); err == nil {
				_, _ = fmt.Fprintln(w, strings.Join(links, " ")) // Flush reports the first error
			}
		case len(nodes) == 2:
			net[nodes[0]] = append(net[nodes[0]], nodes[1])
			net[nodes[1]] = append(net[nodes[1]], nodes[0])
		default:
			err = fmt.Errorf("%q is neither a link nor a packet", lines.Text())
		}
	}
	return errors.Join(err, lines.Err(), w.Flush())
}

// send makes a header of the shortest ways to the receivers, and has it forwarded.
func (n network) send(format *inpacket.Format, source string, receivers []string) ([]string, error) {
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
				return nil, fmt.Errorf("there is no way from %s to %s", source, node)
			}
			ids = append(ids, id(before[node], node)) // one that is there already does not matter
			node, farthest = before[node], max(farthest, hops)
		}
	}
	header, err := format.Encode(ids)
	if err == nil && header.FPR() > 0.05 {
		err = fmt.Errorf("too many links for one header from %s to %s", source, receivers)
	}
	if err != nil {
		return nil, err
	}
	return n.forward(source, "", header, farthest), nil
}

// id is what a header has of a link: any number will do that is the link's own.
func id(from, to string) filter.Key { return filter.Hash{}.String(from + ">" + to) }

// forward sends a copy over each link that the header has, but not back. To delete the
// link from the copy, and to stop at the farthest receiver, keeps it out of circles.
func (n network) forward(node, from string, header inpacket.Header, hops int) (links []string) {
	for _, next := range n[node] {
		if link := id(node, next); hops > 0 && next != from && header.Has(link) {
			branch := header
			_ = branch.Delete(link) // if it is pinned it stays
			links = append(append(links, node+">"+next), n.forward(next, node, branch, hops-1)...)
		}
	}
	return links
}
