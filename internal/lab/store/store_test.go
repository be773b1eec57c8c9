package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/internal/lab"
)

func record() *Record {
	return &Record{
		Version: version, ID: "sum/params", Params: []Setting{{"n", "5"}}, Seed: 1<<64 - 1, Origin: Origin{Commit: "abc", Cores: 2}, Workers: 2,
		Started: time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC), Seconds: 1.5,
		Data: []lab.DataFile{{Name: "words/list.gz", Size: 7}},
		Result: lab.Result{
			Plots: []lab.Plot{
				{Name: "rate", Title: "Rate", Series: []lab.Series{{Name: "a, b", Points: []lab.Point{{X: 1, Y: 0.5, Lo: 0.25, Hi: 1}, {X: 1e-9, Y: 2}}}}},
				{Name: "bars", X: lab.Axis{Names: []string{"bloom", "elastic"}}, Series: []lab.Series{{Name: "s", Style: lab.Dots, Points: []lab.Point{{X: 1, Y: 3}}}}},
			},
			Tables: []lab.Table{{Name: "sizes", Columns: []string{"n", "text"}, Rows: [][]string{{"1", `with "quotes", and commas`}}}},
			Checks: []lab.Check{{Name: "x", Printed: "1.0", Ours: "1.000", Tolerance: "0.950 to 1.050: the digits printed", Verdict: lab.Reproduced}, {Name: "y", Printed: "1.0", Ours: "2.000", Tolerance: "0.950 to 1.050: the digits printed", Verdict: lab.Differs, Reason: "it is so", Known: true}},
			Notes:  []string{"note"},
		},
	}
}

