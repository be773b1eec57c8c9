package dpbf19

import (
	"compress/gzip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/partition"
)

func TestPermuteIsAPermutation(t *testing.T) {
	for _, width := range []int{1, 2, 5, 12, 15} {
		for _, seed := range []uint32{0, 1, 0xdeadbeef} {
			seen := make([]bool, 1<<width)
			for i := range uint64(1) << width {
				x := permute(i, width, seed)
				if x >= 1<<width || seen[x] {
					t.Fatalf("%d bits, seed %d: %d becomes %d, which is outside or taken", width, seed, i, x)
				}
				seen[x] = true
			}
		}
	}
}

// Absent ids must be absent, or every rate is wrong; present ones are different.
func TestPopulationsKeepAbsentIDsApart(t *testing.T) {
	for _, p := range populations(7) {
		for _, n := range []uint64{10, 1_000, 30_000} {
			present := make(map[uint64]bool, n)
			for i := range n {
				present[p.present(n, i)] = true
			}
			if uint64(len(present)) != n {
				t.Errorf("%s: %d different ids of %d", p.name, len(present), n)
			}
			absent := map[uint64]bool{}
			for i := range min(50_000, p.absentees(n)) {
				id := p.absent(n, i)
				if present[id] || absent[id] || id >= universe {
					t.Fatalf("%s, %d ids: the absent id %d, %d, is present, outside or there twice", p.name, n, i, id)
				}
				absent[id] = true
			}
		}
	}
}

// drawings returns the three pictures of the example.
func drawings(t *testing.T) map[string]string {
	t.Helper()
	f, err := partition.Build(exampleShape)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range exampleIDs {
		if _, err := f.Add(filter.Key(id)); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]string{"fig3": drawFigure3(f), "fig4": drawFigure4(f), "fig5": drawFigure5(f)}
}

func TestDrawingsAreWellFormed(t *testing.T) {
	for name, svg := range drawings(t) {
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "%!") {
			t.Errorf("%s: something is no number:\n%s", name, svg)
		}
	}
}

// The compressed tree must not show what was merged, and the others show all.
func TestDrawingsShowTheirNodes(t *testing.T) {
	all := drawings(t)
	for depth := range 4 {
		for index := range 1 << depth {
			name := fmt.Sprintf(">N%d,%d<", depth, index)
			if !strings.Contains(all["fig3"], name) || !strings.Contains(all["fig4"], name) {
				t.Errorf("Figure 3 or 4 lacks %s", name)
			}
			kept := map[string]bool{">N0,0<": true, ">N1,0<": true, ">N1,1<": true, ">N2,2<": true, ">N2,3<": true}
			inMap := depth == 3 && index != 0 && index != 3
			if strings.Contains(all["fig5"], name) != (kept[name] || inMap) {
				t.Errorf("Figure 5 has %s: %t", name, !kept[name])
			}
		}
	}
	for _, set := range []string{"{4, 5, 8, 10}", "{17, 19, 22}", "{25, 31}"} {
		if !strings.Contains(all["fig5"], set) {
			t.Errorf("Figure 5 lacks %s", set)
		}
	}
}

// writeList makes a folder with data.
func writeList(t *testing.T, text string, packed bool) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "ip"), 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(folder, "ip", "ipsum.txt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if !packed {
		fmt.Fprint(file, text)
		return folder
	}
	w := gzip.NewWriter(file)
	fmt.Fprint(w, text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestBlocklistReadsAddresses(t *testing.T) {
	f, note, err := blocklist(writeList(t, "# a comment\n#\n1.2.3.4\t9\n255.255.255.255\t1\n1.2.3.4\t2\n::1\t1\n", true))
	if err != nil || f.Len() != 2 || !f.MayContain(0x01020304) || !strings.Contains(note, "2 IPv4") {
		t.Errorf("%v, %q, %v", f, note, err)
	}
	if f, note, err := blocklist(""); f != nil || err != nil || !strings.Contains(note, "--data") {
		t.Errorf("no folder: %v, %q, %v", f, note, err)
	}
	if f, note, err := blocklist(t.TempDir()); f != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v, %q, %v", f, note, err)
	}
	if _, _, err := blocklist(writeList(t, "1.2.3.4\n", false)); err == nil {
		t.Error("a file that is not packed was read")
	}
}
