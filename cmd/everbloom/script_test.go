package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
)

// The scripts in testdata say what the tool must do, verb by verb. A script is a
// list of commands, followed by files in the form of
//
//	-- name --
//	content
//
// that are laid out in a new folder where the commands run. The commands are the
// keys of scriptCommands, and
//
//	everbloom ARG...    run the tool; it must succeed, or
//	[N] everbloom ...   end with exit status N
//
// Words are separated by spaces; single quotes keep spaces. A ! before stdout,
// stderr or same turns the meaning round. Lines that begin with # are remarks.

// scriptCommands are what scripts do besides running the tool.
var scriptCommands = map[string]func(s *script, args []string) error{
	"stdin":    (*script).setStdin,    // FILE: what the next run reads
	"stdout":   (*script).checkStdout, // REGEXP: the last run's output has a match
	"stderr":   (*script).checkStderr,
	"holds":    (*script).holds,    // FILE REGEXP: the file has a match
	"same":     (*script).same,     // FILE FILE: equal bytes; stdout and stderr are files, too
	"folder":   (*script).folder,   // NAME...: the folder holds these files and no others
	"seq":      (*script).seq,      // FROM TO FILE: one number per line
	"join":     (*script).join,     // OUT FILE...: concatenate
	"gzip":     (*script).compress, // FILE OUT
	"unquote":  (*script).unquote,  // FILE: understand Go's escapes; newlines vanish
	"flip":     (*script).flip,     // FILE OFFSET: damage one bit; negative offsets count from the end
	"truncate": (*script).truncate, // FILE SIZE
	"mkdir":    (*script).mkdir,    // NAME
	"rm":       (*script).remove,   // NAME
	"mode":     (*script).mode,     // FILE OCTAL: it has these permissions
	"list":     (*script).list,     // FILE WORD...: one word per line
}

func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			if slices.Contains([]string{"gate.txt", "plan.txt"}, filepath.Base(file)) {
				effort.OneGoroutine(t) // TestInterruptedGatesTellWhatWasDone has the others
			}
			t.Chdir(t.TempDir())
			t.Setenv("TMPDIR", t.TempDir())
			s := &script{t: t}
			s.run(filepath.Base(file), string(data))
			if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
				t.Errorf("temporary files are left: %v", left)
			}
		})
	}
}

// script is one being run.
type script struct {
	t              *testing.T
	stdin          []byte
	stdout, stderr string
}

