package evergreen

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
)

func TestReplayOfTheRealHistory(t *testing.T) {
	folder := os.Getenv("EVERBLOOM_DATA")
	if folder == "" {
		t.Skip("EVERBLOOM_DATA does not say where the data is")
	}
	result, err := replay.Do(t.Context(), &lab.Env{Params: replay.Quick, Seed: 1, Data: folder})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range result.Checks {
		if c.Verdict == lab.Differs {
			t.Errorf("%+v", c)
		}
	}
}

func TestReplayInventsAHistoryIfThereIsNone(t *testing.T) {
	params := labtest.Replace(replay.Quick, lab.Params{lab.Int("first keys", 2_000), lab.Int("versions", 20), lab.Int("queries", 1_000)})
	result, err := replay.Do(t.Context(), &lab.Env{Params: params, Seed: 1, Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(result.Notes, " "); !strings.Contains(notes, "The history is invented") || !strings.Contains(notes, "has no ip/bitwire") {
		t.Error(notes)
	}
}

func TestHistoriesAreParsed(t *testing.T) {
	h, err := parseHistory(strings.NewReader("@ 1 a\n+x\n+y\n@ 2 b\n-x\n+z\n"))
	if err != nil || len(h.versions) != 2 || len(h.versions[1]) != 2 || h.versions[1][0].add || h.versions[0][0].key != h.versions[1][0].key {
		t.Errorf("%+v, %v", h, err)
	}
	for _, bad := range []string{"", "+x\n", "@ 1 a\n?x\n"} {
		if _, err := parseHistory(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// An invented history must be one: no key added that is there, none deleted that
// is not, and some that come back.
func TestInventedHistoriesAreConsistent(t *testing.T) {
	const seed = 1
	h := inventHistory(rand.New(rand.NewPCG(seed, 0)), 20_000, 198)
	set, gone := map[filter.Key]bool{}, map[filter.Key]bool{}
	back := 0
	for i, v := range h.versions {
		for _, c := range v {
			if set[c.key] == c.add {
				t.Fatalf("seed %d, version %d: %+v, there: %v", seed, i, c, set[c.key])
			}
			set[c.key] = c.add
			if c.add && gone[c.key] {
				back++
			}
			gone[c.key] = !c.add
		}
	}
	if adds, deletes := h.count(); len(h.versions) != 198 || back == 0 || adds < 21_000 || deletes < 1_000 {
		t.Errorf("seed %d: %d versions, %d adds, %d deletes, %d came back", seed, len(h.versions), adds, deletes, back)
	}
}

// A history that deletes a key twice, or loses one, must be noticed.
func TestASpoiltHistoryIsNoticed(t *testing.T) {
	k := newKeys(rand.New(rand.NewPCG(1, 0)))
	h := history{versions: [][]change{{{k.member(0), true}, {k.member(1), true}}, {{k.member(0), false}, {k.member(0), false}}}}
	d, err := followers[0].follow(t.Context(), &lab.Env{Params: replay.Quick}, h, k)
	if err != nil || d.notFound != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	differs := 0
	for _, c := range d.checks(0.01) {
		if c.Verdict == lab.Differs {
			differs++
		}
	}
	if differs != 1 {
		t.Errorf("%d checks differ", differs)
	}
	if c := (diary{name: ownName, looks: []look{{keys: 5, asked: 100}}, wrongKeys: 1, gone: 2, revived: 1, denied: 1, members: 2, miscounted: 1, strayed: 1, strays: 2}).checks(0.01); len(c) != 7 {
		t.Errorf("%d checks", len(c))
	} else {
		for _, c := range c {
			if c.Verdict != lab.Differs && !strings.HasPrefix(c.Name, "rate") && !strings.HasPrefix(c.Name, "refusals") {
				t.Errorf("%+v", c)
			}
		}
	}
}
