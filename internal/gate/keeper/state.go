package keeper

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/fault"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/internal/gate/logs"
	"github.com/everbloom-go/everbloom/internal/replace"
)

// stateVersion is that of the format.
const stateVersion = 1

// saved is a state as it was read.
type saved struct {
	hash filter.Hash
	data []byte
}

// header is the shape of the frame: how long the payload is.
type header struct{ Length uint64 }

// maxState is the length of the longest state, in bytes.
const maxState = 1 << 36

func (h header) check() error {
	if h.Length > maxState {
		return fault.In("keeper", "state of %d bytes, at most %d", h.Length, uint64(maxState))
	}
	return nil
}

// readState reads a file; nil if there is none.
func readState(path string) (*saved, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	r, _, err := frame.OpenAs(file, frame.GateState, stateVersion, header.check)
	if err != nil {
		return nil, err
	}
	s := &saved{}
	if err := s.hash.UnmarshalBinary(r.Header().Hash); err != nil {
		return nil, err
	}
	if s.data, err = io.ReadAll(r); err != nil {
		return nil, err
	}
	return s, r.Close()
}

// Save writes the state, if it is kept. Packets are judged meanwhile.
func (k *Keeper) Save(ctx context.Context) error {
	k.saving.Lock()
	defer k.saving.Unlock()
	if k.config.State == "" || k.closed {
		return nil
	}
	k.mu.Lock()
	data := k.appendState(nil)
	watcher, _ := k.config.Enforcer.(Watcher)
	hash, err := k.engine.Hash().MarshalBinary()
	if err == nil {
		err = k.journal.rotate()
	}
	k.mu.Unlock()
	if err != nil {
		return err
	}
	data = appendWatched(data, watcher) // users are watched before a chain of theirs is in the state
	image := &frame.Image{
		Header: frame.Header{Kind: frame.GateState, Version: stateVersion, Shape: frame.ShapeOf(header{uint64(len(data))}), Payload: uint64(len(data))},
		Payload: func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		},
	}
	image.Stamp(hash, 0, 1)
	err = replace.File(ctx, k.config.State, true, func(w io.Writer) error {
		_, err := image.WriteTo(w)
		return err
	})
	if err != nil {
		return err
	}
	return k.journal.drop()
}

// appendState appends the state as the package comment has it.
func (k *Keeper) appendState(to []byte) []byte {
	le := binary.LittleEndian
	to = le.AppendUint64(to, k.seq)
	to = le.AppendUint64(to, uint64(k.config.Now().UnixNano()))
	to = le.AppendUint32(to, uint32(len(k.bans)))
	for _, b := range k.bans {
		until := int64(0)
		if b.Until != nil {
			until = b.Until.UnixNano()
		}
		to = appendText(to, b.User.String())
		to = le.AppendUint64(to, uint64(b.Since.UnixNano()))
		to = le.AppendUint64(to, uint64(until))
		to = le.AppendUint32(to, b.Times)
		to = appendText(to, b.Reason)
	}
	to = le.AppendUint32(to, uint32(len(k.past)))
	for user, p := range k.past {
		to = appendText(to, user.String())
		to = le.AppendUint64(to, uint64(p.ended))
		to = le.AppendUint32(to, p.times)
	}
	to = k.engine.AppendState(to)
	to = le.AppendUint32(to, uint32(len(k.positions)))
	for path, p := range k.positions {
		to = appendText(to, path)
		to = le.AppendUint64(to, uint64(p.Start))
		to = le.AppendUint64(to, uint64(p.End))
		to = le.AppendUint64(to, p.Sum)
	}
	return to
}

func appendText(to []byte, text string) []byte {
	text = text[:min(len(text), 1<<16-1)]
	return append(binary.LittleEndian.AppendUint16(to, uint16(len(text))), text...)
}

// A decoder takes numbers and texts off bytes. After an error all are zero.
type decoder struct {
	rest []byte
	err  error
}

var errShort = errors.New("the state is cut off")

func (d *decoder) take(n int) []byte {
	if d.err != nil || len(d.rest) < n {
		if d.err == nil {
			d.err = errShort
		}
		return make([]byte, n)
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) number() uint64 { return binary.LittleEndian.Uint64(d.take(8)) }
func (d *decoder) count() uint32  { return binary.LittleEndian.Uint32(d.take(4)) }
func (d *decoder) text() string   { return string(d.take(int(binary.LittleEndian.Uint16(d.take(2))))) }

func (d *decoder) user() netip.Prefix {
	text := d.text()
	if d.err != nil {
		return netip.Prefix{}
	}
	p, err := netip.ParsePrefix(text)
	d.err = err
	return p.Masked()
}

// restore takes in a state, the journal aside.
func (k *Keeper) restore(s *saved) error {
	if s == nil {
		return nil
	}
	d := &decoder{rest: s.data}
	seq := d.number()
	_ = d.number() // when it was saved
	for n := d.count(); n > 0 && d.err == nil; n-- {
		k.restoreBan(d)
	}
	for n := d.count(); n > 0 && d.err == nil; n-- {
		user := d.user()
		k.past[user] = past{int64(d.number()), d.count()}
	}
	if d.err == nil && s.hash == k.engine.Hash() {
		d.rest, d.err = k.engine.RestoreState(d.rest)
		k.restorePositions(d)
		k.restoreWatched(d)
	}
	if d.err != nil {
		return fault.In("keeper", "%w", d.err)
	}
	k.seq = seq // bans that there is no room for have been told, and do not count
	return nil
}

// restorePositions takes in those of logs. States of the first gates have none.
func (k *Keeper) restorePositions(d *decoder) {
	if d.err != nil || len(d.rest) == 0 {
		return
	}
	for n := d.count(); n > 0 && d.err == nil; n-- {
		path := d.text()
		k.positions[path] = logs.Position{Start: int64(d.number()), End: int64(d.number()), Sum: d.number()}
	}
}

func (k *Keeper) restoreBan(d *decoder) {
	b := &Ban{User: d.user(), Since: time.Unix(0, int64(d.number())).UTC()}
	if until := int64(d.number()); until != 0 {
		at := time.Unix(0, until).UTC()
		b.Until = &at
	}
	b.Times, b.Reason = d.count(), d.text()
	if d.err == nil && b.User != k.engine.User(b.User.Addr()) {
		d.err = fmt.Errorf("it has a ban of %v, and IPv6 users have other prefixes now: give --ipv6-prefix as before, or begin a new state", b.User)
	}
	if d.err == nil {
		k.engine.Ban(b.User.Addr())
		k.put(b)
	}
}
