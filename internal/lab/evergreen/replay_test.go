package evergreen

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
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

// A history that deletes a key twice, a key that is lost, one that comes back: all must
// be noticed.
func TestASpoiltHistoryIsNoticed(t *testing.T) {
	k := walk.NewKeys(rand.New(rand.NewPCG(1, 0)))
	h := history{versions: [][]change{{{k.Member(0), true}, {k.Member(1), true}}, {{k.Member(0), false}, {k.Member(0), false}}}}
	visits, err := followers[0].follow(t.Context(), h, []int{0, 1}, k, 0.01, 100)
	if err != nil {
		t.Fatal(err)
	}
	if last := visits[1]; last.notFound != 1 || last.denied != 0 || last.wrongKeys != 0 || last.miscounted != 0 {
		t.Errorf("%+v", last)
	}
	own, err := followers[0].make(2, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	set := map[filter.Key]bool{k.Member(0): true, k.Member(1): true}
	if _, err := own.Add(k.Member(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := own.Add(k.Member(2)); err != nil {
		t.Fatal(err)
	}
	gone := history{versions: [][]change{{{k.Member(2), false}}}}
	v := visit{}
	if err := v.settle(own, set, nil, gone, k); err != nil || v.denied != 1 || v.wrongKeys == 0 || v.revived != 1 {
		t.Errorf("%+v, %v", v, err)
	}
}
