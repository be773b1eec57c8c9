package main

import (
	"fmt"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/everbloom-go/everbloom/internal/lab/store"
)

// A machine is what figures must be read with.
type machine struct {
	store.Origin
	Level string `json:"level"` // of the instruction set the compiler may use
}

// thisMachine asks git for the commit, since "go run" does not stamp the program.
func thisMachine() machine {
	m := machine{store.Here(), buildSetting("GO" + strings.ToUpper(runtime.GOARCH))}
	m.Commit = "unknown"
	if out, err := exec.Command("git", "describe", "--always", "--dirty").Output(); err == nil {
		m.Commit = strings.TrimSpace(string(out))
	}
	return m
}

func (m machine) String() string {
	return fmt.Sprintf("%v, GO%s=%s, commit %s", m.Origin, strings.ToUpper(runtime.GOARCH), m.Level, m.Commit)
}

// buildSetting returns what the program was built with.
func buildSetting(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return "unknown"
}
