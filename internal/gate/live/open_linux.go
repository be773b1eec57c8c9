package live

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// Open puts an interface under guard in the way that is named; auto takes the best that
// the machine allows, and says what it does not.
func Open(name, way string, o Options, say func(format string, args ...any)) (*Live, error) {
	switch way {
	case "auto", "xdp":
		x, err := OpenXDP(name, o)
		if err == nil {
			switch _, refused := x.Sparing(); {
			case errors.Is(refused, os.ErrPermission):
				say("all frames go to the gate: to spare it clean ones XDP needs CAP_PERFMON")
			case refused != nil:
				say("all frames go to the gate, clean ones, too: %v", refused)
			}
			return &Live{x, x, x.Counters, x.Name()}, nil
		}
		if way == "xdp" {
			return nil, err
		}
		say("no XDP: %v", err)
	case "nft", "none":
	default:
		return nil, fault.In("live", "%q: take %s", way, strings.Join(Ways(), ", "))
	}
	p, err := OpenPacket(name)
	if err != nil {
		return nil, err
	}
	l := &Live{Frames: p, Counters: p.Counters, Name: "nothing: bans are told only"}
	if way == "none" {
		return l, nil
	}
	n, err := OpenNft(o)
	switch {
	case err == nil:
		l.Enforcer, l.Name = n, n.Name()
	case way == "nft":
		return nil, errors.Join(err, p.Close())
	default:
		say("no nftables: %v", err)
	}
	return l, nil
}

// OpenEnforcer returns what enforces in a way that needs no interface: nft.
func OpenEnforcer(way string, o Options) (Enforcer, error) {
	if way != "nft" {
		return nil, fmt.Errorf("%q: take none, nft", way)
	}
	n, err := OpenNft(o)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// Detach removes what gates that were killed have left, and says what that is. What running
// gates have stays.
func Detach() (string, error) {
	removed, kept, err := RemoveNft()
	if err != nil {
		return "", err
	}
	text := "no table of nftables was left"
	if len(removed) > 0 {
		text = "removed from nftables: table inet " + strings.Join(removed, ", ")
	}
	if len(kept) > 0 {
		text += "; of running gates: " + strings.Join(kept, ", ")
	}
	return text + "; programs of XDP go with their process", nil
}
