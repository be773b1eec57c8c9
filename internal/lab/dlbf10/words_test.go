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

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
)

func TestMadeUpWordsAreManyAndDifferent(t *testing.T) {
	d := madeUp()
	sorted := slices.Sorted(slices.Values(d.words))
	if n := len(slices.Compact(sorted)); n != madeUpWords {
		t.Errorf("%d different words, want %d", n, madeUpWords)
	}
	if !slices.Equal(makeWords(1000), d.words[:1000]) {
		t.Error("the words are not the same every time")
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(d.keys(filter.Hash{}))))); n != madeUpWords {
		t.Errorf("%d different keys", n)
	}
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

func TestRealWordsComeFromTheDataFolder(t *testing.T) {
	folder := dataFolder(t, makeWords(3_000))
	keys, note, err := openKeys(&lab.Env{Data: folder})
	if err != nil || len(keys) != 3_000 || !strings.Contains(note, "real dictionary, 3000") {
		t.Errorf("%d keys, %q, %v", len(keys), note, err)
	}
	result, err := fig4.Do(t.Context(), &lab.Env{Params: fig4Params(20, 10, 22), Data: folder})
	if err != nil || !slices.Contains(result.Notes, note) {
		t.Errorf("%v: notes %v", err, result)
	}
}

func TestDataFolderWithoutWordsIsSaid(t *testing.T) {
	result, err := fig4.Do(t.Context(), &lab.Env{Params: fig4Params(20, 10, 22), Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(result.Notes, " "); !strings.Contains(notes, madeUp().origin) || !strings.Contains(notes, "has no words/") {
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
		if d, err := openDictionary(folder); err == nil {
			t.Errorf("%s: accepted with %d words", name, len(d.words))
		}
		for _, x := range []lab.Experiment{fig3, fig4, text} {
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
		a := sample(r, from, 30)
		if n := len(slices.Compact(slices.Sorted(slices.Values(a)))); n != 30 {
			t.Fatalf("%d different keys of 30", n)
		}
		for _, k := range absent(r, from, 100, a) {
			if slices.Contains(a, k) {
				t.Fatal("an absent key is among the members")
			}
		}
	}
}
