package lab

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// DataFile is a file of real data: its name in the folder with data, and its size.
// Results are told apart by these two; what is in the files is not looked at.
type DataFile struct {
	Name string `json:"name"` // with slashes
	Size int64  `json:"size"`
}

// Files returns what the experiment can use of a folder with data, by name. An
// empty name is no folder.
func (x Experiment) Files(folder string) (files []DataFile) {
	if folder == "" {
		return nil
	}
	tree := os.DirFS(folder)
	for _, pattern := range x.Data {
		names, _ := fs.Glob(tree, pattern) // a test of the catalog has seen the pattern
		for _, name := range names {
			if info, err := fs.Stat(tree, name); err == nil && info.Mode().IsRegular() {
				files = append(files, DataFile{name, info.Size()})
			}
		}
	}
	slices.SortFunc(files, func(a, b DataFile) int { return cmp.Compare(a.Name, b.Name) })
	return slices.Compact(files)
}

// takeData hides a folder in which there is nothing for the experiment. So none
// uses files that it has not declared, and all can do without. The note says what
// is missing.
func (x Experiment) takeData(e *Env) (note string) {
	if e.Data == "" || len(x.Files(e.Data)) > 0 {
		return ""
	}
	e.Data = ""
	if len(x.Data) == 0 {
		return ""
	}
	return fmt.Sprintf("The folder with data has no %s: no real data was used.", strings.Join(x.Data, ", "))
}

// Lines reads a packed file of a folder with data line by line.
func Lines(folder, name string, line func(text string) error) error {
	file, err := os.Open(filepath.Join(folder, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	plain, err := gzip.NewReader(file)
	if err == nil {
		lines := bufio.NewScanner(plain)
		for err == nil && lines.Scan() {
			err = line(lines.Text())
		}
		err = cmp.Or(err, lines.Err())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// IPv4 reads a packed file with addresses at the beginnings of lines, before a tab. Other
// lines are comments.
func IPv4(folder, name string) (list []uint32, err error) {
	err = Lines(folder, name, func(text string) error {
		word, _, _ := strings.Cut(text, "\t")
		if address, err := netip.ParseAddr(word); err == nil && address.Is4() {
			four := address.As4()
			list = append(list, binary.BigEndian.Uint32(four[:]))
		}
		return nil
	})
	return list, err
}