func TestRecordsComeBackAsTheyWere(t *testing.T) {
	dir := Dir(t.TempDir())
	want := record()
	if err := dir.Save(want); err != nil {
		t.Fatal(err)
	}
	got, err := dir.Load(lab.Experiment{ID: "sum/params"})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestReasonsAreThoseOfToday(t *testing.T) {
	dir := Dir(t.TempDir())
	if err := dir.Save(record()); err != nil {
		t.Fatal(err)
	}
	for _, why := range []string{"found later", ""} {
		r, err := dir.Load(lab.Experiment{ID: "sum/params", Claims: []lab.Claim{{Name: "x", Why: why}, {Name: "y", Why: why}}})
		if err != nil {
			t.Fatal(err)
		}
		if x, y := r.Result.Checks[0], r.Result.Checks[1]; x.Reason != "" || y.Known != (why != "") || !strings.Contains(y.Reason, cmp.Or(why, "not explained")) {
			t.Errorf("%q: %+v, %+v", why, x, y)
		}
	}
}

func TestFilesHoldWhatIsShown(t *testing.T) {
	dir := Dir(t.TempDir())
	if err := dir.Save(record()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"rate.csv":   "series,x,y,lo,hi\n\"a, b\",1,0.5,0.25,1\n\"a, b\",1e-09,2,,\n",
		"bars.csv":   "series,x,y,lo,hi\ns,elastic,3,,\n",
		"sizes.csv":  "n,text\n1,\"with \"\"quotes\"\", and commas\"\n",
		"checks.csv": "kind,check,printed,ours,tolerance,verdict,reason\n,x,1.0,1.000,0.950 to 1.050: the digits printed,reproduced,\n,y,1.0,2.000,0.950 to 1.050: the digits printed,differs,it is so\n",
	} {
		got, err := os.ReadFile(filepath.Join(dir.Folder("sum/params"), name))
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\ngot  %q\nwant %q", name, err, got, want)
		}
	}
	for _, name := range []string{"rate.svg", "bars.svg"} {
		if got, err := os.ReadFile(filepath.Join(dir.Folder("sum/params"), name)); err != nil || !strings.HasPrefix(string(got), "<svg") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSaveReplacesAllFilesButThoseOfOthers(t *testing.T) {
	dir := Dir(t.TempDir())
	r := record()
	if err := dir.Save(r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir.Folder(r.ID), "README.md"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r.Result.Plots, r.Result.Tables = nil, nil
	if err := dir.Save(r); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir.Folder(r.ID))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "README.md checks.csv result.json" {
		t.Errorf("found %s", got)
	}
}

func TestSaveDoesNotTakeAFileForAFolder(t *testing.T) {
	dir := Dir(t.TempDir())
	if err := os.MkdirAll(filepath.Dir(dir.Folder("sum/params")), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir.Folder("sum/params"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := dir.Save(record()); err == nil {
		t.Error("no error")
	}
	if got, err := os.ReadFile(dir.Folder("sum/params")); err != nil || string(got) != "mine" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLoadTellsNothingFromDamage(t *testing.T) {
	dir := Dir(t.TempDir())
	write := func(change func(*Record)) {
		r := record()
		change(r)
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir.Folder(r.ID), resultFile), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := dir.Load(lab.Experiment{ID: "sum/params"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
	if err := dir.Save(record()); err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{`{"version": 1, "id": "sum/params", "data": true}`, `{"version": 3, "id": "sum/params", "params": "of another form"}`} {
		if err := os.WriteFile(filepath.Join(dir.Folder("sum/params"), resultFile), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := dir.Load(lab.Experiment{ID: "sum/params"}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", content, err)
		}
	}
	write(func(r *Record) { r.Version++ })
	if _, err := dir.Load(lab.Experiment{ID: "sum/params"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another version: %v", err)
	}
	write(func(r *Record) { r.Result.Plots[0].X.Log, r.Result.Plots[0].Series[0].Points[0].X = true, -1 })
	if _, err := dir.Load(lab.Experiment{ID: "sum/params"}); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a plot that cannot be drawn: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir.Folder("sum/params"), resultFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Load(lab.Experiment{ID: "sum/params"}); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half a file: %v", err)
	}
}

func TestSaveReportsWhatGoesWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Dir(file).Save(record()); err == nil {
		t.Error("a file was taken for a folder")
	}
}

func TestRepeatsOnlyWithEqualParametersSeedDataAndCommit(t *testing.T) {
	x := lab.Experiment{ID: "sum/params", Params: lab.Params{lab.Int("n", 5).Full(50)}}
	r := record()
	r.Data = nil
	same := func() *lab.Env { return &lab.Env{Seed: r.Seed} }
	if !r.Repeats(x, same(), "abc") || !r.Current(x) || r.Mode() != "quick" {
		t.Error("an equal run is not seen as one")
	}
	for what, change := range map[string]func(*lab.Env){
		"seed": func(e *lab.Env) { e.Seed = 3 },
		"full": func(e *lab.Env) { e.Full = true },
	} {
		e := same()
		change(e)
		if r.Repeats(x, e, "abc") {
			t.Errorf("another %s is not seen", what)
		}
	}
	if e := same(); !r.Repeats(x, withData(t, e, "words/list.gz", 7), "abc") {
		t.Error("data is seen that the experiment cannot use")
	}
	if r.Repeats(x, same(), "def") {
		t.Error("another commit is not seen")
	}
	x.Params = lab.Params{lab.Int("n", 6).Full(50)}
	if r.Repeats(x, same(), "abc") || r.Current(x) {
		t.Error("another parameter is not seen")
	}
	r.Full, r.Params = true, Settings(x.Params.In(true))
	if !r.Current(x) || r.Mode() != "full" {
		t.Error("full parameters are not compared with full ones")
	}
}

// withData gives the environment a folder with one file.
func withData(t *testing.T, e *lab.Env, name string, size int) *lab.Env {
	t.Helper()
	e.Data = t.TempDir()
	file := filepath.Join(e.Data, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestRepeatsOnlyWithTheSameFilesOfData(t *testing.T) {
	x := lab.Experiment{ID: "sum/params", Params: lab.Params{lab.Int("n", 5)}, Data: []string{"words/*.gz"}}
	r := record()
	env := func() *lab.Env { return &lab.Env{Seed: r.Seed} }
	for _, c := range []struct {
		what string
		env  *lab.Env
		want bool
	}{
		{"the same file, in another folder", withData(t, env(), "words/list.gz", 7), true},
		{"no folder", env(), false},
		{"a folder without it", withData(t, env(), "words/list.txt", 7), false},
		{"another size", withData(t, env(), "words/list.gz", 8), false},
		{"another name", withData(t, env(), "words/long.gz", 7), false},
	} {
		if got := r.Repeats(x, c.env, "abc"); got != c.want {
			t.Errorf("%s: repeats is %t", c.what, got)
		}
	}
	r.Data = nil
	if !r.Repeats(x, withData(t, env(), "other.txt", 1), "abc") || r.Repeats(x, withData(t, env(), "words/list.gz", 7), "abc") {
		t.Error("a result without data: only files that can be used must make a run")
	}
}