func (s *script) run(name, text string) {
	s.t.Helper()
	commands := s.layOut(text)
	for i, line := range strings.Split(commands, "\n") {
		words := splitWords(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if err := s.execute(words); err != nil {
			s.t.Fatalf("%s:%d: %s\n%v\nstdout:\n%s\nstderr:\n%s", name, i+1, line, err, s.stdout, s.stderr)
		}
	}
}

var fileMark = regexp.MustCompile(`(?m)^-- (\S+) --\n`)

// layOut writes the files at the end of a script and returns the commands.
func (s *script) layOut(text string) string {
	s.t.Helper()
	marks := fileMark.FindAllStringSubmatchIndex(text, -1)
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		if err := os.WriteFile(text[m[2]:m[3]], []byte(text[m[1]:end]), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	if len(marks) > 0 {
		text = text[:marks[0][0]]
	}
	return text
}

// splitWords splits at spaces outside single quotes.
func splitWords(line string) []string {
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

func (s *script) execute(words []string) error {
	status, not := exitOK, false
	if n, ok := strings.CutPrefix(words[0], "["); ok {
		status, _ = strconv.Atoi(strings.TrimSuffix(n, "]"))
		words = words[1:]
	}
	if words[0] == "!" {
		not, words = true, words[1:]
	}
	if words[0] == "everbloom" {
		return s.everbloom(status, words[1:])
	}
	command, ok := scriptCommands[words[0]]
	if !ok {
		return fmt.Errorf("unknown command %q", words[0])
	}
	err := command(s, words[1:])
	if not && err == nil {
		return fmt.Errorf("it should not")
	}
	if not {
		return nil
	}
	return err
}

func (s *script) everbloom(status int, args []string) error {
	var stdout, stderr bytes.Buffer
	e := testEnv(bytes.NewReader(s.stdin), &stdout, &stderr)
	got := run(context.Background(), e, args)
	s.stdout, s.stderr, s.stdin = stdout.String(), stderr.String(), nil
	if got != status {
		return fmt.Errorf("exit status %d, want %d", got, status)
	}
	if status == exitError && !strings.HasPrefix(s.stderr, "everbloom: ") && !slices.Contains(args, "-s") {
		return fmt.Errorf("an error without a message")
	}
	return nil
}

func (s *script) setStdin(args []string) (err error) {
	s.stdin, err = os.ReadFile(args[0])
	return err
}

func (s *script) checkStdout(args []string) error { return match(s.stdout, args) }
func (s *script) checkStderr(args []string) error { return match(s.stderr, args) }

func match(text string, args []string) error {
	re, err := regexp.Compile("(?m)" + strings.Join(args, " "))
	if err != nil {
		return err
	}
	if !re.MatchString(text) {
		return fmt.Errorf("no match for %s", re)
	}
	return nil
}

// content of a file, or of what the last run wrote.
func (s *script) content(name string) ([]byte, error) {
	switch name {
	case "stdout":
		return []byte(s.stdout), nil
	case "stderr":
		return []byte(s.stderr), nil
	}
	return os.ReadFile(name)
}

func (s *script) holds(args []string) error {
	text, err := s.content(args[0])
	if err != nil {
		return err
	}
	return match(string(text), args[1:])
}

func (s *script) same(args []string) error {
	a, err := s.content(args[0])
	b, err2 := s.content(args[1])
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if !bytes.Equal(a, b) {
		return fmt.Errorf("%d and %d bytes differ", len(a), len(b))
	}
	return nil
}

func (s *script) folder(want []string) error {
	entries, err := os.ReadDir(".")
	if err != nil {
		return err
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("found %q", got)
	}
	return nil
}

func (s *script) seq(args []string) error {
	from, err := strconv.Atoi(args[0])
	to, err2 := strconv.Atoi(args[1])
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	var text []byte
	for i := from; i <= to; i++ {
		text = append(strconv.AppendInt(text, int64(i), 10), '\n')
	}
	return os.WriteFile(args[2], text, 0o644)
}

func (s *script) join(args []string) error {
	var all []byte
	for _, name := range args[1:] {
		data, err := s.content(name)
		if err != nil {
			return err
		}
		all = append(all, data...)
	}
	return os.WriteFile(args[0], all, 0o644)
}

// edit makes the file to of what change makes of the file from.
func edit(from, to string, change func([]byte) ([]byte, error)) error {
	data, err := os.ReadFile(from)
	if err == nil {
		data, err = change(data)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

func (s *script) compress(args []string) error {
	return edit(args[0], args[1], func(data []byte) ([]byte, error) {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, err := z.Write(data)
		err = errors.Join(err, z.Close())
		return out.Bytes(), err
	})
}

func (s *script) unquote(args []string) error {
	return edit(args[0], args[0], func(data []byte) ([]byte, error) {
		text, err := strconv.Unquote(`"` + strings.ReplaceAll(string(data), "\n", "") + `"`)
		return []byte(text), err
	})
}

func (s *script) flip(args []string) error {
	return edit(args[0], args[0], func(data []byte) ([]byte, error) {
		i, err := strconv.Atoi(args[1])
		if i < 0 {
			i += len(data)
		}
		data[i] ^= 1
		return data, err
	})
}

func (s *script) truncate(args []string) error {
	n, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	return os.Truncate(args[0], n)
}

func (s *script) mkdir(args []string) error  { return os.Mkdir(args[0], 0o755) }
func (s *script) remove(args []string) error { return os.RemoveAll(args[0]) }

func (s *script) mode(args []string) error {
	info, err := os.Stat(args[0])
	if err != nil {
		return err
	}
	if got := fmt.Sprintf("%o", info.Mode().Perm()); got != args[1] {
		return fmt.Errorf("mode %s", got)
	}
	return nil
}

func (s *script) list(args []string) error {
	return os.WriteFile(args[0], []byte(strings.Join(args[1:], "\n")+"\n"), 0o644)
}

// testEnv is a world without terminals, with other experiments.
func testEnv(stdin io.Reader, stdout, stderr io.Writer) *env {
	e := systemEnv()
	e.stdin, e.stdout, e.stderr = stdin, stdout, stderr
	e.typed, e.printed, e.shown = false, false, false
	e.width = func() int { return 80 }
	e.experiments = testExperiments
	return e
}
