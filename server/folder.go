package server

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/log/jetstream"
	"github.com/everbloom-go/everbloom/server/internal/record"
)

// A folder is the data of a server. It is locked while it is open.
type folder struct {
	path string
	lock *os.File
	tail *os.File
	used bool // a log was begun in it
}

// openFolder takes a folder, which is made if it is missing.
func openFolder(path string) (f *folder, err error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	f = &folder{path: path, lock: lock}
	if err := lockFile(lock); err != nil {
		_ = lock.Close() // it was not taken
		return nil, fmt.Errorf("server: %s is used by another server: stop it, or name another folder with --dir: %w", path, err)
	}
	if f.tail, err = os.OpenFile(filepath.Join(path, "tail"), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		_ = f.close() // there is an error already
		return nil, fmt.Errorf("server: %w", err)
	}
	return f, nil
}

// close gives the folder back.
func (f *folder) close() error {
	var err error
	if f.tail != nil {
		err = errors.Join(f.tail.Sync(), f.tail.Close())
	}
	return errors.Join(err, f.lock.Close())
}

const modeVersion = 1

// A mode is what a folder was made for: how the server runs, and what of.
type mode struct{ way, of string }

// mode returns what the settings ask for.
func (s *Server) mode() mode {
	switch {
	case s.settings.Get("member") != "":
		return mode{"member", s.settings.Get("member")}
	case s.settings.Get("nats") != "":
		return mode{"nats", s.settings.Get("namespace")}
	}
	return mode{"alone", s.settings.Get("log")}
}

// mark says what a new folder was made for. It is called when the log has a record.
func (f *folder) mark(m mode) error {
	if f.used {
		return nil
	}
	return writeSynced(f.path, "mode", fmt.Appendf(nil, "everbloom %d %s %s\n", modeVersion, m.way, m.of))
}

// check refuses a folder that was made for another mode or by a newer release.
func (f *folder) check(want mode) error {
	path := filepath.Join(f.path, "mode")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	f.used = true
	var number int
	var was mode
	if _, err := fmt.Sscanf(strings.TrimSpace(string(text)), "everbloom %d %s %s", &number, &was.way, &was.of); err != nil {
		return fmt.Errorf("server: %s is damaged: restore a copy of the folder", path)
	}
	switch {
	case number > modeVersion:
		return fmt.Errorf("server: %s was written by a newer release: update everbloom", f.path)
	case was != want:
		return fmt.Errorf("server: %s was created for a server %v, this is a server %v: name another folder with --dir, and copy the sets with everbloom import", f.path, was, want)
	}
	return nil
}

// String describes a mode.
func (m mode) String() string {
	switch m.way {
	case "alone":
		return "alone with log " + m.of
	case "member":
		return "that is member " + m.of + " of a cluster"
	}
	return "on a NATS cluster with namespace " + m.of
}

// writeSynced writes a file so that it is there as a whole or not at all.
func writeSynced(dir, name string, content []byte) error {
	file, err := os.CreateTemp(dir, name+"-*.tmp")
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return fmt.Errorf("server: %w", errors.Join(err, os.Remove(file.Name())))
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}

// openLog opens the log that the settings name.
func (s *Server) openLog() (log.Log, error) {
	engine := s.settings.Get("log")
	if engine == "memory" {
		return new(log.Memory), nil
	}
	if err := s.folder.check(s.mode()); err != nil {
		return nil, err
	}
	if engine == "file" {
		return opened(log.OpenFile(filepath.Join(s.folder.path, "log")))
	}
	dir := filepath.Join(s.folder.path, "jetstream")
	if s.settings.On("accept-loss") {
		if err := jetstream.Rebuild(dir); err != nil {
			return nil, fmt.Errorf("server: %w", err)
		}
	}
	return opened(jetstream.Open(dir))
}

// opened returns l, or a nil interface in case of an error.
func opened[L log.Log](l L, err error) (log.Log, error) {
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	return l, nil
}

// The tail is number 8 | sum 4 | crc32c 4.
const tailSize = 16

// writeTail keeps the last record that was acknowledged. It is not synced: it is about
// logs that lose more than a crash of the process can explain.
func (f *folder) writeTail(c record.Chain) error {
	var b [tailSize]byte
	binary.LittleEndian.PutUint64(b[:], c.Number)
	binary.LittleEndian.PutUint32(b[8:], c.Sum)
	binary.LittleEndian.PutUint32(b[12:], crc32.ChecksumIEEE(b[:12]))
	_, err := f.tail.WriteAt(b[:], 0)
	return err
}

var errTail = errors.New("the file tail is damaged")

// readTail returns the last record that was acknowledged; the zero Chain if none was.
func (f *folder) readTail() (c record.Chain, err error) {
	var b [tailSize]byte
	n, err := f.tail.ReadAt(b[:], 0)
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return c, nil
	case n < tailSize || crc32.ChecksumIEEE(b[:12]) != binary.LittleEndian.Uint32(b[12:]):
		return c, errTail
	}
	return record.Chain{Number: binary.LittleEndian.Uint64(b[:]), Sum: binary.LittleEndian.Uint32(b[8:])}, nil
}

// verify refuses a log that ends before the last record that was acknowledged. The file mode
// is written behind the first record: with it, an empty log has lost everything.
func (k *keeper) verify(last record.Chain) error {
	var missing error
	const advice = "acknowledged changes are missing; restore a copy of the folder, or accept the loss with --accept-loss yes"
	switch {
	case last.Number < k.tail.Number || last.Number == k.tail.Number && last != k.tail:
		missing = fmt.Errorf("server: the log ends with record %d, but record %d was acknowledged: "+advice, last.Number, k.tail.Number)
	case last.Number == 0 && k.server.folder.used:
		missing = errors.New("server: the log is empty, but the folder was used before: " + advice)
	default:
		return nil
	}
	if !k.server.settings.On("accept-loss") {
		return missing
	}
	k.server.logger.Warn("starting with acknowledged changes missing", "error", missing)
	return nil
}
