package image

import (
	"bufio"
	"hash/crc32"
	"io"
)

// A Writer writes a generation.
type Writer struct {
	folder     *Folder
	generation uint64
	file       File
	buffer     *bufio.Writer // before file: contents are written in many small pieces
	size       int64
	entries    []Entry
}

const temporary = ".tmp"

// Begin begins the next generation. Its number is least or more: where several processes
// write, each one's numbers begin with a higher one than those before it can reach.
func (f *Folder) Begin(least uint64) (*Writer, error) {
	g := max(f.newest+1, least)
	file, err := f.disk.Create(packName(g) + temporary)
	if err != nil {
		return nil, err
	}
	return &Writer{folder: f, generation: g, file: file, buffer: bufio.NewWriterSize(file, 1<<20)}, nil
}

// counter counts bytes and sums them up.
type counter struct {
	w   io.Writer
	n   int64
	sum uint32
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	c.sum = crc32.Update(c.sum, castagnoli, b[:n])
	return n, err
}

// Add writes the content of an entry.
func (w *Writer) Add(e Entry, content io.WriterTo) error {
	c := &counter{w: w.buffer}
	if _, err := content.WriteTo(c); err != nil {
		return err
	}
	e.Pack, e.Offset, e.Length, e.Sum = w.generation, w.size, c.n, c.sum
	w.size += c.n
	w.entries = append(w.entries, e)
	return nil
}

// Keep takes an entry over that did not change, from the pack where it is.
func (w *Writer) Keep(e Entry) { w.entries = append(w.entries, e) }

// Commit makes the generation the newest one. m has everything but the entries. After an
// error the generation is given up.
func (w *Writer) Commit(m *Manifest) error {
	err := w.commit(m)
	if err != nil {
		w.Cancel()
	}
	return err
}

func (w *Writer) commit(m *Manifest) error {
	f := w.folder
	m.Entries = w.entries
	if err := errorOf(w.buffer.Flush(), w.file.Sync(), w.file.Close()); err != nil {
		return err
	}
	if err := f.disk.Rename(packName(w.generation)+temporary, packName(w.generation)); err != nil {
		return err
	}
	file, err := f.disk.Create(manifestName(w.generation) + temporary)
	if err != nil {
		return err
	}
	_, err = file.Write(m.encode())
	if err := errorOf(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := f.disk.Rename(manifestName(w.generation)+temporary, manifestName(w.generation)); err != nil {
		return err
	}
	f.before, f.last, f.newest = f.last, m, w.generation
	return f.clean(f.newest)
}

// errorOf returns the first error.
func errorOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Cancel gives a generation up. Its number is not used again: some of it may be on the disk.
func (w *Writer) Cancel() {
	w.folder.newest = w.generation
	_ = w.file.Close() // it is not wanted
	for _, name := range []string{packName(w.generation), manifestName(w.generation)} {
		_ = w.folder.disk.Remove(name + temporary) // or later, when the folder is opened
	}
}
