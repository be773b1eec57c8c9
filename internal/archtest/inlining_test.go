package archtest

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
)

// TestHotMethodsAreInlined asks the compiler. They are a few instructions that stand
// before every access to a bit, a counter or an element: a call would double them.
func TestHotMethodsAreInlined(t *testing.T) {
	effort.PlainOnly(t)
	for pkg, names := range map[string]string{
		"bitvec": "Vector.Get Vector.Set Vector.Clear WordsFor",
		"packed": "Bits",
		"mem":    "(*Array).At (*Array).Cap (*Lines).At",
	} {
		build := exec.Command("go", "build", "-gcflags=-m", "./internal/"+pkg)
		build.Dir = root
		out, err := build.CombinedOutput()
		if err != nil {
			t.Fatalf("go build: %v\n%s", err, out)
		}
		for name := range strings.FieldsSeq(names) {
			if !strings.Contains(string(out), "can inline "+name+"\n") {
				t.Errorf("%s: %s is not inlinable any more", pkg, name)
			}
		}
	}
}
