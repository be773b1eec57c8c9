package live

import (
	"cmp"
	"errors"
	"net"
	"net/netip"
	"strings"
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
	owner  net.Listener     // holds the name of the table; closed with the process

	// What the table has, to make it again if another program removes it.
	bans         map[netip.Prefix]time.Time
	black, white []netip.Prefix
	except       map[netip.Prefix]bool
}

// Offsets and lengths of the source in a header of IP.
var sources = [2]struct{ family, offset, length uint32 }{
	{unix.NFPROTO_IPV4, 12, 4}, {unix.NFPROTO_IPV6, 8, 16},
}

// OpenNft makes the table, in place of one that a process left that is gone.
func OpenNft(o Options) (*Nft, error) {
	n := &Nft{prefix: cmp.Or(o.IPv6Prefix, 64), bans: map[netip.Prefix]time.Time{}, except: map[netip.Prefix]bool{}}
	if n.prefix%8 != 0 {
		return nil, fault.In("live", "nftables: users of %d bits of IPv6: must be a multiple of 8", n.prefix)
	}
	name := cmp.Or(o.Table, TableName)
	if !strings.HasPrefix(name, TableName) || len(name) > maxTableName {
		return nil, fault.In("live", "nftables: table %.80q: must begin with %s and have at most %d letters", name, TableName, maxTableName)
	}
	var err error
	if n.owner, err = claimTable(name); err != nil {
		return nil, err
	}
	if n.conn, err = nftables.New(); err == nil {
		n.table = &nftables.Table{Family: nftables.TableFamilyINet, Name: name}
		err = n.build()
	}
	if err != nil {
		_ = n.owner.Close() // there is a more important error
		return nil, fault.In("live", "nftables: %w", err)
	}
	return n, nil
}

// build makes the table with all that it has to have, in place of one that is there.
func (n *Nft) build() error {
	if err := removeTable(n.table.Name); err != nil {
		return err
	}
	n.conn.AddTable(n.table)
	accept := nftables.ChainPolicyAccept
	n.chain = n.conn.AddChain(&nftables.Chain{
		Name: "prerouting", Table: n.table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityRaw, Policy: &accept,
	})
	if err := n.addSets(); err != nil {
		return err
	}
	if err := n.conn.Flush(); err != nil {
		return err
	}
	if err := n.fillLists(); err != nil {
		return err
	}
	return n.fillBans()
}

// batch is how many bans are sent to the kernel at once.
const batch = 1000

// fillBans adds all bans to a new table.
func (n *Nft) fillBans() error {
	var waiting [2][]nftables.SetElement
	send := func(family int) error {
		if len(waiting[family]) == 0 {
			return nil
		}
		err := n.conn.SetAddElements(n.bad[family], waiting[family])
		waiting[family] = nil
		return errors.Join(err, n.conn.Flush())
	}
	for user, until := range n.bans {
		family := 0
		if user.Addr().Is6() {
			family = 1
		}
		_, element := n.element(user, until)
		if waiting[family] = append(waiting[family], element); len(waiting[family]) == batch {
			if err := send(family); err != nil {
				return err
			}
		}
	}
	return errors.Join(send(0), send(1))
}

// again does something, and makes the table again if it is gone.
func (n *Nft) again(do func() error) error {
	err := do()
	if !errors.Is(err, unix.ENOENT) {
		return err
	}
	return n.build()
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
func (n *Nft) element(user netip.Prefix, until time.Time) (*nftables.Set, nftables.SetElement) {
	var e nftables.SetElement
	if !until.IsZero() {
		e.Timeout = max(time.Second, time.Until(until))
	}
	if user.Addr().Is4() {
		e.Key = user.Addr().AsSlice()
		return n.bad[0], e
	}
	e.Key = user.Masked().Addr().AsSlice()[:n.prefix/8]
	return n.bad[1], e
}

// Ban drops what a user sends, until a time if that is not zero.
func (n *Nft) Ban(user netip.Prefix, until time.Time) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, known := n.bans[user]
	n.bans[user] = until
	err := n.again(func() error {
		set, element := n.element(user, until)
		if known { // else it would keep its time
			if err := n.change(set, element, n.conn.SetDeleteElements); err != nil && !errors.Is(err, unix.ENOENT) {
				return err
			}
		}
		return n.change(set, element, n.conn.SetAddElements)
	})
	if err != nil && !errors.Is(err, unix.EEXIST) {
		return fault.In("live", "nftables: ban %v: %w", user, err)
	}
	return nil
}

// change adds or deletes an element.
func (n *Nft) change(set *nftables.Set, e nftables.SetElement, do func(*nftables.Set, []nftables.SetElement) error) error {
	if err := do(set, []nftables.SetElement{e}); err != nil {
		return err
	}
	return n.conn.Flush()
}

// Unban ends a ban. One that has ended by itself is no error.
func (n *Nft) Unban(user netip.Prefix) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.bans, user)
	set, element := n.element(user, time.Time{})
	if err := n.change(set, element, n.conn.SetDeleteElements); err != nil && !errors.Is(err, unix.ENOENT) {
		return fault.In("live", "nftables: unban %v: %w", user, err)
	}
	return nil
}

// Lists replaces the black list and the white list.
func (n *Nft) Lists(black, white []netip.Prefix) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.black, n.white = black, white
	clear(n.except)
	if err := n.again(n.fillLists); err != nil {
		return fault.In("live", "nftables: %w", err)
	}
	return nil
}

// Except has the black list not hold for a user, until Lists.
func (n *Nft) Except(user netip.Prefix) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.except[user] = true
	if err := n.again(n.fillLists); err != nil {
		return fault.In("live", "nftables: %w", err)
	}
	return nil
}

func (n *Nft) fillLists() error {
	for i, list := range [][]netip.Prefix{n.white, without(n.black, n.except)} {
		for family := range 2 {
			set := n.lists[2*i+family]
			n.conn.FlushSet(set)
			if elements := intervals(list, family == 0); len(elements) > 0 {
				if err := n.conn.SetAddElements(set, elements); err != nil {
					return err
				}
			}
		}
	}
	return n.conn.Flush()
}

// Counters returns nothing: the rules have counters that nft list ruleset shows.
func (n *Nft) Counters() map[string]uint64 { return nil }

// Name says what it is.
func (n *Nft) Name() string { return "nftables" }

// Close removes the table.
func (n *Nft) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return errors.Join(removeTable(n.table.Name), n.owner.Close())
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
