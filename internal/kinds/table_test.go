package kinds

import (
	"errors"
	"io"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
)

// build returns an empty filter of a kind.
func build(t *testing.T, k Kind, c Config) filter.Filter {
	t.Helper()
	f, err := k.New(c)
	if err != nil {
		t.Fatalf("%s for %+v: %v", k.Name, c, err)
	}
	return f
}

func TestNamesAndNumbersAreUnique(t *testing.T) {
	names, numbers, types := map[string]bool{}, map[frame.Kind]bool{}, map[reflect.Type]bool{}
	word := regexp.MustCompile(`^[a-z]+$`)
	for _, k := range All() {
		if !word.MatchString(k.Name) {
			t.Errorf("name %q is not one lower-case word", k.Name)
		}
		if k.Number == 0 {
			t.Errorf("%s: number 0 is that of an empty header", k.Name)
		}
		typ := reflect.TypeOf(k.Type)
		if names[k.Name] || numbers[k.Number] || types[typ] {
			t.Errorf("%s, number %d, type %v: one of them stands twice", k.Name, k.Number, typ)
		}
		names[k.Name], numbers[k.Number], types[typ] = true, true, true
	}
}

// TestRowsAreComplete looks at every field, also at those that rows will have
// some day: what may be zero is named here.
func TestRowsAreComplete(t *testing.T) {
	mayBeZero := map[string]bool{"Grows": true, "Duplicates": true, "Pins": true, "Drifts": true, "UnionOnly": true, "ReadSlow": true}
	for _, k := range All() {
		t.Run(k.Name, func(t *testing.T) {
			row := reflect.ValueOf(k)
			for i := range row.NumField() {
				name, value := row.Type().Field(i).Name, row.Field(i)
				if value.IsZero() && !mayBeZero[name] {
					t.Errorf("%s is missing", name)
				}
				if value.Kind() == reflect.String && strings.TrimSpace(value.String()) != value.String() {
					t.Errorf("%s: %q has space around it", name, value)
				}
			}
			if typ := reflect.ValueOf(k.Type); typ.Kind() != reflect.Pointer || !typ.IsNil() {
				t.Errorf("Type is %v, want a nil pointer", typ)
			}
		})
	}
}

// none stands for an ability that a kind has not.
const none = "–"

func TestTextsAgreeWithAbilities(t *testing.T) {
	for _, k := range All() {
		t.Run(k.Name, func(t *testing.T) {
			can := k.Abilities()
			if can != filter.AbilitiesOf(build(t, k, Config{Items: 10})) {
				t.Errorf("abilities %+v are not those of a filter", can)
			}
			for _, c := range []struct {
				what, text string
				can        bool
			}{
				{"Deleting", k.Deleting, can.Delete}, {"AbsentDelete", k.AbsentDelete, can.Delete}, {"Merging", k.Merging, can.Merge},
			} {
				if (c.text != none) != c.can {
					t.Errorf("%s is %q, and the type can: %t", c.what, c.text, c.can)
				}
			}
			if k.UnionOnly && !can.Merge {
				t.Error("it is for unions only and cannot merge")
			}
			if can.Merge {
				err := filter.Intersect(build(t, k, Config{Items: 10}), build(t, k, Config{Items: 10}))
				if errors.Is(err, errors.ErrUnsupported) != k.UnionOnly {
					t.Errorf("UnionOnly is %t, an intersection gives %v", k.UnionOnly, err)
				}
			}
			if k.Pins && !can.Delete {
				t.Error("it pins keys and cannot delete any")
			}
			if !can.Snapshot {
				t.Error("a kind with a number in files cannot be written")
			}
		})
	}
}

func TestNewMakesWhatTheRowSays(t *testing.T) {
	for _, k := range All() {
		t.Run(k.Name, func(t *testing.T) {
			f := build(t, k, Config{Items: 1000, FPR: 0.01})
			if got, want := reflect.TypeOf(f), reflect.TypeOf(k.Type); got != want {
				t.Errorf("New gives %v, Type is %v", got, want)
			}
			info := f.Info()
			if info.Kind != k.Name {
				t.Errorf("Info calls it %q", info.Kind)
			}
			if info.Duplicates != k.Duplicates {
				t.Errorf("duplicates are %v by Info, %v by the row", info.Duplicates, k.Duplicates)
			}
			if info.Unbounded != k.Grows {
				t.Errorf("unbounded is %t by Info, grows is %t by the row", info.Unbounded, k.Grows)
			}
			if !k.Grows && info.Capacity != 1000 {
				t.Errorf("capacity is %d, asked were 1000", info.Capacity)
			}
		})
	}
}

