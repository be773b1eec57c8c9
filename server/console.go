package server

import (
	"errors"
	"io"
	"iter"
	"math"
	"strings"

	"github.com/everbloom-go/everbloom/server/console"
	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// shown is a server as its console sees it.
type shown struct{ *Server }

var _ console.Source = shown{}

// Login implements console.Source.
func (s shown) Login(name, token string) (console.User, bool) {
	u, ok := s.env.Login(name, token)
	if !ok {
		return console.User{}, false
	}
	return console.User{Name: u.Name, Prefix: u.Prefix, Admin: u.Role == command.Administrator}, true
}

// Default implements console.Source.
func (s shown) Default() (console.User, bool) {
	if s.env.Users != nil {
		return console.User{}, false
	}
	return s.Login("", "")
}

// Do implements console.Source.
func (s shown) Do(u console.User, from string, words ...string) ([]string, error) {
	user, err := s.env.Named(u.Name)
	if err != nil {
		return nil, err
	}
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	reply, err := s.env.Do(user, "console "+from, args)
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(reply), "\r\n"), "\r\n"), nil
}

// Numbers implements console.Source.
func (s shown) Numbers() console.Numbers {
	images, stats := s.keeper.state(), s.partition.Stats()
	n := console.Numbers{
		Started: s.env.Started, Version: s.env.Version, SetBytes: s.store.Bytes(), MaxMemory: s.maxMemory(), Resident: command.Memory(),
		Connections: len(s.Sessions()), Images: images.Last, ImagesFailed: images.Failed, ImagesAreWritten: images.Running,
		Commands: s.env.Stats.Commands.Load(), Accepted: s.env.Stats.Connections.Load(), Rejected: s.env.Stats.Rejected.Load(),
		Records: stats.Records, LogBytes: stats.Bytes, Effects: stats.Effects, Waited: stats.Waited,
	}
	n.Sets, n.Expiring = s.store.Len()
	if err := s.partition.Broken(); err != nil {
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
		s.store.Scan(0, math.MaxInt, s.partition.Now(), func(name string, e *store.Entry) {
			if !stopped && e.Type() != store.Text {
				stopped = !yield(name, shownSet{e, s.keeper})
			}
		})
	}
}

// Set implements console.Source.
func (s shown) Set(name string) console.Set {
	e := s.store.Lookup([]byte(name), s.partition.Now())
	if e == nil || e.Type() == store.Text {
		return nil
	}
	return shownSet{e, s.keeper}
}

// Commands implements console.Source.
func (s shown) Commands() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		stopped := false
		s.env.Stats.Each(func(name string, n int64) {
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
	for _, e := range s.env.Slow.Last(slowShown) {
		out = append(out, console.Slow{At: e.At, Took: e.Took, Words: texts(e.Args), Addr: e.Addr})
	}
	return out
}

// Sample implements console.Source.
func (s shown) Sample(watch bool) (out []console.Ran, of int64) {
	sample, of := s.env.Monitor.Sample(watch, s.env.Stats.Commands.Load())
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
	return e.Download(k.server.partition.Do)
}
