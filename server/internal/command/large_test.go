package command

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/server/internal/log"
)

// A largeUnit is a pipeline whose effects take several records. It fills a filter of its own.
type largeUnit struct {
	name  string
	args  [][][]byte
	items [][]byte
}

func newLargeUnit(i int) largeUnit {
	u := largeUnit{name: fmt.Sprint("u", i)}
	if i%2 == 0 { // otherwise an earlier unit makes it
		u.args = append(u.args, words("BF.RESERVE "+u.name+" 0.1 210000 NONSCALING"))
	}
	for part := range 3 {
		madd := words("BF.MADD " + u.name)
		for item := range 66_000 {
			madd = append(madd, fmt.Appendf(nil, "%d-%d", part, item))
		}
		u.args, u.items = append(u.args, madd, words("BF.CARD "+u.name)), append(u.items, madd[2:]...)
	}
	return u
}

// run runs the unit and reports whether it is acknowledged, or else refused as a whole.
func (u *largeUnit) run(t *testing.T, env *Env) (acknowledged, refused bool) {
	t.Helper()
	s := NewSession(env, 1, "", "")
	s.Begin()
	for _, args := range u.args {
		if err := s.Take(args); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Flush(); err != nil {
		return false, false
	}
	text := s.w.Bytes()
	refused = bytes.Contains(text, []byte("MISCONF"))
	if refused && bytes.Contains(text, []byte(":1\r\n")) {
		t.Errorf("%s: a part is refused, and a part is not", u.name)
	}
	return !refused, refused
}

// stored counts the items that a store has.
func (u *largeUnit) stored(env *Env) (n int) {
	e := env.Store.Lookup([]byte(u.name), 0)
	for _, item := range u.items {
		if e != nil && e.MayContain(e.Key(item)) {
			n++
		}
	}
	return n
}

// TestFaultsInTheMiddleOfUnits has units of several records meet a log that fails at one of
// them: none is acknowledged, and the log can be read.
func TestFaultsInTheMiddleOfUnits(t *testing.T) {
	effort.OneGoroutine(t)
	l := new(log.Memory)
	env := newEnv(t, l)
	rng := rand.New(rand.NewPCG(5, 6))
	units := make([]largeUnit, effort.PickVariant(6, 12, 100))
	acknowledged := make([]bool, len(units))
	for i := range units {
		u := newLargeUnit(i)
		units[i] = u
		if i%2 == 1 {
			if _, err := ask(NewSession(env, 1, "", ""), "BF.RESERVE "+u.name+" 0.1 210000 NONSCALING"); err != nil {
				t.Fatal(err)
			}
		}
		left, kind := rng.IntN(3), []log.Fault{log.Full, log.LostUnknown, log.StoredUnknown}[i%3]
		first := left == 0
		env.Partition.Do(func() {
			l.Fault = func(uint64) log.Fault {
				if left--; left == -1 {
					return kind
				}
				return log.None
			}
		})
		var refused bool
		if acknowledged[i], refused = u.run(t, env); refused != (first && kind == log.Full) {
			t.Errorf("%s: refused %v", u.name, refused)
		}
		env.Partition.Do(func() { l.Fault = nil })
		repaired(t, env)
	}
	env.Partition.Close()
	again := newEnv(t, l)
	defer again.Partition.Close()
	for i, u := range units {
		live, read := u.stored(env), u.stored(again)
		if live != read {
			t.Errorf("%s: %d items in memory, %d in the log", u.name, live, read)
		}
		if acknowledged[i] {
			t.Errorf("%s met a fault and is acknowledged, %d of %d items are stored", u.name, live, len(u.items))
		}
	}
}

// TestRepliesThatAreCorrected has a commit in the middle of a command correct replies before
// it, whose length changes.
func TestRepliesThatAreCorrected(t *testing.T) {
	effort.OneGoroutine(t)
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	lines := make([]string, 12)
	for i := range lines {
		lines[i] = "CF.ADD cf z"
	}
	const room, items = 69_000, 70_000
	var madd strings.Builder
	madd.WriteString("BF.MADD bf")
	for i := range items {
		fmt.Fprint(&madd, " ", i)
	}
	lines = append(lines, "CF.COUNT cf z", fmt.Sprint("BF.RESERVE bf 0.0001 ", room, " NONSCALING"), madd.String(), "PING")
	replies, err := ask(NewSession(env, 1, "", ""), lines...)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(replies[12:14], " "); got != ":12 +OK" {
		t.Errorf("the beginning is %q", got)
	}
	array, last := replies[14], replies[len(replies)-1]
	if n := len(replies) - 16; array != fmt.Sprint("*", n) || n < room || last != "+PONG" || !strings.HasPrefix(replies[len(replies)-2], "-ERR non scaling") {
		t.Errorf("%s before %d elements, and %s", array, n, last)
	}
}

// TestSilentReplies asks what is answered late, without wanting a reply.
func TestSilentReplies(t *testing.T) {
	for _, c := range []struct{ name, lines, want string }{
		{"off", "CLIENT REPLY OFF;CF.ADD k x;CF.DEL k x;CF.EXISTS k x;CF.COUNT k x", ""},
		{"on again", "CF.ADD k x;CLIENT REPLY OFF;CF.DEL k x;CF.EXISTS k x;CLIENT REPLY ON;CF.COUNT k x", ":1 +OK :0"},
		{"skip", "CF.ADD k x;CF.DEL k x;CLIENT REPLY SKIP;CF.EXISTS k x;PING;CF.EXISTS k x", ":1 :1 +PONG :0"},
		{"transaction", "MULTI;CF.ADD k x;CF.DEL k x;CF.EXISTS k x;CLIENT REPLY OFF;EXEC;CLIENT REPLY ON", "+OK +QUEUED +QUEUED +QUEUED +QUEUED +OK"},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := newEnv(t, new(log.Memory))
			defer env.Partition.Close()
			replies, err := ask(NewSession(env, 1, "", ""), strings.Split(c.lines, ";")...)
			if got := strings.Join(replies, " "); err != nil || got != c.want {
				t.Errorf("%q, want %q: %v", got, c.want, err)
			}
		})
	}
}

