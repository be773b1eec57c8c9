package quantity

import (
	"strings"
	"testing"
	"time"
)

func TestParseCountTakesWhatPeopleWrite(t *testing.T) {
	for text, want := range map[string]uint64{
		"1": 1, "1000000": 1e6, "1_000_000": 1e6, "1,000,000": 1e6, "1e6": 1e6, "1E6": 1e6,
		"10M": 1e7, "10m": 1e7, "250k": 250_000, "250K": 250_000, "1.5G": 1.5e9, "0.5k": 500,
		"2t": 2e12, " 7 ": 7, "9007199254740992": 1 << 53, "4.1M": 4_100_000,
	} {
		if got, err := ParseCount(text); err != nil || got != want {
			t.Errorf("ParseCount(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestParseCountRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"": "not a number", "k": "not a number", "ten": "not a number", "1e": "not a number",
		"nan": "not a number", "inf": "not a number", "0x10": "not a number", "1M2": "not a number",
		"1.5": "not a whole number", "0.0001k": "not a whole number",
		"0": "must be 1 to 2^53", "-5": "must be 1 to 2^53", "1e300": "must be 1 to 2^53", "9007199254740994": "must be 1 to 2^53",
	} {
		if got, err := ParseCount(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseCount(%q) = %d, %v, want an error with %q", text, got, err, want)
		}
	}
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]uint64{"12GiB": 12 << 30, "1.5MiB": 3 << 19, "4KiB": 4096, "16M": 16e6, "7": 7} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "12GB", "-1KiB", "1e30GiB", "0MiB"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("ParseBytes(%q) = %d", text, got)
		}
	}
}

func TestParseRate(t *testing.T) {
	for text, want := range map[string]float64{"0.01": 0.01, "1%": 0.01, "0.1 %": 0.001, "12.5%": 0.125, "0.3%": 0.003, "1e-6": 1e-6, ".5": 0.5} {
		if got, err := ParseRate(text); err != nil || got != want {
			t.Errorf("ParseRate(%q) = %g, %v, want %g", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "not a rate", "%": "not a rate", "one": "not a rate", "NaN": "not a rate",
		"0": "between 0 and 1", "1": "between 0 and 1", "-0.1": "between 0 and 1", "100%": "between 0 and 1", "7": "between 0 and 1",
	} {
		if got, err := ParseRate(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseRate(%q) = %g, %v, want an error with %q", text, got, err, want)
		}
	}
}

func TestFormats(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(0), "0"},
		{Count(999), "999"},
		{Count(1000), "1,000"},
		{Count(1234567), "1,234,567"},
		{Keys(0), "0 keys"},
		{Keys(1), "1 key"},
		{Keys(2000), "2,000 keys"},
		{Short(0), "0"},
		{Short(999), "999"},
		{Short(1000), "1.00 k"},
		{Short(999_499), "999 k"},
		{Short(999_600), "1.00 M"},
		{Short(21_345_678), "21.3 M"},
		{Short(1.5), "1.50"},
		{Round(500), "500"},
		{Round(10_000), "10 k"},
		{Round(1_500_000), "1.5 M"},
		{Round(0), "0"},
		{Bytes(0), "0 B"},
		{Bytes(1000), "0.98 KiB"},
		{Bytes(1 << 20), "1.00 MiB"},
		{Bytes(11.4 * (1 << 20)), "11.4 MiB"},
		{Rate(0), "0 %"},
		{Rate(0.01), "1 %"},
		{Rate(0.00987), "0.987 %"},
		{Rate(0.001), "0.1 %"},
		{Rate(0.5), "50 %"},
		{Rate(0.123456), "12.3 %"},
		{Rate(0.00999999), "1 %"},
		{Rate(1), "100 %"},
		{Rate(1.234e-6), "1.23e-06"},
		{Duration(0), "0 ms"},
		{Duration(340 * time.Millisecond), "340 ms"},
		{Duration(1234 * time.Millisecond), "1.2 s"},
		{Duration(12345 * time.Millisecond), "12 s"},
		{Duration(130 * time.Second), "2 min 10 s"},
		{Duration(3*time.Hour + 5*time.Minute), "3 h 5 min"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func FuzzParseCount(f *testing.F) {
	for _, s := range []string{"1e6", "10M", "1_000", "-1", "1.5k", "9e99", "--", "e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseCount(text)
		if err != nil {
			return
		}
		if n < 1 || n > maxCount {
			t.Fatalf("ParseCount(%q) = %d", text, n)
		}
		if again, err := ParseCount(Count(n)); err != nil || again != n {
			t.Fatalf("ParseCount(%q) = %d, %v, want %d", Count(n), again, err, n)
		}
	})
}

// TestColumnsOfRatesHaveOneNotation: 0.0001 in one line and 0.01 % in the next look like
// two numbers.
func TestColumnsOfRatesHaveOneNotation(t *testing.T) {
	for _, c := range []struct {
		rates []float64
		want  string
	}{
		{[]float64{0.01, 0.0031, 1}, "1 %, 0.31 %, 100 %"},
		{[]float64{1e-4, 0.99999e-4, 3.27e-5}, "0.01 %, 0.01 %, 0.00327 %"},
		{[]float64{1e-4, 3.27e-6}, "1.00e-04, 3.27e-06"},
		{[]float64{0, 0.01}, "0 %, 1 %"},
		{[]float64{0, 1e-9}, "0.00e+00, 1.00e-09"},
	} {
		var got []string
		format := RateFormat(c.rates...)
		for _, p := range c.rates {
			got = append(got, format(p))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%v: %s, want %s", c.rates, text, c.want)
		}
	}
}
