package main

import "testing"

func TestParseCount(t *testing.T) {
	for text, want := range map[string]uint64{"500": 500, "10k": 10_000, "1.5M": 1_500_000, "50M": 50_000_000, "2G": 2_000_000_000} {
		if got, err := parseCount(text); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "k", "-1", "1e30", "10K", "NaN", "1 M M"} {
		if got, err := parseCount(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]uint64{"12GiB": 12 << 30, "1.5MiB": 3 << 19, "4KiB": 4096, "100B": 100, "7": 7} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	if got, err := parseSize("12GB"); err == nil {
		t.Errorf("12GB: %d", got)
	}
}

func TestParseRateGivesTheFloatOfTheShare(t *testing.T) {
	for text, want := range map[string]float64{"1%": 0.01, "0.1%": 0.001, "0.01": 0.01, "1e-3": 0.001, "12.5%": 0.125} {
		if got, err := parseRate(text); err != nil || got != want {
			t.Errorf("%s: %g, %v; want %g", text, got, err, want)
		}
	}
	if got, err := parseRate("few"); err == nil {
		t.Errorf("few: %g", got)
	}
}

func TestTextsReadWell(t *testing.T) {
	for got, want := range map[string]string{
		countText(10_000): "10 k", countText(1_000_000): "1 M", countText(50_000_000): "50 M",
		countText(1_500_000): "1.5 M", countText(1234): "1234", countText(999): "999",
		percent(0.01): "1 %", percent(0.001): "0.1 %", percent(0.0081743): "0.817 %",
		threadsText(1): "1 thread", threadsText(2): "2 threads",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