// TestPiecesOfLostContent restores two dumps of several records. The first is cut off by the
// end of the process: its number is not used again.
func TestPiecesOfLostContent(t *testing.T) {
	effort.OneGoroutine(t)
	l := new(log.Memory)
	env := newEnv(t, l)
	ready := []string{"BF.RESERVE big 0.01 2000000 NONSCALING", "BF.ADD big x"}
	if _, err := ask(NewSession(env, 1, "", ""), ready...); err != nil {
		t.Fatal(err)
	}
	dumped, err := dumpOf(env.Store.Lookup([]byte("big"), 0))
	if err != nil {
		t.Fatal(err)
	}
	left := 1
	env.Partition.Do(func() {
		l.Fault = func(uint64) log.Fault {
			if left--; left < 0 {
				return log.LostUnknown
			}
			return log.None
		}
	})
	restore := func(env *Env) error {
		s := NewSession(env, 1, "", "")
		s.Begin()
		if err := s.Take([][]byte{[]byte("RESTORE"), []byte("copy"), []byte("0"), bytes.Clone(dumped)}); err != nil {
			return err
		}
		return s.Flush()
	}
	if restore(env) == nil {
		t.Fatal("the fault is not met")
	}
	env.Partition.Close()
	l.Fault = nil
	for range 2 {
		again := newEnv(t, l)
		if again.Store.Lookup([]byte("copy"), 0) == nil {
			if err := restore(again); err != nil {
				t.Fatal(err)
			}
		}
		if e := again.Store.Lookup([]byte("copy"), 0); e == nil || !e.MayContain(e.Key([]byte("x"))) {
			t.Error("the copy is not what was restored")
		}
		again.Partition.Close()
	}
}

// TestGrown compares the capacity of a chain with what it is by adding up, and has chains
// that adding up takes for ever.
func TestGrown(t *testing.T) {
	for _, c := range [][4]uint64{
		{100, 0, 1000, 100},
		{100, 2, 100, 100},
		{100, 2, 101, 300},
		{100, 2, 301, 700},
		{100, 1, 101, 200},
		{100, 1, 300, 300},
		{1, 1, math.MaxInt64, math.MaxInt64},
		{1, 1, 1 << 40, 1 << 40},
		{1 << 62, 1, math.MaxInt64, math.MaxInt64},
		{1 << 62, 3, math.MaxInt64, math.MaxInt64},
		{1, 2, math.MaxInt64, math.MaxInt64},
	} {
		if got := grown(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%d items in a chain of %d times %d: %d, want %d", c[2], c[0], c[1], got, c[3])
		}
	}
}

