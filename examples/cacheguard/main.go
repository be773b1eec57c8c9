// Command cacheguard keeps values in a slow store, the files of a folder, and asks a
// filter before it looks there. KEY=VALUE stores a value, -KEY deletes it, KEY asks:
//
//	$ mkdir store; printf '%s\n' ann=31 ann bob -ann ann | go run ./examples/cacheguard store
//	ann 31
//	bob none
//	ann none
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"strings"
	"sync"

	"github.com/everbloom-go/everbloom"
)

func main() {
	log.SetFlags(0)
	if err := run(strings.Join(os.Args[1:], " "), os.Stdin, os.Stdout); err != nil {
		log.Fatal("cacheguard: ", err)
	}
}

func run(folder string, in io.Reader, out io.Writer) error {
	g, err := open(folder)
	w, lines := bufio.NewWriter(out), bufio.NewScanner(in)
	for err == nil && lines.Scan() {
		key, value, isPut := strings.Cut(lines.Text(), "=")
		switch {
		case isPut:
			err = g.put(key, value)
		case strings.HasPrefix(key, "-"):
			err = g.remove(key[1:])
		default:
			if value, err = g.get(key); errors.Is(err, fs.ErrNotExist) {
				value, err = "none", nil
			}
			_, _ = fmt.Fprintln(w, key, value) // Flush reports the first error
		}
	}
	return errors.Join(err, lines.Err(), w.Flush())
}

type guard struct {
	keys  *everbloom.Set // those of all files, and now and then another
	files *os.Root
	mu    sync.RWMutex // for the files; the filter is safe for many goroutines itself
}

func open(folder string) (*guard, error) {
	keys, err1 := everbloom.New(everbloom.Needs{Items: 1000, FPR: 0.001, Delete: true, Grow: true})
	files, err2 := os.OpenRoot(folder)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	found, err := fs.ReadDir(files.FS(), ".")
	for i := 0; i < len(found) && err == nil; i++ {
		_, err = keys.AddString(found[i].Name())
	}
	return &guard{keys: keys, files: files}, err
}

// get asks the filter first: if it answers absent, that is certain, and needs no lock.
func (g *guard) get(key string) (string, error) {
	if !g.keys.MayContainString(key) {
		return "", fs.ErrNotExist
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	value, err := g.files.ReadFile(key)
	return string(value), err
}

// put adds the key first, and remove deletes it last, so that no file is missed. If the
// store fails the key stays in the filter, which costs a needless look.
func (g *guard) put(key, value string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := g.keys.AddString(key); err != nil {
		return err
	}
	return g.files.WriteFile(key, []byte(value), 0o600)
}

func (g *guard) remove(key string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.files.Remove(key); err != nil {
		return err
	}
	return g.keys.DeleteString(key)
}
