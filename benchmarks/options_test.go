package main

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPlainRunHasItsSettings(t *testing.T) {
	o, err := parseOptions(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.n, []uint64{10_000, 1_000_000}) || !slices.Equal(o.fprs, []float64{0.01}) ||
		!slices.Equal(o.sizes, []int{8}) || !slices.Equal(o.threads, []int{1}) {
		t.Errorf("settings %+v", o)
	}
	if o.rounds != 5 || o.pass != 100*time.Millisecond || o.mem != 12<<30 || o.base != "bits-and-blooms" {
		t.Errorf("settings %+v", o)
	}
}

func TestPresetsYieldToFlags(t *testing.T) {
	o, err := parseOptions([]string{"-bars", "-n", "10k"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.n, []uint64{10_000}) || !slices.Equal(o.fprs, []float64{0.01, 0.001}) {
		t.Errorf("-bars -n 10k: keys %v, rates %v", o.n, o.fprs)
	}
	if o, err = parseOptions([]string{"-short"}, io.Discard); err != nil || o.rounds != 3 {
		t.Errorf("-short: %d rounds, error %v", o.rounds, err)
	}
}

func TestAllFlagsAreRead(t *testing.T) {
	o, err := parseOptions(strings.Fields("-n 2,3k -fpr 5% -keysize 8,16 -threads 2,1 -rounds 7 -fills 3 -pass 1s"+
		" -probes 9 -seed 4 -mem 1GiB -only ^Boom -base pebble -json x"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.n, []uint64{2, 3000}) || !slices.Equal(o.sizes, []int{8, 16}) || o.fprs[0] != 0.05 {
		t.Errorf("lists %v %v %v", o.n, o.sizes, o.fprs)
	}
	if !slices.Equal(o.threads, []int{1, 2}) {
		t.Errorf("threads %v are not sorted", o.threads)
	}
	if o.rounds != 7 || o.fills != 3 || o.pass != time.Second || o.probes != 9 || o.seed != 4 || o.mem != 1<<30 ||
		o.only.String() != "^Boom" || o.base != "pebble" || o.json != "x" {
		t.Errorf("options %+v", o)
	}
}

func TestWrongFlagsAreRefused(t *testing.T) {
	for _, args := range []string{
		"-n 1", "-n 5G", "-n x", "-fpr 0", "-fpr 100%", "-keysize 7", "-threads 0", "-rounds 0", "-rounds 2 -fills 3",
		"-pass 0s", "-probes 0", "-mem lots", "-only (", "-journey x.png", "-nosuch", "extra",
	} {
		if _, err := parseOptions(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
	_, err := parseOptions(strings.Fields("-keysize 4 -probes 0"), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "-keysize: [4]") || !strings.Contains(err.Error(), "-probes: 0") {
		t.Errorf("two problems: %v", err)
	}
}

func TestLargeSetsAreFilledLessOften(t *testing.T) {
	o := options{rounds: 5}
	if small, large := o.fillsFor(1e6), o.fillsFor(50e6); small != 5 || large != 2 {
		t.Errorf("filled %d and %d times", small, large)
	}
	o.fills = 4
	if got := o.fillsFor(50e6); got != 4 {
		t.Errorf("asked for 4 fills, got %d", got)
	}
}

func TestChooseFollowsTheFlags(t *testing.T) {
	all := contenders()
	for _, test := range []struct {
		args      string
		want, not string
	}{
		{"", "Boom stable", ""},
		{"-short", "parquet-go SBBF", "Boom stable"},
		{"-bars", "bits-and-blooms", "blobloom"},
		{"-only ^Boom", "Boom stable", "blobloom"},
		{"-short -only ^Boom", "Boom stable", "parquet-go SBBF"},
	} {
		o, err := parseOptions(strings.Fields(test.args), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		chosen, err := o.choose(all)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := byName(chosen, test.want); err != nil {
			t.Errorf("%q: %v", test.args, err)
		}
		if _, err := byName(chosen, test.not); err == nil {
			t.Errorf("%q: %s should not be there", test.args, test.not)
		}
	}
}

func TestChooseNeedsSomeoneAndAKnownBase(t *testing.T) {
	for _, args := range []string{"-only ^missing$", "-base missing"} {
		o, err := parseOptions(strings.Fields(args), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.choose(contenders()); err == nil || !strings.Contains(err.Error(), "missing") {
			t.Errorf("%s: error %v", args, err)
		}
	}
}
