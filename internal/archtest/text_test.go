package archtest

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// machinePath matches an absolute path into a folder that exists on one
// machine only. The character before it tells an absolute path from a part of
// a longer one.
var machinePath = regexp.MustCompile(`(?m)(?:^|[^A-Za-z0-9_.~}*-])(/(?:` + strings.Join(machineFolders, "|") + `)/[^\s"'` + "`" + `)]*)`)

// machineFolders are what every match contains: looking for them first is quicker.
var machineFolders = []string{"work", "home", "root"}

// pathProblems finds such paths in a text; binary files have none.
func pathProblems(name string, data []byte) []string {
	hasFolder := func(top string) bool { return bytes.Contains(data, []byte("/"+top+"/")) }
	if !slices.ContainsFunc(machineFolders, hasFolder) || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return nil
	}
	var out []string
	for _, m := range machinePath.FindAllSubmatchIndex(data, -1) {
		line := 1 + bytes.Count(data[:m[2]], []byte("\n"))
		out = append(out, fmt.Sprintf("%s:%d: %s is a path of one machine: write a relative path or a placeholder", name, line, data[m[2]:m[3]]))
	}
	return out
}

func TestNoTextNamesAFolderOfOneMachine(t *testing.T) {
	walk(t, func(name string, data []byte) { report(t, pathProblems(name, data)) })
}

func TestPathCheckRefusesFoldersOfOneMachine(t *testing.T) {
	// Put together here, so that this file passes its own check.
	bad := func(top string) string { return "/" + top + "/x" }

	text := "see docs" + bad("work") + "\n(" + bad("home") + ") and\n" + bad("root") + " at $HOME" + bad("work") + "\n"
	wantProblems(t, pathProblems("a.md", []byte(text)),
		"a.md:2: "+bad("home")+" is a path", "a.md:3: "+bad("root")+" is a path")
	wantProblems(t, pathProblems("a.bin", []byte("\x00"+bad("home"))))
}