// TestArrivalsTakeMemory sends the first parts of dumps that never become complete.
func TestArrivalsTakeMemory(t *testing.T) {
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	limit := int64(1 << 20)
	env.MaxMemory = func() int64 { return limit }
	s := NewSession(env, 1, "", "")
	chunk := append([]byte(dumpMagic), make([]byte, 100<<10)...)
	binary.LittleEndian.PutUint64(chunk[8:], uint64(len(chunk)))
	load := func(i int) string {
		s.Begin()
		cursor := fmt.Append(nil, len(chunk)+1)
		if err := s.Take([][]byte{[]byte("BF.LOADCHUNK"), fmt.Append(nil, "k", i), cursor, chunk}); err != nil {
			t.Fatal(err)
		}
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
		defer s.w.Reset()
		return string(s.w.Bytes())
	}
	loaded := 0
	for loaded < maxArrivals && load(loaded) == "+OK\r\n" {
		loaded++
	}
	if loaded < 5 || loaded > 12 {
		t.Errorf("%d arrivals of 100 KiB fit 1 MiB", loaded)
	}
	limit = 1 << 19
	if replies, err := ask(s, "BF.ADD k x", "BF.CARD k"); err != nil || replies[0] != "-"+outOfMemory || replies[1] != ":0" {
		t.Error(replies, err)
	}
	env.Partition.Do(func() {
		if n := env.arrived(env.Partition.Now() + 2*arrivalTime); n != 0 {
			t.Errorf("%d bytes are kept for ever", n)
		}
	})
	if replies, err := ask(s, "BF.ADD k x"); err != nil || replies[0] != ":1" {
		t.Error(replies, err)
	}
}

// TestCopiesTakeMemory reads a filter in chunks where there is little memory: the copy counts
// until its last chunk is read or the connection ends, and is refused if it does not fit.
func TestCopiesTakeMemory(t *testing.T) {
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	limit := int64(1 << 40)
	env.MaxMemory = func() int64 { return limit }
	s, other := NewSession(env, 1, "", ""), NewSession(env, 2, "", "")
	if replies, err := ask(s, "BF.RESERVE k 0.01 100000", "BF.ADD k x"); err != nil || replies[1] != ":1" {
		t.Fatal(replies, err)
	}
	expect := func(s *Session, line, want string) {
		t.Helper()
		if got := one(t, s, toAny(strings.Fields(line))...); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %.100q, want %q", line, got, want)
		}
	}
	for _, verb := range []string{"BF.SCANDUMP", "EB.EXPORT"} {
		limit = 3 * env.Store.Bytes() / 2
		expect(s, verb+" k 0", "-OOM a copy of ")
		limit = 5 * env.Store.Bytes() / 2
		expect(s, verb+" k 0", "*2\r\n")
		expect(other, verb+" k 0", "-OOM a copy of ")
		expect(s, verb+" k 0", "*2\r\n") // in the place of the first
		if told, want := one(t, other, "INFO", "memory"), fmt.Sprint("used_memory:", 2*env.Store.Bytes()); !strings.Contains(told, want) {
			t.Errorf("%q, want %s", told, want)
		}
		limit = 3 * env.Store.Bytes() / 2
		expect(other, "BF.ADD k y", "-"+outOfMemory)
		expect(s, verb+" k 100000000", "*2\r\n:0\r\n")
		expect(other, "BF.ADD k y", ":")
		limit = 5 * env.Store.Bytes() / 2
		expect(s, verb+" k 0", "*2\r\n")
		s.Close()
		expect(other, verb+" k 0", "*2\r\n")
		expect(other, "RESET", "+RESET")
	}
	if n := env.held.Load(); n != 0 {
		t.Errorf("%d bytes are held for ever", n)
	}
}

// TestTransactionsDoNotWaitForThemselves has commands that wait for the partition.
func TestTransactionsDoNotWaitForThemselves(t *testing.T) {
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	s := NewSession(env, 1, "", "")
	for _, line := range []string{"SAVE", "DEBUG RELOAD", "SHUTDOWN", "EB.UNION a b", "EB.DIFF a b", "EB.INTERSECT a b"} {
		replies, err := ask(s, "MULTI", line, "EXEC")
		if got := strings.Join(replies, " "); err != nil || !strings.HasPrefix(got, "+OK -ERR Command not allowed inside a transaction -EXECABORT") {
			t.Errorf("%s: %s, %v", line, got, err)
		}
	}
}

