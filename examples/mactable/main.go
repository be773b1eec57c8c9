// Command mactable is the table by which a switch forwards frames, with a filter of
// stations for each port ([EBF21] Sec. 1). It reads frames: the port they come in by,
// source, destination. It prints the ports that they go out by, if any:
//
//	$ printf '%s\n' '1 0200.0000.000a 0200.0000.000b' '2 0200.0000.000b 0200.0000.000a' '3 0200.0000.000a 0200.0000.000b' '2 0200.0000.000b 0200.0000.000a' | go run ./examples/mactable -ports 4
//	2 3 4
//	1
//	2
//	3
//
// The port of b is unknown at first, so its frame is flooded. Then a moves from port 1 to 3.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
)

func main() {
	log.SetFlags(0)
	ports := flag.Uint("ports", 48, "how many `ports` there are, at most 4096")
	flag.Parse()
	if err := run(make(table, min(*ports, 4096)), os.Stdin, os.Stdout); err != nil {
		log.Fatal("mactable: ", err)
	}
}

// A table has the stations of port i+1 at place i.
type table []*everbloom.Set

func run(t table, in io.Reader, out io.Writer) (err error) {
	hash := filter.NewSipHash() // stations choose their addresses
	for i := range t {
		// The rate is low because frames for an unknown station that a port claims are
		// not flooded: it gets none until it speaks itself.
		if t[i], err = everbloom.New(everbloom.Needs{Items: 1000, FPR: 1e-5, Delete: true, Grow: true, Hash: hash}); err != nil {
			return err
		}
	}
	w, lines := bufio.NewWriter(out), bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		var port int
		var src, dst string
		_, noFrame := fmt.Sscan(lines.Text(), &port, &src, &dst)
		from, noSource := net.ParseMAC(src)
		to, noDestination := net.ParseMAC(dst)
		if err = errors.Join(noFrame, noSource, noDestination); err == nil && (port < 1 || port > len(t)) {
			err = fmt.Errorf("port %d of %d", port, len(t))
		}
		if err == nil && from[0]&1 == 0 { // an address of a group is no station
			err = t.learn(hash.Bytes(from), port-1)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		ports := t.find(hash.Bytes(to), to[0]&1 == 1, port-1)
		_, _ = fmt.Fprintln(w, strings.Trim(fmt.Sprint(ports), "[]")) // Flush reports the first error
	}
	return errors.Join(lines.Err(), w.Flush())
}

// learn records the port of a station. The station is added there before it is deleted
// elsewhere, so that it is never unknown.
func (t table) learn(station filter.Key, port int) error {
	if moved, err := t[port].AddKey(station); err != nil || !moved {
		return err
	}
	for _, other := range slices.Concat(t[:port], t[port+1:]) {
		// A port without the station refuses, for certain, and loses nothing.
		if err := other.DeleteKey(station); err != nil && !errors.Is(err, filter.ErrNotFound) {
			return err
		}
	}
	return nil
}

// find returns the ports that claim a station, or all if none does, but not its own.
func (t table) find(station filter.Key, group bool, own int) (ports []int) {
	claims := func(stations *everbloom.Set) bool { return stations.MayContainKey(station) }
	flood := group || !slices.ContainsFunc(t, claims)
	for i, stations := range t {
		if i != own && (flood || claims(stations)) {
			ports = append(ports, i+1)
		}
	}
	return ports
}
