//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/internal/effort"
)

// childMark makes this test program behave as the tool.
const childMark = "EVERBLOOM_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childMark) != "" {
		main()
	}
	os.Exit(m.Run())
}

// command runs the tool as a process of its own, in folder. The race detector tries the
// same goroutines in the tests that call the tool as a function.
func command(t *testing.T, folder string, args ...string) *exec.Cmd {
	t.Helper()
	effort.OneGoroutine(t)
	c := exec.Command(os.Args[0], args...)
	c.Dir = folder
	c.Env = append(os.Environ(), childMark+"=1", "TMPDIR="+folder, "GORACE=atexit_sleep_ms=0") // else each child would sleep a second
	return c
}

// child is the tool at work, with pipes to it.
type child struct {
	*exec.Cmd
	t         *testing.T
	stdin     io.WriteCloser
	out, errs *bufio.Reader
}

// start starts the tool. One that hangs is killed after a minute.
func start(t *testing.T, folder string, args ...string) *child {
	t.Helper()
	c := &child{Cmd: command(t, folder, args...), t: t}
	in, err := c.StdinPipe()
	out, err2 := c.StdoutPipe()
	messages, err3 := c.StderrPipe()
	if err := errors.Join(err, err2, err3, c.Start()); err != nil {
		t.Fatal(err)
	}
	c.stdin, c.out, c.errs = in, bufio.NewReader(out), bufio.NewReader(messages)
	watchdog := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
	t.Cleanup(func() { watchdog.Stop() })
	return c
}

// write gives the tool some input.
func (c *child) write(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.stdin, text); err != nil {
		c.t.Fatal(err)
	}
}

// line expects a line of output.
func (c *child) line(want string) {
	c.t.Helper()
	if line, err := c.out.ReadString('\n'); err != nil || line != want {
		c.t.Fatalf("%q, %v, want %q", line, err, want)
	}
}

func (c *child) signal(sig os.Signal) {
	c.t.Helper()
	if err := c.Process.Signal(sig); err != nil {
		c.t.Fatal(err)
	}
}

// end waits and returns the rest of the messages and the exit status, or -1 and the signal.
func (c *child) end() (messages string, code int, sig syscall.Signal) {
	c.t.Helper()
	text, _ := io.ReadAll(c.errs)
	code, sig = status(c.t, c.Wait())
	return string(text), code, sig
}

// status returns how the process ended: its exit status, or -1 and the signal.
func status(t *testing.T, err error) (int, syscall.Signal) {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, 0
	case !errors.As(err, &exit):
		t.Fatal(err)
	}
	return exit.ExitCode(), exit.Sys().(syscall.WaitStatus).Signal()
}

// put writes a file into folder.
func put(t *testing.T, folder, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// content reads a file of folder.
func content(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// names lists a folder.
func names(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// Enough lines to make the tool put its keys into a temporary file.
const manyLines = 1<<20 + 1<<19

func TestSignalsLeaveTheOldFileAndNothingElse(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			continue // under nohup, and then by the tool, too
		}
		folder := t.TempDir()
		put(t, folder, "f", "old")
		c := start(t, folder, "build", "-o", "f")
		c.write(strings.Repeat("key\n", manyLines)) // once all is in the pipe, most has been read
		c.signal(sig)
		messages, code, _ := c.end()
		if old := content(t, folder, "f"); code != exitInterrupted || old != "old" || names(t, folder) != "f" {
			t.Errorf("%v: status %d, file %q, folder: %s", sig, code, old, names(t, folder))
		}
		if messages != "everbloom: interrupted: nothing was changed\n" {
			t.Errorf("%v: %q", sig, messages)
		}
	}
}

func TestBrokenPipeEndsQuietly(t *testing.T) {
	folder := t.TempDir()
	put(t, folder, "keys", strings.Repeat("key\n", manyLines))
	success(t, folder, "", "build", "--quiet", "-o", "f", "keys")
	c := command(t, folder, "query", "f", "keys")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	stdout, err := c.StdoutPipe()
	if err := errors.Join(err, c.Start()); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "key\n" {
		t.Errorf("first line %q, %v", line, err)
	}
	if err := stdout.Close(); err != nil {
		t.Fatal(err)
	}
	code, sig := status(t, c.Wait())
	if code != exitBrokenPipe && sig != syscall.SIGPIPE || stderr.Len() > 0 {
		t.Errorf("status %d, signal %v: %q", code, sig, stderr.String())
	}
}

func TestUnwritableFolderAndUnreadableFile(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write and read everything")
	}
	folder := t.TempDir()
	put(t, folder, "keys", "a\n")
	if err := os.Chmod(folder, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(folder, 0o700) }) // so that it can be removed
	out, err := command(t, folder, "build", "-o", "f", "keys").CombinedOutput()
	if code, _ := status(t, err); code != exitError || string(out) != "everbloom: f: cannot be written: permission denied: choose another folder with -o\n" {
		t.Errorf("status %d: %s", code, out)
	}
	if err := os.Chmod(filepath.Join(folder, "keys"), 0); err != nil {
		t.Fatal(err)
	}
	out, err = command(t, folder, "build", "-o", "/dev/null/f", "keys").CombinedOutput()
	if code, _ := status(t, err); code != exitError || string(out) != "everbloom: keys: permission denied\n" {
		t.Errorf("status %d: %s", code, out)
	}
}

