package dlbf10

import (
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
)

// makeWords returns some of the made-up words.
func makeWords(n int) []string {
	words, _, _ := dictionary(&lab.Env{})
	return words[:n]
}

// dataFolder makes a data folder with a dictionary of these words.
func dataFolder(t *testing.T, words []string) string {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, wordFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(file)
	fmt.Fprintln(z, strings.Join(words, "\n"))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestWordsComeFromTheDataFolder(t *testing.T) {
	brief := fig3Params(2, 22, 36)
	folder := dataFolder(t, makeWords(3_000))
	result, err := fig3.Do(t.Context(), &lab.Env{Params: brief, Data: folder})
	if err != nil || !strings.Contains(strings.Join(result.Notes, " "), "real dictionary, 3000") {
		t.Errorf("%v: notes %v", err, result)
	}
	result, err = fig3.Do(t.Context(), &lab.Env{Params: brief, Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(result.Notes, " "); !strings.Contains(notes, "145000 made-up words") || !strings.Contains(notes, "has no words/") {
		t.Error(notes)
	}
}

func TestBadDictionariesAreRefused(t *testing.T) {
	few := dataFolder(t, makeWords(10))
	broken := dataFolder(t, makeWords(3_000))
	path := filepath.Join(broken, wordFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw[:len(raw)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	plain := dataFolder(t, nil)
	if err := os.WriteFile(filepath.Join(plain, wordFile), []byte("a\nb\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, folder := range map[string]string{"few words": few, "cut short": broken, "not compressed": plain} {
		if words, _, err := dictionary(&lab.Env{Data: folder}); err == nil {
			t.Errorf("%s: accepted with %d words", name, len(words))
		}
		for _, x := range []lab.Experiment{fig3, text} {
			if _, err := x.Do(t.Context(), &lab.Env{Params: x.Quick, Data: folder}); err == nil {
				t.Errorf("%s: %s ran", name, x.ID)
			}
		}
	}
}

func TestSamplesAreDifferentAndAvoid(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	from := lab.RandomKeys(r, 60)
	for range 20 {
		a, among := sample(r, from, 30, nil)
		b, _ := sample(r, from, 30, among)
		if n := len(slices.Compact(slices.Sorted(slices.Values(append(a, b...))))); n != 60 {
			t.Fatalf("%d different keys of 60", n)
		}
	}
}
