package mem

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// TestHotMethodsAreInlined asks the compiler. At stands before every access to an element.
func TestHotMethodsAreInlined(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("arithmetic on 64-bit indexes costs more here")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go tool")
	}
	out, err := exec.Command(goTool, "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, name := range []string{"(*Array).At", "(*Array).Cap"} {
		if !strings.Contains(string(out), "can inline "+name+"\n") {
			t.Errorf("%s is not inlinable any more", name)
		}
	}
}
