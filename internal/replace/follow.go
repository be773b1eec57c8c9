package replace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many symbolic links are followed: as many as Linux does.
const maxLinks = 40

var (
	errOpenFile = errors.New("names an open file, which is never replaced")
	errLinks    = fmt.Errorf("more than %d symbolic links", maxLinks)
)

// Follow returns the file that path leads to, also if it does not exist yet. It
// refuses names of open files, such as /dev/stdout: behind them may be a log that
// a shell has opened to append to it.
func Follow(path string) (string, error) {
	first := path
	for range maxLinks {
		if ofOpenFile(path) {
			return "", &fs.PathError{Op: "follow", Path: first, Err: errOpenFile}
		}
		target, err := os.Readlink(path)
		if err != nil {
			return path, nil // no link: what is wrong with it, if anything, the next step will say
		}
		if !filepath.IsAbs(target) {
			target = folderOf(path) + target
		}
		path = target
	}
	return "", &fs.PathError{Op: "follow", Path: first, Err: errLinks}
}

// ofOpenFile reports whether path lies where the system lists open files. The
// folder is asked for by its real name, since /dev/fd and /proc/self are links.
func ofOpenFile(path string) bool {
	folder, err := filepath.EvalSymlinks(folderOf(path))
	if err == nil {
		folder, err = filepath.Abs(folder)
	}
	return err == nil && (folder == "/dev/fd" || strings.HasPrefix(folder, "/proc/"))
}