// TestRefusalsGiveNoFilter would catch a nil pointer inside a filter that is not
// nil, too.
func TestRefusalsGiveNoFilter(t *testing.T) {
	for _, k := range All() {
		t.Run(k.Name, func(t *testing.T) {
			for _, rate := range []float64{-1, 1, math.Inf(1), math.NaN()} {
				f, err := k.New(Config{FPR: rate})
				if err == nil || f != nil {
					t.Errorf("New with rate %g: %v, %v", rate, f, err)
				}
				if _, err := k.Predict(Config{FPR: rate}, 1); err == nil {
					t.Errorf("Predict with rate %g: no error", rate)
				}
			}
			if f, err := k.Read(strings.NewReader("")); err == nil || f != nil {
				t.Errorf("Read of nothing: %v, %v", f, err)
			}
		})
	}
}

func TestByNameFindsAllAndListsThem(t *testing.T) {
	for _, k := range All() {
		t.Run(k.Name, func(t *testing.T) {
			if got, err := ByName(k.Name); err != nil || got.Number != k.Number {
				t.Errorf("found %q, %v", got.Name, err)
			}
		})
	}
	_, err := ByName("cuckoo")
	if err == nil {
		t.Fatal("an unknown name was found")
	}
	for _, word := range []string{`"cuckoo"`, "bloom", "blocked"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not name %s", err, word)
		}
	}
}

func TestByNumberFindsAllAndRefusesOthers(t *testing.T) {
	for _, k := range All() {
		t.Run(k.Name, func(t *testing.T) {
			if got, err := ByNumber(k.Number); err != nil || got.Name != k.Name {
				t.Errorf("found %q, %v", got.Name, err)
			}
		})
	}
	for _, number := range []frame.Kind{0, 0xFFFF} {
		if _, err := ByNumber(number); !errors.Is(err, filter.ErrKind) || !strings.Contains(err.Error(), "unknown") {
			t.Errorf("number %d: %v", number, err)
		}
	}
}

func TestReadFindsTheKind(t *testing.T) {
	for _, k := range All() {
		t.Run(k.Name, func(t *testing.T) {
			keys := []filter.Key{0, 1, 1 << 63, math.MaxUint64}
			f := build(t, k, Config{Items: 1000})
			for _, key := range keys {
				if _, err := f.Add(key); err != nil {
					t.Fatal(err)
				}
			}
			got, err := Read(stored(t, f))
			if err != nil {
				t.Fatal(err)
			}
			if reflect.TypeOf(got) != reflect.TypeOf(f) || got.Info().Keys != f.Info().Keys {
				t.Errorf("read a %T with %d keys, wrote a %T with %d", got, got.Info().Keys, f, f.Info().Keys)
			}
			for _, key := range keys {
				if !got.MayContain(key) {
					t.Errorf("key %#x is not found after reading", key)
				}
			}
		})
	}
}

func TestReadRefusesUnknownKinds(t *testing.T) {
	image := &frame.Image{Header: frame.Header{Kind: 0xFFFE, Version: 1}}
	f, err := Read(written(t, image))
	if !errors.Is(err, filter.ErrKind) || f != nil || !strings.Contains(err.Error(), "65534") {
		t.Errorf("got %v, %v", f, err)
	}
	if f, err := Read(strings.NewReader("plain text")); !errors.Is(err, filter.ErrNotFilter) || f != nil {
		t.Errorf("of text: got %v, %v", f, err)
	}
}

// stored returns the stored form of f.
func stored(t *testing.T, f filter.Filter) io.Reader {
	t.Helper()
	w, err := filter.Snapshot(f)
	if err != nil {
		t.Fatal(err)
	}
	return written(t, w)
}

func written(t *testing.T, w io.WriterTo) io.Reader {
	t.Helper()
	var b strings.Builder
	if _, err := w.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return strings.NewReader(b.String())
}
