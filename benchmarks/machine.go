package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
)

// A machine is what figures must be read with.
type machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	System string `json:"system"`
	Go     string `json:"go"`
	Level  string `json:"level"` // of the instruction set the compiler may use
	Commit string `json:"commit"`
}

func thisMachine() machine {
	return machine{
		CPU: cpuModel(), Cores: runtime.NumCPU(),
		System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
		Level: buildSetting("GO" + strings.ToUpper(runtime.GOARCH)), Commit: commit(),
	}
}

func (m machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s, %s, GO%s=%s, commit %s",
		m.CPU, m.Cores, m.System, m.Go, strings.ToUpper(runtime.GOARCH), m.Level, m.Commit)
}

// cpuModel returns the processor's name where the system tells it.
func cpuModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
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

// commit asks git, since "go run" does not stamp the program.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// moduleVersion returns the version of a module this program is linked with, empty if none.
func moduleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return ""
}