// TestSavesDoNotOverlap asks for images while some are being written.
func TestSavesDoNotOverlap(t *testing.T) {
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	env.Images = func() ImageState { return ImageState{Running: true} }
	env.Save = func() error { return ErrSaving }
	s := NewSession(env, 1, "", "")
	if got := one(t, s, "SAVE") + one(t, s, "BGSAVE"); got != "-"+saving+"\r\n-"+saving+"\r\n" {
		t.Errorf("%q", got)
	}
}

// TestTransactionsSeeThemselves asks about keys that the same transaction has changed.
func TestTransactionsSeeThemselves(t *testing.T) {
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	s := NewSession(env, 1, "", "")
	if _, err := ask(s, "SET old 1", "SET gone 1"); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split("MULTI;BF.ADD k x;BF.INFO k ITEMS;CF.ADD c x;CF.INFO c;EB.INFO k;BF.DEBUG k;DEL gone;DBSIZE;KEYS *;RENAME old new;KEYS o*;FLUSHALL;DBSIZE;BF.ADD k y;KEYS *;DBSIZE;EXEC;DBSIZE", ";")
	replies, err := ask(s, lines...)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(replies[len(lines)-2:], " ")
	if strings.Contains(text, "-ERR") {
		t.Error(text)
	}
	for _, want := range []string{"*16 :1 *1 :1 :1 *16", "+Number of items inserted :1 +Number of items deleted :0", ":1 :3 *3 ", "+OK *0 +OK :0 :1 *1 $1 k :1 :1"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
}

// TestTransactionsCopyWhatTheyChanged dumps and copies keys that the same transaction has
// changed or made.
func TestTransactionsCopyWhatTheyChanged(t *testing.T) {
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	s := NewSession(env, 1, "", "")
	if _, err := ask(s, "BF.ADD b x", "CF.ADD c x", "CF.ADD c x", "EB.CREATE e DELETE", "EB.ADD e x", "CF.ADD e x"); err != nil {
		t.Fatal(err)
	}
	bytesBefore := env.Store.Bytes()
	lines := strings.Split("MULTI;BF.ADD b y;COPY b b2;CF.DEL c x;CF.ADD c y;COPY c c2;EB.ADD e y z;EB.DEL e z;CF.ADD e y;CF.ADD e y;COPY e e2;EXPIREAT e 9999999999;"+
		"SET t hello;COPY t t2;BF.ADD new a;COPY new new2;DUMP new;CF.ADD c2 x;BF.ADD b z;EXEC", ";")
	replies, err := ask(s, lines...)
	if err != nil || strings.Contains(strings.Join(replies, " "), "-ERR") {
		t.Fatal(replies, err)
	}
	for line, want := range map[string]string{
		"BF.MEXISTS b2 x y z": "*3 :1 :1 :0", "BF.CARD b2": ":2", "CF.COUNT c2 x": ":2", "CF.COUNT c2 y": ":1", "CF.COUNT c x": ":1",
		"EB.CONTAINS e2 x y z": "*3 :1 :1 :0", "CF.COUNT e2 x": ":2", "CF.COUNT e2 y": ":3", "GET t2": "$5 hello", "BF.CARD new2": ":1",
		"TTL e2": ":-1", "EXPIRETIME e": ":9999999999",
	} {
		if replies, err := ask(s, line); err != nil || strings.Join(replies, " ") != want {
			t.Errorf("%s: %q, want %s: %v", line, replies, want, err)
		}
	}
	if _, err := ask(s, "DEL b2 c2 e2 t t2 new new2"); err != nil {
		t.Fatal(err)
	}
	if after := env.Store.Bytes(); after < bytesBefore || after > bytesBefore+10_000 {
		t.Errorf("%d bytes, before %d: copies count", after, bytesBefore)
	}
}

// TestCopiesOfExactSets adds items several times, deletes them, and reads the log and dumps.
func TestCopiesOfExactSets(t *testing.T) {
	l := new(log.Memory)
	env := newEnv(t, l)
	if err := env.Settings.Set("cf-kind", "evergreen"); err != nil {
		t.Fatal(err)
	}
	s := NewSession(env, 1, "", "")
	lines := "CF.ADD c x;CF.ADD c x;CF.INSERT c ITEMS x y x;CF.DEL c x;CF.ADD c z;CF.ADD c z;CF.DEL c z;CF.DEL c z;CF.DEL c z;CF.ADD c w;CF.ADD c w;EB.DEL c w;CF.ADDNX c x;CF.COUNT c x"
	replies, err := ask(s, strings.Split(lines, ";")...)
	if got := strings.Join(replies, " "); err != nil || got != ":1 :1 *3 :1 :1 :1 :1 :1 :1 :1 :1 :0 :1 :1 *1 :1 :0 :3" {
		t.Errorf("%s, %v", got, err)
	}
	check := func(s *Session, name string) {
		t.Helper()
		for line, want := range map[string]string{"CF.COUNT " + name + " x": ":3", "CF.COUNT " + name + " y": ":1", "CF.COUNT " + name + " z": ":0", "CF.COUNT " + name + " w": ":0"} {
			if replies, err := ask(s, line); err != nil || replies[0] != want {
				t.Errorf("%s: %q, want %s: %v", line, replies, want, err)
			}
		}
		if replies, err := ask(s, "CF.INFO "+name); err != nil || replies[8] != ":4" {
			t.Errorf("items: %q %v", replies, err)
		}
	}
	check(s, "c")
	if _, err := ask(s, "COPY c d"); err != nil {
		t.Fatal(err)
	}
	check(s, "d")
	env.Partition.Close()
	again := newEnv(t, l)
	defer again.Partition.Close()
	s = NewSession(again, 1, "", "")
	check(s, "c")
	check(s, "d")
}

// TestRepliesAsRedisBloom has those that no transcript has.
func TestRepliesAsRedisBloom(t *testing.T) {
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	s := NewSession(env, 1, "", "")
	if _, err := ask(s, "BF.ADD bf x", "SET text x"); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"BF.RESERVE k bad 100 NONSCALING EXPANSION 2 more": "-ERR wrong number of arguments for 'bf.reserve' command",
		"BF.LOADCHUNK text 1 x":                            "-" + wrongType,
		"BF.LOADCHUNK bf 1 x":                              "-ERR received bad data",
		"BF.LOADCHUNK bf 1000 x":                           "-ERR invalid offset - no link found",
	} {
		if replies, err := ask(s, line); err != nil || replies[0] != want {
			t.Errorf("%s: %q, want %s: %v", line, replies, want, err)
		}
	}
}

