package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/kinds"
)

// open loads the filter in a file.
func (e *env) open(path string) (*everbloom.Set, error) {
	set, err := e.load(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	return set, nil
}

// newSet makes an empty set, or says what to ask for instead.
func newSet(n everbloom.Needs) (*everbloom.Set, error) {
	set, err := everbloom.New(n)
	if errors.Is(err, filter.ErrStorage) {
		_, reason, _ := strings.Cut(plain(err), "mem: ")
		return nil, fmt.Errorf("the filter does not fit: %s: ask for fewer --items or a higher --fpr", reason)
	}
	return set, err
}

// save replaces the filter in a file, unless ctx ended before.
func save(ctx context.Context, set *everbloom.Set, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := set.Save(path); err != nil {
		return unwritable(path, err)
	}
	return nil
}

// kindOf returns the row of the table that a set belongs to.
func (e *env) kindOf(set *everbloom.Set) (kinds.Kind, error) {
	name := set.Info().Kind
	for _, k := range e.kinds {
		if k.Name == name {
			return k, nil
		}
	}
	return kinds.Kind{}, fmt.Errorf("kind %s is unknown", name)
}

// input opens the named inputs. If the keys are to be typed it says so, because
// a program that just waits looks broken.
func (e *env) input(names []string, quiet bool) (*lines.Input, error) {
	in, err := lines.Open(names, e.stdin)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: name a file of keys, or pipe keys in", err)
	}
	if err != nil {
		return nil, err
	}
	if e.typed && (len(names) == 0 || slices.Contains(names, lines.Stdin)) {
		e.shown = false // a bar would run into what is typed
		if !quiet {
			e.say("reading keys from the terminal, one per line; end with Ctrl-D")
		}
	}
	return in, nil
}

// checkOutput finds out before the work begins whether a file can be written
// there, and that it is none of the inputs.
func checkOutput(path string, in *lines.Input) error {
	if in != nil && in.Names(path) {
		return within(path, "is both an input and the output: choose another name")
	}
	folder := filepath.Dir(path)
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return within(path, "is a folder: name a file in it")
	case err == nil && !info.Mode().IsRegular(), path == lines.Stdin:
		return within(path, "cannot be replaced as a whole: name a regular file")
	case err == nil:
	case !isFolder(folder):
		return within(path, "there is no folder %s: make it first", folder)
	}
	trial, err := os.CreateTemp(folder, ".everbloom-*.tmp")
	if err != nil {
		return unwritable(path, err)
	}
	if err := errors.Join(trial.Close(), os.Remove(trial.Name())); err != nil {
		return unwritable(path, err)
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// hashLines returns a function that puts the keys of a block into its result.
func hashLines(hash filter.Hash) func(*lines.Block, *[]filter.Key) error {
	return func(b *lines.Block, keys *[]filter.Key) error {
		*keys = appendKeys((*keys)[:0], b.Text, hash)
		return nil
	}
}

// appendKeys hashes the lines that hold a key.
func appendKeys(keys []filter.Key, text []byte, hash filter.Hash) []filter.Key {
	var line []byte
	for len(text) > 0 {
		line, text = lines.Cut(text)
		if key := lines.Key(line); len(key) > 0 {
			keys = append(keys, hash.Bytes(key))
		}
	}
	return keys
}
