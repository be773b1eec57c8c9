package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/replace"
)

// damaged is the error of a set whose file is of the given sort.
func damaged(sort error) error {
	err := &filter.FormatError{Field: "chunk 3: crc32c", Value: "1", Limit: "2", Offset: 99, Err: sort}
	return fmt.Errorf("everbloom: open f: %w", err)
}

func TestUnreadableSaysWhatToDo(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&fs.PathError{Op: "open", Path: "f", Err: syscall.ENOENT}, "f: no such file: make it with everbloom build -o f"},
		{&fs.PathError{Op: "open", Path: "f", Err: syscall.EACCES}, "f: permission denied"},
		{&fs.PathError{Op: "read", Path: "f", Err: syscall.EISDIR}, "f: is a folder: name a filter file"},
		{&fs.PathError{Op: "read", Path: "f", Err: syscall.EIO}, "f: input/output error"},
		{damaged(filter.ErrNotFilter), "f: not an everbloom file: name one that everbloom build wrote"},
		{damaged(filter.ErrCorrupt), "f: damaged: chunk 3: crc32c: 1, want 2, at offset 99; rebuild it or restore a copy"},
		{damaged(filter.ErrKind), "f: chunk 3: crc32c: 1, want 2, at offset 99: the file is of a newer release: update everbloom"},
		{damaged(filter.ErrVersion), "f: chunk 3: crc32c: 1, want 2, at offset 99: the file is of a newer release: update everbloom"},
		{fmt.Errorf("everbloom: update: f: %w: %w", replace.ErrNoLocks, syscall.ENOTSUP), "f: the file system cannot lock files: two changes at a time could undo each other: write to another file with -o"},
		{fmt.Errorf("everbloom: update: %w", context.Canceled), "everbloom: update: context canceled"}, // report knows what to say
		{damaged(errors.New("a bare filter")), "f: a bare filter"},
	} {
		if got := unreadable("f", c.err).Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestUnwritableNamesNoTemporaryFile(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&fs.PathError{Op: "write", Path: "f.1234.tmp", Err: syscall.ENOSPC}, "f: no space left on device: free some space and try again"},
		{&fs.PathError{Op: "open", Path: "f.1234.tmp", Err: syscall.EACCES}, "f: cannot be written: permission denied: choose another folder with -o"},
		{&fs.PathError{Op: "open", Path: "f.1234.tmp", Err: syscall.EROFS}, "f: cannot be written: read-only file system: choose another folder with -o"},
		{&os.LinkError{Op: "rename", Old: "f.1234.tmp", New: "f", Err: syscall.EBUSY}, "f: cannot be written: device or resource busy"},
	} {
		if got := unwritable("f", fmt.Errorf("everbloom: save f: %w", c.err)).Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestUnmergeableNamesTheFiles(t *testing.T) {
	plainSet, err := everbloom.New(everbloom.Needs{Items: 10})
	if err != nil {
		t.Fatal(err)
	}
	m := &merge{env: systemEnv(), intersects: true}
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("filter: merge two of kind x: %w", &filter.MismatchError{Field: "bits", One: "1", Other: "2"}), "a and b: bits is 1 in a and 2 in b: build one of them again, with --like and the name of the other"},
		{fmt.Errorf("filter: kind x cannot merge: %w", errors.ErrUnsupported), "a: kind blocked cannot do that: these can: bloom, blocked, counting, deletable, dleft, partition, elastic, evergreen"},
		{filter.ErrFull, "a and b: together they do not fit; nothing was written: build both with larger --items"},
	} {
		if got := m.unmergeable("a", "b", plainSet, c.err).Error(); !strings.HasPrefix(got, c.want) {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestFlagsReadWhatPeopleWriteAndShowDefaults(t *testing.T) {
	var w needs
	cmd := &cobra.Command{Use: "test"}
	w.sizeFlags(cmd, "")
	w.needFlags(cmd)
	w.makeFlags(cmd)
	for flag, want := range map[string]string{"items": "", "fpr": "", "spare": "time", "hash": "xxh3", "kind": "", "shards": "0", "delete": "false"} {
		if got := cmd.Flag(flag).DefValue; got != want {
			t.Errorf("--%s: default %q, want %q", flag, got, want)
		}
	}
	args := "--items 2.5M --fpr 5% --spare total --hash murmur3:9 --kind x --shards 4 --delete --grow --merge"
	if err := cmd.ParseFlags(strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	want := everbloom.Needs{
		Items: 2_500_000, FPR: 0.05, Delete: true, Grow: true, Merge: true,
		Spare: everbloom.TotalMemory, Kind: "x", Shards: 4, Hash: filter.Murmur3(9),
	}
	if w.Needs != want {
		t.Errorf("got %+v, want %+v", w.Needs, want)
	}
	for flag, want := range map[string]string{"items": "2500000", "fpr": "0.05", "spare": "total", "hash": "murmur3:9"} {
		if got := cmd.Flag(flag).Value.String(); got != want {
			t.Errorf("--%s: %q, want %q", flag, got, want)
		}
	}
}