// TestCountEnds adds an item more often than is counted: it stays.
func TestCountEnds(t *testing.T) {
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	s := NewSession(env, 1, "", "")
	for _, verb := range []string{"CF.ADD k x", "CF.DEL k x"} {
		for range 2100 {
			if _, err := ask(s, verb); err != nil {
				t.Fatal(err)
			}
		}
		if replies, err := ask(s, "CF.COUNT k x"); err != nil || replies[0] != ":2047" {
			t.Errorf("after %s: %q %v", verb, replies, err)
		}
	}
}

func TestInfoTellsHowImagesGo(t *testing.T) {
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	env.Images = func() ImageState { return ImageState{Last: time.Unix(12345, 0), Running: true, Failed: true} }
	replies, err := ask(NewSession(env, 1, "", ""), "INFO persistence stats")
	text := strings.Join(replies, " ")
	for _, want := range []string{"rdb_bgsave_in_progress:1", "rdb_last_save_time:12345", "rdb_last_bgsave_status:err", "aof_last_write_status:ok", "instantaneous_ops_per_sec:0"} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%s is not in %s: %v", want, text, err)
		}
	}
}

// TestQuestionsAreAnsweredTogether asks about several filters in one pipeline, with all that may
// stand between the questions.
func TestQuestionsAreAnsweredTogether(t *testing.T) {
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	s := NewSession(env, 1, "", "")
	if _, err := ask(s, "BF.MADD a x y", "BF.ADD b z", "CF.ADD c x"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ lines, want string }{
		{"BF.EXISTS a x;BF.EXISTS a z;BF.EXISTS b x;BF.EXISTS b z;CF.EXISTS c x;BF.EXISTS a y", ":1 :0 :0 :1 :1 :1"},
		{"BF.EXISTS a x;PING;BF.EXISTS none x;BF.EXISTS a;BF.EXISTS a y", ":1 +PONG :0 -ERR wrong number of arguments for 'bf.exists' command :1"},
		{"BF.EXISTS a x;CLIENT REPLY SKIP;BF.EXISTS a x;BF.EXISTS a z;BF.EXISTS a x", ":1 :0 :1"},
		{"CF.EXISTS c x;CF.DEL c x;CF.EXISTS c x;CF.ADD c x", ":1 :1 :0 :1"},
		{"BF.EXISTS a x;RENAME a d;BF.EXISTS a x;BF.EXISTS d x;RENAME d a", ":1 +OK :0 :1 +OK"},
		{"MULTI;BF.EXISTS a x;EXEC;BF.EXISTS a x", "+OK +QUEUED *1 :1 :1"},
	} {
		replies, err := ask(s, strings.Split(c.lines, ";")...)
		if got := strings.Join(replies, " "); err != nil || got != c.want {
			t.Errorf("%s: %q, want %q: %v", c.lines, got, c.want, err)
		}
	}
	var lines []string
	for i := range 3 * maxInquiry {
		lines = append(lines, "BF.EXISTS a "+string("xz"[i%2]))
	}
	replies, err := ask(s, lines...)
	for i, reply := range replies {
		if want := fmt.Sprint(":", 1-i%2); reply != want || err != nil {
			t.Fatalf("question %d: %s, want %s: %v", i, reply, want, err)
		}
	}
	replies, err = ask(s, "BF.EXISTS a x", "HELLO 3", "BF.EXISTS a x")
	if err != nil || replies[0] != ":1" || replies[1] != "%7" || replies[len(replies)-1] != "#t" {
		t.Errorf("%q %v", replies, err)
	}
}

