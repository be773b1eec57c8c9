package live

import (
	"fmt"
	"net/netip"
	"testing"
)

func TestNetworksAreMerged(t *testing.T) {
	var list []netip.Prefix
	for _, text := range []string{"10.1.0.0/16", "10.0.0.0/8", "9.9.9.9/32", "::ffff:8.0.0.0/104", "2001:db8::/32", "255.0.0.0/8", "10.0.0.0/8"} {
		list = append(list, netip.MustParsePrefix(text))
	}
	for is4, want := range map[bool]string{true: "[8.0.0.0/8 9.9.9.9/32 10.0.0.0/8 255.0.0.0/8]", false: "[2001:db8::/32]"} {
		if got := fmt.Sprint(merge(list, is4)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for network, want := range map[string]string{"10.0.0.0/8": "11.0.0.0", "9.9.9.9/32": "9.9.9.10", "255.0.0.0/8": "invalid IP", "2001:db8::/32": "2001:db9::"} {
		if got := behind(netip.MustParsePrefix(network)).String(); got != want {
			t.Errorf("%s: %s, want %s", network, got, want)
		}
	}
}

func TestExceptionsAreCutOut(t *testing.T) {
	list := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/30"), netip.MustParsePrefix("10.0.0.2/32"), netip.MustParsePrefix("2001:db8::/62"), netip.MustParsePrefix("11.0.0.0/8")}
	except := map[netip.Prefix]bool{netip.MustParsePrefix("10.0.0.2/32"): true, netip.MustParsePrefix("2001:db8:0:1::/64"): true}
	got := fmt.Sprint(without(list, except))
	if want := "[10.0.0.0/31 10.0.0.3/32 2001:db8:0:2::/63 2001:db8::/64 11.0.0.0/8]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
