package live

import (
	"errors"
	"net"
	"strings"

	"github.com/google/nftables"
	"golang.org/x/sys/unix"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// maxTableName is the longest name that is accepted; the kernel takes more.
const maxTableName = 64

// claimTable takes the name of a table for this process, within its network: an abstract socket
// that the kernel closes when the process ends.
func claimTable(name string) (net.Listener, error) {
	l, err := net.Listen("unix", "@everbloom/nft/"+name)
	if errors.Is(err, unix.EADDRINUSE) {
		return nil, fault.In("live", "nftables: another gate has the table inet %s: name another by --table", name)
	}
	if err != nil {
		return nil, fault.In("live", "nftables: %w", err)
	}
	return l, nil
}

// removeTable removes a table, if it is there.
func removeTable(name string) error {
	conn, err := nftables.New()
	if err != nil {
		return err
	}
	tables, err := conn.ListTablesOfFamily(nftables.TableFamilyINet)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if t.Name == name {
			conn.DelTable(t)
		}
	}
	return conn.Flush()
}

// RemoveNft removes the tables of gates that are gone, and returns their names and those of
// gates that run.
func RemoveNft() (removed, kept []string, err error) {
	conn, err := nftables.New()
	if err != nil {
		return nil, nil, fault.In("live", "nftables: %w", err)
	}
	tables, err := conn.ListTablesOfFamily(nftables.TableFamilyINet)
	if err != nil {
		return nil, nil, fault.In("live", "nftables: %w", err)
	}
	for _, t := range tables {
		if !strings.HasPrefix(t.Name, TableName) {
			continue
		}
		owner, err := claimTable(t.Name)
		if err != nil {
			kept = append(kept, t.Name)
			continue
		}
		if err := errors.Join(removeTable(t.Name), owner.Close()); err != nil {
			return removed, kept, fault.In("live", "nftables: %w", err)
		}
		removed = append(removed, t.Name)
	}
	return removed, kept, nil
}