// TestDumpInTransaction dumps a filter behind a change of the same transaction.
func TestDumpInTransaction(t *testing.T) {
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	s := NewSession(env, 1, "", "")
	one(t, s, "BF.ADD", "k", "a")
	for _, line := range []string{"MULTI", "BF.ADD k b", "BF.SCANDUMP k 0", "EXEC"} {
		one(t, s, toAny(strings.Fields(line))...)
	}
	one(t, s, "BF.LOADCHUNK", "copy", len(s.dump.data)+1, s.dump.data)
	if got := one(t, s, "BF.EXISTS", "copy", "b"); got != ":1\r\n" {
		t.Errorf("an item that was added before is not in the dump: %q", got)
	}
}

// TestIdleSessionsKeepNoFilter has a session ask about a filter and wait, and drops the filter.
func TestIdleSessionsKeepNoFilter(t *testing.T) {
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	idle, other := NewSession(env, 1, "", ""), NewSession(env, 2, "", "")
	one(t, other, "BF.RESERVE", "k", "0.01", 1000)
	one(t, idle, "BF.EXISTS", "k", "x")
	idle.End()
	filter := weak.Make(env.Store.Lookup([]byte("k"), 0))
	one(t, other, "DEL", "k")
	one(t, other, "BF.ADD", "other", "x") // the partition forgets, too
	runtime.GC()
	if filter.Value() != nil {
		t.Error("a filter that was dropped is kept in memory")
	}
	runtime.KeepAlive(idle)
}

// TestInfoTellsResidentMemory makes a filter that nothing is written to, unless its memory was
// in use before.
func TestInfoTellsResidentMemory(t *testing.T) {
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	s := NewSession(env, 1, "", "")
	one(t, s, "BF.RESERVE", "k", "0.01", 200_000_000, "NONSCALING")
	var told uint64
	for line := range strings.FieldsSeq(one(t, s, "INFO", "memory")) {
		_, _ = fmt.Sscanf(line, "used_memory_rss:%d", &told)
	}
	if resident, ok := mem.Resident(); told == 0 || ok && told > resident+64<<20 {
		t.Errorf("%d bytes, %d are resident", told, resident)
	}
}

// TestReplacedKeyIsNeverMissing asks for a key that is replaced all the time.
func TestReplacedKeyIsNeverMissing(t *testing.T) {
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	writer, reader := NewSession(env, 1, "", ""), NewSession(env, 2, "", "")
	if _, err := ask(writer, "SET k x", "SET source x"); err != nil {
		t.Fatal(err)
	}
	var done atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		defer done.Store(true)
		for i := range effort.Pick(1000, 20_000) {
			if _, err := ask(writer, fmt.Sprintf("SET k %d", i), "COPY source k REPLACE"); err != nil {
				t.Error(err)
			}
		}
	})
	for !done.Load() {
		if got, err := ask(reader, "EXISTS k"); err != nil || got[0] != ":1" {
			t.Error("the key is missing:", got, err)
			break
		}
	}
	wg.Wait()
}
