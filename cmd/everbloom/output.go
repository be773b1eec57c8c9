package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"
	"github.com/everbloom-go/everbloom/internal/replace"
)

// stdout is the name that stands for the standard output.
const stdout = "-"

// outputRules is the part of the help that verbs with an output share.
const outputRules = `A file is replaced as a whole or not at all.
As the output "-" is the standard output; if that is a terminal, --force is
needed, too. Names of open files, such as /dev/stdout, are refused.`

// checkOutput finds out before the work begins whether a filter can be written
// there, and that it is none of the inputs; in may be nil.
func (e *env) checkOutput(path string, in *lines.Input, force bool) error {
	if path == stdout {
		if e.printed && !force {
			return within(path, "the standard output is a terminal, and a filter is no text: redirect it, or give --force")
		}
		return nil
	}
	if in != nil && in.Names(path) {
		return within(path, "is both an input and the output: choose another name")
	}
	if _, err := replace.Follow(path); err != nil {
		return within(path, "%w: name a regular file, or - for the standard output", systemReason(err))
	}
	folder := filepath.Dir(path)
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return within(path, "is a folder: name a file in it")
	case err == nil && !info.Mode().IsRegular():
		return within(path, "cannot be replaced as a whole: name a regular file, or - for the standard output")
	case err == nil:
	case !isFolder(folder):
		return within(path, "there is no folder %s: make it first", folder)
	}
	if err := tryFolder(folder); err != nil {
		return unwritable(path, err)
	}
	return nil
}

// tryFolder makes a file in a folder and removes it.
func tryFolder(path string) error {
	trial, err := os.CreateTemp(path, ".everbloom-*.tmp")
	if err != nil {
		return err
	}
	return errors.Join(trial.Close(), os.Remove(trial.Name()))
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// sameFile reports whether both names lead to one file.
func sameFile(a, b string) bool {
	if a == stdout || b == stdout {
		return false
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// saveFilter replaces the filter in a file, or writes it to the standard output
// if the name is "-", unless ctx ends before.
func (e *env) saveFilter(ctx context.Context, set *everbloom.Set, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var err error
	if path == stdout {
		_, err = set.WriteTo(e.stdout)
	} else {
		err = set.SaveContext(e.tellWait(ctx, path), path)
	}
	if err != nil {
		return unwritable(path, err)
	}
	return nil
}

// updateFilter changes the filter in a file, which stays locked meanwhile.
func (e *env) updateFilter(ctx context.Context, path string, change func(*everbloom.Set) error) error {
	var (
		loaded bool
		failed error
	)
	err := everbloom.Update(e.tellWait(ctx, path), path, func(set *everbloom.Set) error {
		loaded = true
		failed = change(set)
		return failed
	})
	switch {
	case err == nil, failed != nil:
		return failed
	case loaded:
		return unwritable(path, err)
	}
	return unreadable(path, err)
}

// tellWait makes a wait for another change of a file visible.
func (e *env) tellWait(ctx context.Context, path string) context.Context {
	return replace.WithNotice(ctx, func() { e.say("waiting for another change of %s", path) })
}