func TestQueryAnswersWhileTheInputIsOpen(t *testing.T) {
	folder := t.TempDir()
	success(t, folder, "alice\n", "build", "--quiet", "-o", "f")
	c := start(t, folder, "query", "f")
	for range 3 {
		c.write("alice\n")
		c.line("alice\n")
	}
	if err := c.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if messages, code, _ := c.end(); code != exitOK {
		t.Error(code, messages)
	}
}

func TestTheListOnStdinIsNotReplaced(t *testing.T) {
	folder := t.TempDir()
	put(t, folder, "keys.txt", "a\nb\n")
	file, err := os.Open(filepath.Join(folder, "keys.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	c := command(t, folder, "build", "-o", "keys.txt")
	c.Stdin = file
	out, err := c.CombinedOutput()
	if code, _ := status(t, err); code != 2 || !strings.Contains(string(out), "both an input and the output") {
		t.Errorf("status %d: %s", code, out)
	}
	if got := content(t, folder, "keys.txt"); got != "a\nb\n" {
		t.Errorf("the list is now %q", got)
	}
}

// shell returns bash in a folder where everbloom is this program.
func shell(t *testing.T, folder string, args ...string) *exec.Cmd {
	t.Helper()
	bin := filepath.Join(folder, "bin")
	shim := "#!/bin/sh\nexec " + os.Args[0] + " \"$@\"\n"
	if err := errors.Join(os.Mkdir(bin, 0o755), os.WriteFile(filepath.Join(bin, "everbloom"), []byte(shim), 0o755)); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("bash", args...)
	c.Dir, c.Env = folder, command(t, folder).Env
	return c
}

// TestTourRuns has every command of the tour succeed.
func TestTourRuns(t *testing.T) {
	tour, err := filepath.Abs("../../scripts/tour.sh")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	out, err := shell(t, folder, tour, filepath.Join(folder, "bin")).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\n100000\n") || !strings.Contains(string(out), "\nNext: ") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestReadmeCommandsWork runs the commands that README.md shows for the tool.
func TestReadmeCommandsWork(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "## On the command line\n\n```sh\nmake build && ")
	commands, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("README.md shows no commands")
	}
	out, err := shell(t, t.TempDir(), "-eu", "-c", commands).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "100001\n100002\n") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// TestGateTellsAsPacketsComeAndEndsInTime has a pipe that waits: a ban is told at once, and
// a signal ends the gate with everything written.
func TestGateTellsAsPacketsComeAndEndsInTime(t *testing.T) {
	folder := t.TempDir()
	put(t, folder, "p", "x: 00000001\n")
	c := start(t, folder, "gate", "run", "--patterns", "p", "--verdicts", "--log", "log", "--html", "page")
	c.write(strings.Repeat("1.2.3.4 00000001\n", 3))
	c.line("1 1.2.3.4 pass struck\n")
	c.line("2 1.2.3.4 pass struck\n")
	c.line("3 1.2.3.4 ban struck\n")
	for range 1000 { // the log is written after the verdicts
		if strings.Contains(content(t, folder, "log"), `"event":"ban"`) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.signal(syscall.SIGTERM)
	rest, _ := io.ReadAll(c.out)
	if messages, code, _ := c.end(); code != exitInterrupted || !strings.Contains(string(rest), "\nbans            1\n") {
		t.Errorf("status %d\n%s%s", code, rest, messages)
	}
	if log := content(t, folder, "log"); strings.Count(log, "\n") != 3 || !strings.Contains(content(t, folder, "page"), "</html>") {
		t.Errorf("log %s", log)
	}
}

// socketFolder returns a folder whose path is short enough for a socket.
func socketFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "gate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

// asks runs a verb that talks to a gate, again until its output has a text.
func asks(t *testing.T, folder, want string, args ...string) {
	t.Helper()
	var out []byte
	for range 500 {
		out, _ = command(t, folder, append([]string{"gate", args[0], "--socket", "s"}, args[1:]...)...).CombinedOutput()
		if strings.Contains(string(out), want) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%v: %s, want %q", args, out, want)
}

// TestFollowedLogsAreControlledAndKept has a gate that follows a log, is asked and told
// things, reads its lists again, is killed, and knows everything when it starts again.
func TestFollowedLogsAreControlledAndKept(t *testing.T) {
	folder := socketFolder(t)
	put(t, folder, "log", "")
	put(t, folder, "black", "9.9.9.0/24\n")
	args := []string{"gate", "follow", "--parser", "sshd", "--blacklist", "black", "--ban-for", "0", "--socket", "s", "--state", "st", "--sync", "log"}
	c := start(t, folder, args...)
	asks(t, folder, "judges         log", "status")
	put(t, folder, "log", strings.Repeat("Nov 16 02:00:00 h sshd[1]: Failed password for root from 1.2.3.4 port 22 ssh2\n", 3))
	asks(t, folder, "1.2.3.4/32", "list")
	asks(t, folder, "5.5.5.5/32 banned for ever", "ban", "--for", "ever", "5.5.5.5")
	asks(t, folder, "9.9.9.9 bad", "query", "9.9.9.9")
	put(t, folder, "black", "8.8.8.0/24\n")
	c.signal(syscall.SIGHUP)
	asks(t, folder, "8.8.8.8 bad", "query", "8.8.8.8")
	asks(t, folder, "9.9.9.9 none", "query", "9.9.9.9")
	c.signal(syscall.SIGKILL)
	_, _, _ = c.end()
	c = start(t, folder, args...)
	asks(t, folder, "1.2.3.4 bad: banned for ever, Failed password for", "query", "1.2.3.4")
	asks(t, folder, "elements = { 1.2.3.4,\n\t\t\t5.5.5.5 }", "list", "--format", "nft")
	asks(t, folder, "", "unban", "1.2.3.4")
	asks(t, folder, "1.2.3.4 none", "query", "1.2.3.4")
	asks(t, folder, `"bans": 1`, "status", "--json")
	asks(t, folder, "", "reload")
	c.signal(syscall.SIGTERM)
	if messages, code, _ := c.end(); code != exitOK {
		t.Errorf("status %d: %s", code, messages)
	}
}

// TestASecondGateLeavesTheFirstAlone has it refused for the socket and for the state.
func TestASecondGateLeavesTheFirstAlone(t *testing.T) {
	folder := socketFolder(t)
	put(t, folder, "log", "")
	args := []string{"gate", "follow", "--parser", "sshd", "--socket", "s", "--state", "st", "--sync", "log"}
	c := start(t, folder, args...)
	asks(t, folder, "judges         log", "status")
	asks(t, folder, "5.5.5.5/32 banned", "ban", "5.5.5.5")
	journal := content(t, folder, "st.log")
	for _, other := range [][]string{args, {"gate", "follow", "--parser", "sshd", "--socket", "", "--state", "st", "log"}} {
		second := start(t, folder, other...)
		if messages, code, _ := second.end(); code != exitError || !strings.Contains(messages, "another gate") {
			t.Errorf("status %d: %s", code, messages)
		}
	}
	if content(t, folder, "st.log") != journal || !strings.Contains(journal, "5.5.5.5") {
		t.Errorf("the journal was %q and is %q", journal, content(t, folder, "st.log"))
	}
	c.signal(syscall.SIGKILL)
	_, _, _ = c.end()
	c = start(t, folder, args...)
	asks(t, folder, "5.5.5.5/32", "list")
	c.signal(syscall.SIGTERM)
	if messages, code, _ := c.end(); code != exitOK {
		t.Errorf("status %d: %s", code, messages)
	}
}

// TestStandingOutputsLoseNoState ends a gate whose output is not read.
func TestStandingOutputsLoseNoState(t *testing.T) {
	folder := socketFolder(t)
	put(t, folder, "log", "")
	c := start(t, folder, "gate", "follow", "--parser", "sshd", "--socket", "s", "--state", "st", "log")
	asks(t, folder, "judges         log", "status")
	var lines strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&lines, "Nov 16 02:00:00 h sshd[1]: Failed password for root from 10.0.%d.%d port 22 ssh2\n", i>>8, i&255)
	}
	put(t, folder, "log", lines.String()+"something else\n")
	asks(t, folder, "strikes        3,000", "status")
	asks(t, folder, "lines          3,000 read, 1 that the parser cannot read", "status")
	asks(t, folder, "5.5.5.5/32 banned", "ban", "5.5.5.5")
	c.signal(syscall.SIGTERM)
	if messages, code, _ := c.end(); code != exitOK || !strings.Contains(messages, "an output takes no more") {
		t.Errorf("status %d: %s", code, messages)
	}
	if !strings.Contains(content(t, folder, "st"), "5.5.5.5/32") {
		t.Error("the state has no ban")
	}
}

// TestFollowGoesOnWhereItWas kills a gate, and has a line come while there is none: each line is
// judged once.
func TestFollowGoesOnWhereItWas(t *testing.T) {
	folder := socketFolder(t)
	const line = "Nov 16 02:00:00 h sshd[1]: Failed password for root from 1.2.3.4 port 22 ssh2\n"
	put(t, folder, "log", line)
	args := []string{"gate", "follow", "--parser", "sshd", "--ban-for", "0", "--socket", "s", "--state", "st", "--sync", "--log", "events", "log"} // the ban of an old line would be over
	grow := func() {
		t.Helper()
		file, err := os.OpenFile(filepath.Join(folder, "log"), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = file.WriteString(line)
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
	}
	c := start(t, folder, args...)
	asks(t, folder, "judges         log", "status")
	grow()
	asks(t, folder, "strikes        1\n", "status")
	c.signal(syscall.SIGKILL)
	c.end()
	grow()
	c = start(t, folder, args...)
	asks(t, folder, "strikes        1\n", "status")
	grow()
	asks(t, folder, "1.2.3.4", "list")
	c.signal(syscall.SIGTERM)
	if messages, code, _ := c.end(); code != exitOK {
		t.Errorf("status %d: %s", code, messages)
	}
	if text := content(t, folder, "events"); strings.Count(text, "\n") != 3 || strings.Count(text, `"ban"`) != 1 {
		t.Errorf("%s", text)
	}
}

// TestStatesThatCannotBeWrittenAreToldAtOnce does not wait for the first minute.
func TestStatesThatCannotBeWrittenAreToldAtOnce(t *testing.T) {
	folder := socketFolder(t)
	c := start(t, folder, "gate", "follow", "--parser", "sshd", "--socket", "", "--state", "missing/st", "-")
	if messages, code, _ := c.end(); code != exitError || !strings.Contains(messages, "missing/st") {
		t.Errorf("status %d: %s", code, messages)
	}
}
