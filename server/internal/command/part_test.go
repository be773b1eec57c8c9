package command

import (
	"fmt"
	"testing"

	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// askPart runs commands about a part of a set.
func askPart(t *testing.T, s *Session, p store.Part, lines ...string) (replies string) {
	t.Helper()
	s.Begin()
	for _, line := range lines {
		if err := s.TakePart(p, s.Lookup(words(line)), words(line)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	s.End()
	replies = string(s.Writer().Bytes())
	s.Writer().Reset()
	return replies
}

// TestParts has a partition refuse commands about parts that it does not have, and nothing be
// made or changed by them.
func TestParts(t *testing.T) {
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	s := NewSession(env, 1, "", "")
	whole, part := store.Part{}, func(index uint16, set uint64) store.Part { return store.Part{Count: 3, Index: index, Set: set} }
	const first = "-MISROUTED 3 2 1\r\n" // the set is entry 2
	for _, step := range []struct {
		part       store.Part
		line, want string
	}{
		{whole, "EB.CREATE k SHARDS 2", "-ERR SHARDS: this server is alone, and a set is spread over the partitions of a cluster: leave it out\r\n"},
		{whole, "EB.CREATE k SHARDS 1", "+OK\r\n"},
		{part(0, 1), "BF.ADD k x", "-MISROUTED 0 0 1\r\n"},
		{part(0, 1), "BF.ADD missing x", "-MISROUTED 0 0 1\r\n"},
		{whole, "EXISTS missing", ":0\r\n"},
		{part(0, 0), "EB.CREATE p ITEMS 900", ":2\r\n"},
		{part(0, 0), "EB.CREATE p NX", ":0\r\n"},
		{whole, "EB.CREATE p", "-ERR item exists\r\n"},
		{whole, "BF.ADD p x", first},
		{whole, "BF.EXISTS p x", first},
		{whole, "DEL k p", "-MISROUTED 3 2 2\r\n"},
		{whole, "EXISTS k", ":1\r\n"},
		{part(0, 1), "BF.ADD p x", first},
		{part(1, 2), "BF.ADD p x", first},
		{part(0, 0), "BF.EXISTS p x", ":0\r\n"},
		{part(0, 2), "BF.ADD p x", ":1\r\n"},
		{part(0, 2), "BF.EXISTS p x", ":1\r\n"},
		{part(2, 9), "EB.CREATE hidden", ":9\r\n"},
		{part(2, 9), "EB.ADD hidden x", "*1\r\n:1\r\n"},
		{part(2, 9), "EB.CREATE hidden", "+OK\r\n"},
		{part(2, 8), "EB.CREATE hidden", "+OK\r\n"},
		{part(2, 9), "EB.EXISTS hidden x", "*1\r\n:1\r\n"},
		{part(1, 10), "EB.CREATE hidden", ":10\r\n"},
		{part(1, 10), "EB.EXISTS hidden x", "*1\r\n:0\r\n"},
		{whole, "DBSIZE", ":2\r\n"},
	} {
		if got := askPart(t, s, step.part, step.line); got != step.want {
			t.Errorf("%s of %+v: %q, want %q", step.line, step.part, got, step.want)
		}
	}
	if got := askPart(t, s, whole, "MULTI", "EB.ADD p x", "KEYS *", "EXEC"); got != "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n-ERR the set is spread over 3 partitions: a transaction is about one partition\r\n*2\r\n$1\r\nk\r\n$1\r\np\r\n" &&
		got != "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n-ERR the set is spread over 3 partitions: a transaction is about one partition\r\n*2\r\n$1\r\np\r\n$1\r\nk\r\n" {
		t.Errorf("%q", got)
	}
	if e := env.Store.Lookup([]byte("p"), 0); e.Spec().Capacity != store.Share(900, 3) {
		t.Error(fmt.Sprint(e.Spec()))
	}
	b, err := dumpOf(env.Store.Lookup([]byte("p"), 0))
	if err != nil {
		t.Fatal(err)
	}
	if got := one(t, s, "RESTORE", "r", "0", b); got != "-ERR DUMP payload version or checksum are wrong\r\n" {
		t.Errorf("a part was restored: %q", got)
	}
}
