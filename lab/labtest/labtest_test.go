package labtest

import (
	"testing"

	"github.com/everbloom-go/everbloom/lab"
)

// failures counts the errors of a test that should fail.
type failures struct {
	testing.TB
	n int
}

func (f *failures) Helper()               {}
func (f *failures) Errorf(string, ...any) { f.n++ }

func TestCompareFindsWhatIsNotAsKnown(t *testing.T) {
	good := lab.Exact("good", "1.0", 1)
	bad := lab.Exact("bad", "1.0", 2).Because("it is so")
	unexplained := lab.Exact("unexplained", "1.0", 2)
	slow := lab.Holds("slow", "faster", "2", false, "medians").Timed()
	for _, c := range []struct {
		checks    []lab.Check
		differing []string
		want      int
	}{
		{[]lab.Check{good, bad, slow}, []string{"bad"}, 0},
		{[]lab.Check{good, bad}, nil, 1},
		{[]lab.Check{good}, []string{"good"}, 1},
		{[]lab.Check{unexplained}, []string{"unexplained"}, 1},
		{[]lab.Check{good}, []string{"gone"}, 1},
	} {
		f := &failures{TB: t}
		compare(f, c.checks, c.differing)
		if f.n != c.want {
			t.Errorf("%v, known %q: %d failures, want %d", c.checks, c.differing, f.n, c.want)
		}
	}
}
