package keeper

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"

	"github.com/everbloom-go/everbloom/internal/gate/event"
)

// A journal has the events since the last state was saved. While one is being saved the
// events before are in a second file.
type journal struct {
	path string
	file *os.File
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
	k.journal = &journal{path: path}
	if !k.config.Sync {
		return nil
	}
	return k.journal.open()
}

func (j *journal) open() (err error) {
	j.file, err = os.OpenFile(j.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	return err
}

// append writes an event, and returns when it is on disk.
func (j *journal) append(seq uint64, e *event.Event) error {
	if j == nil || j.file == nil {
		return nil
	}
	text, err := json.Marshal(entry{seq, *e})
	if err != nil {
		return err
	}
	line := fmt.Appendf(nil, "%08x %s\n", crc32.Checksum(text, castagnoli), text)
	if _, err := j.file.Write(line); err != nil {
		return err
	}
	return j.file.Sync()
}

// rotate puts the journal aside, for the state that is saved now has its events. One that
// is aside already stays in front of it.
func (j *journal) rotate() error {
	if j == nil || j.file == nil {
		return nil
	}
	before, err := os.ReadFile(old(j.path))
	if err == nil { // the last state could not be saved
		now, err := os.ReadFile(j.path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(j.path, append(before, now...), 0o600); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := errors.Join(j.file.Close(), os.Rename(j.path, old(j.path))); err != nil {
		return err
	}
	return j.open()
}

// drop removes what the state that was saved has.
func (j *journal) drop() error {
	if j == nil {
		return nil
	}
	paths := []string{old(j.path)}
	if j.file == nil {
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
	return j.file.Close()
}

// replay takes in the events of a journal that the state does not have, up to the first
// line that is damaged: the process was killed while it wrote it.
func (k *Keeper) replay(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	good := 0
	lines := bufio.NewReader(bytes.NewReader(text))
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var sum uint32
		var e entry
		if len(line) < 10 || scan(line[:8], &sum) != nil || crc32.Checksum(line[9:len(line)-1], castagnoli) != sum || json.Unmarshal(line[9:], &e) != nil {
			break
		}
		good += len(line)
		if e.Seq > k.seq {
			k.seq = e.Seq
			k.redo(&e.Event)
		}
	}
	if good == len(text) {
		return nil
	}
	return os.Truncate(path, int64(good))
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
		_ = k.engine.Unban(e.Src) // it may have been an exception from a list that is not there
		if b := k.bans[user]; b != nil {
			k.past[user] = past{at, b.Times}
			delete(k.bans, user)
		}
	}
}

// Close ends the journal.
func (k *Keeper) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.journal.close()
}
