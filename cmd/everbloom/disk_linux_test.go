package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
)

func TestFullDiskLeavesTheOldFile(t *testing.T) {
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("no small disk: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(folder, 0); err != nil {
			t.Error(err)
		}
	}()
	run := func(args ...string) (int, string) {
		out, err := command(t, folder, args...).CombinedOutput()
		code, _ := status(t, err)
		return code, string(out)
	}
	put(t, folder, "keys", "a\nb\n")
	success(t, folder, "", "build", "--quiet", "-o", "f", "keys")
	old := content(t, folder, "f")
	code, out := run("build", "-o", "f", "--items", "10M", "keys")
	if code != exitError || out != "everbloom: f: no space left on device: free some space and try again\n" {
		t.Errorf("build: status %d: %s", code, out)
	}

	// The keys of a pipe need room, too.
	c := command(t, folder, "build", "-o", "f")
	c.Stdin = strings.NewReader(strings.Repeat("key\n", manyLines))
	spooled, err := c.CombinedOutput()
	if code, _ := status(t, err); code != exitError || !strings.Contains(string(spooled), "temporary file: ") || !strings.Contains(string(spooled), "no space left on device") {
		t.Errorf("spool: status %d: %s", code, spooled)
	}

	if content(t, folder, "f") != old || names(t, folder) != "f keys" {
		t.Errorf("the old file changed, or the folder: %s", names(t, folder))
	}
}

func TestFullOutputIsAnError(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	c := command(t, t.TempDir(), "plan")
	var stderr bytes.Buffer
	c.Stdout, c.Stderr = full, &stderr
	if code, _ := status(t, c.Run()); code != exitError || !strings.Contains(stderr.String(), "no space left on device") {
		t.Errorf("status %d: %s", code, stderr.String())
	}
}

func TestFolderThatTakesNoFilesIsFoundBeforeReading(t *testing.T) {
	status, _, stderr := tool(t, iotest.ErrReader(errors.New("read")), "build", "-o", "/proc/f")
	if status != exitError || !strings.HasPrefix(stderr, "everbloom: /proc/f: cannot be written: ") {
		t.Errorf("status %d: %s", status, stderr)
	}
}
