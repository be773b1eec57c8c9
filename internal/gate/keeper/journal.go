package keeper

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"

	"github.com/everbloom-go/everbloom/internal/fault"
	"github.com/everbloom-go/everbloom/internal/gate/event"
	"github.com/everbloom-go/everbloom/internal/gate/logs"
	"github.com/everbloom-go/everbloom/internal/replace"
)

// A journal has the events since the last state was saved. While one is being saved the
// events before are in a second file.
type journal struct {
	path    string
	writes  bool // events are appended
	file    *os.File
	written int64 // length of the file: whole lines
}

// entry is a line of a journal, behind its checksum.
type entry struct {
	Seq   uint64      `json:"seq"`
	Event event.Event `json:"event"`
}

func old(path string) string { return path + ".old" }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// openJournal takes in what the journal has, and begins to write it. Without Sync there is
// none to write, and one of an earlier run is dropped when the state is saved.
func (k *Keeper) openJournal() error {
	if k.config.State == "" {
		return nil
	}
	path := k.config.State + ".log"
	for _, p := range []string{old(path), path} {
		if err := k.replay(p); err != nil {
			return err
		}
	}
	k.journal = &journal{path: path, writes: k.config.Sync}
	return k.journal.open()
}

// open makes the journal, so that its name is on disk, and writes at its end.
func (j *journal) open() error {
	if !j.writes || j.file != nil {
		return nil
	}
	file, err := os.OpenFile(j.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err = errors.Join(err, replace.SyncFolder(j.path)); err != nil {
		return errors.Join(err, file.Close())
	}
	j.file, j.written = file, info.Size()
	return nil
}

// append writes an event, and returns when it is on disk. What was written of a line that
// is not whole is taken back: it would hide the next one.
func (j *journal) append(seq uint64, e *event.Event) error {
	if j == nil || !j.writes {
		return nil
	}
	if err := j.open(); err != nil {
		return err
	}
	text, err := json.Marshal(entry{seq, *e})
	if err != nil {
		return err
	}
	line := fmt.Appendf(nil, "%08x %s\n", crc32.Checksum(text, castagnoli), text)
	if err := appendWhole(j.file, line, j.written); err != nil {
		return err
	}
	j.written += int64(len(line))
	return nil
}

// appendWhole appends bytes to a file of some length, all of them and to the disk or none.
func appendWhole(file *os.File, b []byte, length int64) error {
	_, err := file.Write(b)
	if err == nil {
		err = file.Sync()
	}
	if err != nil {
		return errors.Join(err, file.Truncate(length))
	}
	return nil
}

// rotate puts the journal aside, for the state that is saved now has its events. If one is
// aside already, since the last state could not be saved, it is continued.
func (j *journal) rotate() error {
	if j == nil || j.file == nil {
		return nil
	}
	aside, err := os.OpenFile(old(j.path), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		return errors.Join(j.moveTo(aside), aside.Close())
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(j.path, old(j.path)); err != nil {
		return err
	}
	err = j.file.Close()
	j.file = nil // append opens it if open fails here
	return errors.Join(err, j.open())
}

// moveTo moves all events to another file. They are on disk there before they go here: if
// the process is killed between, both have them, and their numbers tell.
func (j *journal) moveTo(aside *os.File) error {
	now, err := os.ReadFile(j.path)
	if err != nil {
		return err
	}
	info, err := aside.Stat()
	if err != nil {
		return err
	}
	if err := appendWhole(aside, now, info.Size()); err != nil {
		return err
	}
	if err := j.file.Truncate(0); err != nil {
		return err
	}
	j.written = 0
	return nil
}

// drop removes what the state that was saved has.
func (j *journal) drop() error {
	if j == nil {
		return nil
	}
	paths := []string{old(j.path)}
	if !j.writes {
		paths = append(paths, j.path) // of an earlier run
	}
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (j *journal) close() error {
	if j == nil || j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	return err
}

// replay takes in the events of a journal that the state does not have. A last line that is
// cut off was being written when the process was killed, and is removed. Other damage costs
// the damaged lines: a copy of the file is kept, and told as a failure.
func (k *Keeper) replay(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	damaged := 0
	for line := range bytes.Lines(text[:whole]) {
		var e entry
		if !e.parse(line) {
			damaged++
			continue
		}
		if e.Seq > k.seq {
			k.redo(&e.Event)
			k.seq = e.Seq // whatever was told meanwhile
		}
	}
	if damaged > 0 {
		copied, err := keepAside(path, text)
		if err != nil {
			return err
		}
		k.recordFailure(fault.In("keeper", "%s: %d damaged lines are left out, the others are taken in: a copy is %s", path, damaged, copied))
	}
	if whole == len(text) {
		return nil
	}
	return os.Truncate(path, int64(whole))
}

// keepAside writes a copy of a damaged file under a name that is free.
func keepAside(path string, text []byte) (name string, err error) {
	for n := 1; ; n++ {
		name = fmt.Sprintf("%s.damaged.%d", path, n)
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = file.Write(text)
		return name, errors.Join(err, file.Close())
	}
}

// parse reads a line, and reports whether it is as it was written.
func (e *entry) parse(line []byte) bool {
	var sum uint32
	return len(line) >= 10 && scan(line[:8], &sum) == nil && crc32.Checksum(line[9:len(line)-1], castagnoli) == sum &&
		json.Unmarshal(line[9:], e) == nil
}

func scan(digits []byte, to *uint32) error {
	_, err := fmt.Sscanf(string(digits), "%08x", to)
	return err
}

// redo does again what an event of the journal says.
func (k *Keeper) redo(e *event.Event) {
	at := int64(0)
	if e.Time != nil {
		at = e.Time.UnixNano()
	}
	user := k.engine.User(e.Src)
	if _, followed := k.positions[e.Input]; followed && e.Number > 0 {
		k.positions[e.Input] = logs.Position{Start: int64(e.Number), End: int64(e.Number)} // its text is not known
	}
	switch e.Kind {
	case event.Strike:
		k.engine.SetStrikes(e.Src, int(e.Strikes), at)
	case event.Ban:
		k.engine.Ban(e.Src)
		b := &Ban{User: user, Since: k.config.Now().UTC(), Times: k.past[user].times + 1, Reason: e.Reason + e.Pattern, Until: e.Until}
		if e.Time != nil {
			b.Since = *e.Time
		}
		k.put(b)
	case event.Unban:
		_ = k.engine.EndBan(e.Src) // it may have been an exception from a list, which is read again
		if b := k.bans[user]; b != nil {
			k.past[user] = past{at, b.Times}
			delete(k.bans, user)
		}
	}
}

// Close ends the journal and gives up the state. Save does nothing afterwards.
func (k *Keeper) Close() error {
	k.saving.Lock()
	defer k.saving.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	err := k.journal.close()
	if k.lock != nil {
		k.lock.Release()
		k.lock = nil
	}
	return err
}
