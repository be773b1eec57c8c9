package live

import (
	"errors"
	"net/netip"
	"sync"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// Nft is a table of nftables that drops what banned sources send.
type Nft struct {
	mu     sync.Mutex // bans and lists change from different goroutines
	conn   *nftables.Conn
	table  *nftables.Table
	chain  *nftables.Chain
	bad    [2]*nftables.Set // of IPv4 and IPv6
	lists  [4]*nftables.Set // white of both, black of both
	prefix int              // bits of an IPv6 user
}

const tableName = "everbloom"

// Offsets and lengths of the source in a header of IP.
var sources = [2]struct{ family, offset, length uint32 }{
	{unix.NFPROTO_IPV4, 12, 4}, {unix.NFPROTO_IPV6, 8, 16},
}

// OpenNft makes the table, in place of one that was left.
func OpenNft(o Options) (*Nft, error) {
	n := &Nft{prefix: o.IPv6Prefix}
	if n.prefix == 0 {
		n.prefix = 64
	}
	if n.prefix%8 != 0 {
		return nil, fault.In("live", "nftables: users of %d bits of IPv6: must be a multiple of 8", n.prefix)
	}
	if err := RemoveNft(); err != nil {
		return nil, err
	}
	var err error
	if n.conn, err = nftables.New(); err != nil {
		return nil, fault.In("live", "nftables: %w", err)
	}
	n.table = n.conn.AddTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: tableName})
	accept := nftables.ChainPolicyAccept
	n.chain = n.conn.AddChain(&nftables.Chain{
		Name: "prerouting", Table: n.table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityRaw, Policy: &accept,
	})
	if err := n.addSets(); err != nil {
		return nil, fault.In("live", "nftables: %w", err)
	}
	if err := n.conn.Flush(); err != nil {
		return nil, fault.In("live", "nftables: %w", err)
	}
	return n, nil
}

// addSets makes the sets and the rules: white lists first, then bans, then black lists.
func (n *Nft) addSets() error {
	types := [2]nftables.SetDatatype{nftables.TypeIPAddr, nftables.TypeIP6Addr}
	names := [2]string{"4", "6"}
	for i := range 2 {
		n.lists[i] = &nftables.Set{Table: n.table, Name: "white" + names[i], KeyType: types[i], Interval: true}
		n.lists[2+i] = &nftables.Set{Table: n.table, Name: "black" + names[i], KeyType: types[i], Interval: true}
		n.bad[i] = &nftables.Set{Table: n.table, Name: "bad" + names[i], KeyType: types[i], HasTimeout: true}
	}
	network := nftables.TypeIP6Addr
	network.Bytes = uint32(n.prefix / 8) // the part of an address that makes a user
	n.bad[1].KeyType = network
	for _, s := range append(n.lists[:], n.bad[:]...) {
		if err := n.conn.AddSet(s, nil); err != nil {
			return err
		}
	}
	for i := range 2 {
		n.rule(i, n.lists[i], sources[i].length, expr.VerdictAccept)
		length := sources[i].length
		if i == 1 {
			length = uint32(n.prefix / 8)
		}
		n.rule(i, n.bad[i], length, expr.VerdictDrop)
		n.rule(i, n.lists[2+i], sources[i].length, expr.VerdictDrop)
	}
	return nil
}

// rule decides about packets whose source is in a set.
func (n *Nft) rule(family int, set *nftables.Set, length uint32, verdict expr.VerdictKind) {
	s := sources[family]
	n.conn.AddRule(&nftables.Rule{Table: n.table, Chain: n.chain, Exprs: []expr.Any{
		&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{byte(s.family)}},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: s.offset, Len: length},
		&expr.Lookup{SourceRegister: 1, SetName: set.Name, SetID: set.ID},
		&expr.Counter{},
		&expr.Verdict{Kind: verdict},
	}})
}

// element returns a user as an element of its set.
func (n *Nft) element(user netip.Prefix) (*nftables.Set, nftables.SetElement) {
	if user.Addr().Is4() {
		return n.bad[0], nftables.SetElement{Key: user.Addr().AsSlice()}
	}
	return n.bad[1], nftables.SetElement{Key: user.Masked().Addr().AsSlice()[:n.prefix/8]}
}

// Ban drops what a user sends, until a time if that is not zero.
func (n *Nft) Ban(user netip.Prefix, until time.Time) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	set, element := n.element(user)
	if !until.IsZero() {
		element.Timeout = max(time.Second, time.Until(until))
	}
	if err := n.conn.SetAddElements(set, []nftables.SetElement{element}); err != nil {
		return fault.In("live", "nftables: ban %v: %w", user, err)
	}
	if err := n.conn.Flush(); err != nil && !errors.Is(err, unix.EEXIST) {
		return fault.In("live", "nftables: ban %v: %w", user, err)
	}
	return nil
}

// Unban ends a ban. One that has ended by itself is no error.
func (n *Nft) Unban(user netip.Prefix) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	set, element := n.element(user)
	if err := n.conn.SetDeleteElements(set, []nftables.SetElement{element}); err != nil {
		return fault.In("live", "nftables: unban %v: %w", user, err)
	}
	if err := n.conn.Flush(); err != nil && !errors.Is(err, unix.ENOENT) {
		return fault.In("live", "nftables: unban %v: %w", user, err)
	}
	return nil
}

// Lists replaces the black list and the white list.
func (n *Nft) Lists(black, white []netip.Prefix) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, list := range [][]netip.Prefix{white, black} {
		for family := range 2 {
			set := n.lists[2*i+family]
			n.conn.FlushSet(set)
			if elements := intervals(list, family == 0); len(elements) > 0 {
				if err := n.conn.SetAddElements(set, elements); err != nil {
					return fault.In("live", "nftables: %w", err)
				}
			}
		}
	}
	if err := n.conn.Flush(); err != nil {
		return fault.In("live", "nftables: %w", err)
	}
	return nil
}

// Counters returns nothing: the rules have counters that nft list ruleset shows.
func (n *Nft) Counters() map[string]uint64 { return nil }

// Name says what it is.
func (n *Nft) Name() string { return "nftables" }

// Close removes the table.
func (n *Nft) Close() error { return RemoveNft() }

// RemoveNft removes the table, if it is there.
func RemoveNft() error {
	conn, err := nftables.New()
	if err != nil {
		return fault.In("live", "nftables: %w", err)
	}
	tables, err := conn.ListTablesOfFamily(nftables.TableFamilyINet)
	if err != nil {
		return fault.In("live", "nftables: %w", err)
	}
	for _, t := range tables {
		if t.Name == tableName {
			conn.DelTable(t)
		}
	}
	if err := conn.Flush(); err != nil {
		return fault.In("live", "nftables: %w", err)
	}
	return nil
}

// intervals returns networks as elements of a set: where each begins and where it has ended.
func intervals(list []netip.Prefix, is4 bool) (elements []nftables.SetElement) {
	for _, p := range merge(list, is4) {
		elements = append(elements, nftables.SetElement{Key: p.Addr().AsSlice()})
		if end := behind(p); end.IsValid() {
			elements = append(elements, nftables.SetElement{Key: end.AsSlice(), IntervalEnd: true})
		}
	}
	return elements
}
