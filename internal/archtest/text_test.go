package archtest

import (
	"bytes"
	"regexp"
	"testing"
	"unicode/utf8"
)

// machinePath matches an absolute path into a folder that exists on one
// machine only. The character before it tells an absolute path from a part of
// a longer one.
var machinePath = regexp.MustCompile(`(?m)(?:^|[^A-Za-z0-9_.~}*-])(/(?:work|home|root)/[^\s"'` + "`" + `)]*)`)

// TestNoTextNamesAFolderOfOneMachine looks for the folders first, which is quicker.
func TestNoTextNamesAFolderOfOneMachine(t *testing.T) {
	walk(t, func(name string, data []byte) {
		mayMatch := false
		for _, folder := range []string{"work", "home", "root"} {
			mayMatch = mayMatch || bytes.Contains(data, []byte("/"+folder+"/"))
		}
		if !mayMatch || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
			return
		}
		for _, m := range machinePath.FindAllSubmatchIndex(data, -1) {
			line := 1 + bytes.Count(data[:m[2]], []byte("\n"))
			t.Errorf("%s:%d: %s is a path of one machine: write a relative path or a placeholder", name, line, data[m[2]:m[3]])
		}
	})
}
