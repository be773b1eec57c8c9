package server

import (
	"errors"
	"io"
	"iter"
	"math"
	"strings"

	"github.com/everbloom-go/everbloom/server/console"
	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/router"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// shown is a server as its console sees it.
type shown struct{ *Server }

var _ console.Source = shown{}

// Login implements console.Source.
func (s shown) Login(name, token string) (console.User, bool) {
	u, ok := s.host.Login(name, token)
	if !ok {
		return console.User{}, false
	}
	return console.User{Name: u.Name, Prefix: u.Prefix, Admin: u.Role == command.Administrator}, true
}

// Default implements console.Source.
func (s shown) Default() (console.User, bool) {
	if s.host.Users != nil {
		return console.User{}, false
	}
	return s.Login("", "")
}

// Do implements console.Source.
func (s shown) Do(u console.User, from string, words ...string) ([]string, error) {
	user, err := s.host.Named(u.Name)
	if err != nil {
		return nil, err
	}
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	reply, err := s.do(user, "console "+from, args)
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(reply), "\r\n"), "\r\n"), nil
}

// Numbers implements console.Source.
func (s shown) Numbers() console.Numbers {
	images, totals := s.images(), s.totals()
	stats := totals.Stats
	n := console.Numbers{
		Started: s.host.Started, Version: s.host.Version, SetBytes: s.bytes(), MaxMemory: s.maxMemory(), Resident: command.Memory(),
		Connections: len(s.Sessions()), Images: images.Last, ImagesFailed: images.Failed, ImagesAreWritten: images.Running,
		Commands: s.host.Stats.Commands.Load(), Accepted: s.host.Stats.Connections.Load(), Rejected: s.host.Stats.Rejected.Load(),
		Records: stats.Records, LogBytes: stats.Bytes, Effects: stats.Effects, Waited: stats.Waited,
	}
	n.Sets, n.Expiring = totals.Keys, totals.Expiring
	if err := totals.Broken; err != nil {
		n.Refused = err.Error()
	}
	if s.folder != nil {
		n.Disk, n.DiskFree = diskSpace(s.folder.path)
	}
	return n
}

// Sets implements console.Source.
func (s shown) Sets() iter.Seq2[string, console.Set] {
	return func(yield func(string, console.Set) bool) {
		stopped := false
		for h := range s.loaded() {
			h.store.Scan(0, math.MaxInt, h.partition.Now(), func(name string, e *store.Entry) {
				if !stopped && e.Type() != store.Text {
					stopped = !yield(name, shownSet{e, h.keeper})
				}
			})
		}
	}
}

// Set implements console.Source.
func (s shown) Set(name string) console.Set {
	h := s.shards[router.Partition([]byte(name), len(s.shards))].Load()
	if h == nil {
		return nil
	}
	e := h.store.Lookup([]byte(name), h.partition.Now())
	if e == nil || e.Type() == store.Text {
		return nil
	}
	return shownSet{e, h.keeper}
}

// Commands implements console.Source.
func (s shown) Commands() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		stopped := false
		s.host.Stats.Each(func(name string, n int64) {
			stopped = stopped || !yield(name, n)
		})
	}
}

// Clients implements console.Source.
func (s shown) Clients() (out []console.Client) {
	for _, c := range s.Sessions() {
		one := console.Client{Addr: c.Addr, Since: c.Since}
		one.Name, one.User, one.Command = c.About()
		out = append(out, one)
	}
	return out
}

// slowShown is how many slow commands the console may show.
const slowShown = 100

// Slow implements console.Source.
func (s shown) Slow() (out []console.Slow) {
	for _, e := range s.host.Slow.Last(slowShown) {
		out = append(out, console.Slow{At: e.At, Took: e.Took, Words: texts(e.Args), Addr: e.Addr})
	}
	return out
}

// Sample implements console.Source.
func (s shown) Sample(watch bool) (out []console.Ran, of int64) {
	sample, of := s.host.Monitor.Sample(watch, s.host.Stats.Commands.Load())
	for _, r := range sample {
		out = append(out, console.Ran{At: r.At, Words: texts(r.Args), Addr: r.Addr, User: r.User})
	}
	return out, of
}

func texts(args [][]byte) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = string(a)
	}
	return out
}

// Kinds implements console.Source.
func (s shown) Kinds() []string { return store.KindNames() }

// Cluster implements console.Source.
func (s shown) Cluster() *console.Cluster {
	if s.node == nil {
		return nil
	}
	status := s.node.known()
	out := &console.Cluster{Problems: status.Problems}
	for _, o := range status.Nodes {
		silence := status.At.Sub(o.Heard)
		out.Nodes = append(out.Nodes, console.Node{
			Name: o.Node, Address: o.Address, Version: o.Version, Self: o.Node == s.node.name, Leads: o.Leading(), Behind: status.Behind(o),
			Sets: o.Sets(), Bytes: o.Bytes(), Silence: silence, Gone: silence > silent,
		})
	}
	for i, p := range status.Partitions {
		out.Partitions = append(out.Partitions, status.shownPartition(i, p))
	}
	return out
}

// shownPartition returns a partition as the console shows it.
func (s *ClusterStatus) shownPartition(i int, p LeaderStatus) console.Partition {
	out := console.Partition{Number: i, Epoch: p.Epoch, Records: p.Applied, Sets: p.Sets, Bytes: p.Bytes}
	if p.Leads {
		out.Leader = p.Leader
	}
	for _, o := range s.Nodes {
		q := o.Partitions[i]
		one := console.Copy{Held: q.Held, Leads: p.Leads && o.Node == p.Leader, Lease: q.Lease}
		if p.Applied > q.Applied {
			one.Behind = p.Applied - q.Applied
		}
		out.Copies = append(out.Copies, one)
	}
	return out
}

// errForeign is the answer to a download of bits that are not everbloom's.
var errForeign = errors.New("a filter imported from RedisBloom cannot be a file: copy it with DUMP or SCANDUMP")

// shownSet is a set as the console sees it.
type shownSet struct {
	*store.Entry
	keeper *keeper
}

// KindName implements console.Set.
func (e shownSet) KindName() string { return store.KindName(e.Spec().Kind) }

// Asked implements console.Set.
func (e shownSet) Asked() (capacity uint64, fpr float64) { return e.Spec().Capacity, e.Spec().FPR }

// CanDelete implements console.Set.
func (e shownSet) CanDelete() bool { return e.Type() == store.Cuckoo }

// File implements console.Set.
func (e shownSet) File() (io.WriterTo, error) {
	if e.Foreign() {
		return nil, errForeign
	}
	return e.keeper.download(e.Entry)
}

// download returns a copy of the file of a set.
func (k *keeper) download(e *store.Entry) (io.WriterTo, error) {
	k.copying.Lock()
	defer k.copying.Unlock()
	return e.Download(k.shard.partition.Do)
}
