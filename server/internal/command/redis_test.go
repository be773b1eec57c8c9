package command

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/rebloom/rebloomtest"
)

// one runs a command and returns its reply as it is.
func one(t *testing.T, s *Session, args ...any) string {
	t.Helper()
	var words [][]byte
	for _, a := range args {
		if b, ok := a.([]byte); ok {
			words = append(words, b)
		} else {
			words = append(words, fmt.Append(nil, a))
		}
	}
	s.Begin()
	if err := s.Take(words); err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	defer s.w.Reset()
	return string(bytes.Clone(s.w.Bytes()))
}

// loadDump sends what SCANDUMP of RedisBloom returns, in pieces.
func loadDump(t *testing.T, s *Session, verb, name string, d rebloomtest.Dump) {
	t.Helper()
	if got := one(t, s, verb, name, 1, d.Header); got != "+OK\r\n" {
		t.Fatalf("%s: header: %q", name, got)
	}
	data := d.Data()
	for at := 0; at < len(data); {
		chunk := data[at:min(at+1000, len(data))]
		at += len(chunk)
		if got := one(t, s, verb, name, at+1, chunk); got != "+OK\r\n" {
			t.Fatalf("%s: up to %d: %q", name, at, got)
		}
	}
}

// TestFiltersOfRedisBloom loads filters, changes them, and reads the log and dumps again.
func TestFiltersOfRedisBloom(t *testing.T) {
	bloom, fixed, cuckoo := rebloomtest.NewBloom(0.01, 100, 2, false), rebloomtest.NewBloom(0.01, 1000, 2, true), rebloomtest.NewCuckoo(256, 2, 1)
	const old, all = 600, 1000
	for i := range old {
		for _, w := range []interface{ Add([]byte) bool }{bloom, fixed} {
			w.Add(fmt.Append(nil, "item-", i))
		}
		cuckoo.Add(fmt.Append(nil, "item-", i))
	}
	l := new(log.Memory)
	env := newEnv(t, l)
	s := NewSession(env, 1, "", "")
	loadDump(t, s, "BF.LOADCHUNK", "bf", bloom.Dump())
	loadDump(t, s, "BF.LOADCHUNK", "fixed", fixed.Dump())
	loadDump(t, s, "CF.LOADCHUNK", "cf", cuckoo.Dump())
	for line, want := range map[string]string{
		"BF.INFO bf CAPACITY":            "*1\r\n:700\r\n",
		"BF.INFO bf FILTERS":             "*1\r\n:3\r\n",
		"BF.INFO bf EXPANSION":           "*1\r\n:2\r\n",
		"BF.CARD bf":                     ":" + strconv.Itoa(int(bloom.Items())) + "\r\n",
		"BF.INFO fixed":                  "Expansion rate\r\n$-1\r\n",
		"CF.INFO cf":                     "+Number of items inserted\r\n:600\r\n+Number of items deleted\r\n:0\r\n+Bucket size\r\n:2\r\n+Expansion rate\r\n:1\r\n",
		"CF.DEBUG cf":                    "bktsize:2 buckets:128 items:600 deletes:0 filters:4 max_iterations:20 expansion:1",
		"CF.COUNT cf item-7":             ":1\r\n",
		"BF.ADD bf item-7":               ":0\r\n",
		"EB.CONTAINS bf x":               "cannot answer exactly",
		"EB.EXPORT cf 0":                 "cannot be exported as a file",
		"EB.UNION bf cf":                 "does not store its keys",
		"BF.LOADCHUNK bf 1 x":            "-ERR received bad data\r\n",
		"CF.LOADCHUNK cf 1 x":            "-ERR item exists\r\n",
		"CF.LOADCHUNK new 1 x":           "-Invalid header\r\n",
		"BF.LOADCHUNK new 9 x":           "-ERR not found\r\n",
		"EB.CREATE exact KIND evergreen": "+OK\r\n",
	} {
		if got := one(t, s, toAny(strings.Fields(line))...); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	one(t, s, "EB.ADD", "exact", "x")
	if got := one(t, s, "EB.UNION", "cf", "exact"); !strings.Contains(got, "different hashes") {
		t.Error("keys of one hash are added to a set of another:", got)
	}
	for i := old; i < all; i++ {
		one(t, s, "BF.ADD", "bf", fmt.Sprint("item-", i))
		one(t, s, "BF.ADD", "fixed", fmt.Sprint("item-", i))
		one(t, s, "CF.ADD", "cf", fmt.Sprint("item-", i))
	}
	one(t, s, "CF.DEL", "cf", "item-7")
	one(t, s, "CF.ADD", "cf", "item-8")
	for _, name := range []string{"bf", "cf"} {
		if got := one(t, s, "COPY", name, name+"2"); got != ":1\r\n" {
			t.Error(name, got)
		}
	}
	env.Partition.Close()
	again := newEnv(t, l)
	defer again.Partition.Close()
	s = NewSession(again, 1, "", "")
	for i := range all {
		for _, q := range [][2]string{{"BF.EXISTS", "bf"}, {"BF.EXISTS", "bf2"}, {"BF.EXISTS", "fixed"}, {"CF.EXISTS", "cf"}, {"CF.EXISTS", "cf2"}} {
			if got := one(t, s, q[0], q[1], fmt.Sprint("item-", i)); got != ":1\r\n" && (q[0] == "BF.EXISTS" || i != 7) {
				t.Fatalf("%v item-%d: %q", q, i, got)
			}
		}
	}
	found := 0
	for i := range 10_000 {
		if one(t, s, "BF.EXISTS", "bf", i) == ":1\r\n" {
			found++
		}
	}
	if found > 150 {
		t.Errorf("%d false positives of 10,000 at 1 %%", found)
	}
	if got := one(t, s, "CF.COUNT", "cf", "item-8") + one(t, s, "BF.INFO", "bf", "FILTERS"); !strings.HasSuffix(got, "*1\r\n:4\r\n") || got[1] < '2' {
		t.Errorf("%q", got)
	}
	for i := all; ; i++ {
		if got := one(t, s, "BF.ADD", "fixed", fmt.Sprint("item-", i)); got == "-ERR non scaling filter is full\r\n" {
			break
		} else if i > all+100 {
			t.Fatal("a filter that does not scale is never full")
		}
	}
}

func toAny(words []string) (out []any) {
	for _, w := range words {
		out = append(out, w)
	}
	return out
}

// TestChunksOfRedisBloomMustFollow sends them in another order, too many and too few.
func TestChunksOfRedisBloomMustFollow(t *testing.T) {
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	s := NewSession(env, 1, "", "")
	d := rebloomtest.NewBloom(0.01, 100, 2, false).Dump()
	data := d.Data()
	one(t, s, "BF.LOADCHUNK", "k", 1, d.Header)
	for _, c := range []struct {
		cursor int
		chunk  []byte
		want   string
	}{
		{len(data) + 1, data[100:], "-ERR invalid offset - no link found\r\n"},
		{len(data) + 2, append(data[:len(data):len(data)], 0), "-ERR invalid chunk - Too big for current filter\r\n"},
		{101, data[:100], "+OK\r\n"},
		{101, data[:100], "-ERR invalid offset - no link found\r\n"},
		{len(data) + 1, data[100:], "+OK\r\n"},
		{len(data) + 1, data[100:], "-ERR invalid offset - no link found\r\n"},
	} {
		if got := one(t, s, "BF.LOADCHUNK", "k", c.cursor, c.chunk); got != c.want {
			t.Errorf("%d bytes with cursor %d: %q, want %q", len(c.chunk), c.cursor, got, c.want)
		}
	}
	if got := one(t, s, "EXISTS", "k"); got != ":1\r\n" {
		t.Errorf("%q", got)
	}
}

// TestMemoryFollowsBytesOfRedisBloom sends headers that promise more than the bytes hold, and
// makes a filter grow by one item.
func TestMemoryFollowsBytesOfRedisBloom(t *testing.T) {
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	s := NewSession(env, 1, "", "")
	usage := func(name string) int {
		t.Helper()
		n, err := strconv.Atoi(strings.Trim(one(t, s, "MEMORY", "USAGE", name), ":\r\n"))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	d := rebloomtest.NewBloom(0.01, 100, 2, true).Dump()
	binary.LittleEndian.PutUint64(d.Header[20+44:], 1<<24) // entries
	loadDump(t, s, "BF.LOADCHUNK", "many", d)
	if n := usage("many"); n > 10_000 {
		t.Errorf("a filter of %d bytes takes %d", len(d.Data()), n)
	}
	cuckoo := rebloomtest.NewCuckoo(2, 1, 1<<14)
	cuckoo.Add([]byte("x"))
	d = cuckoo.Dump()
	copy(d.Parts[0], "full")
	loadDump(t, s, "CF.LOADCHUNK", "grows", d)
	before := usage("grows")
	one(t, s, "CF.ADD", "grows", "x")
	if after := usage("grows"); after < before+2<<14 {
		t.Errorf("%d bytes before a new table, %d with it", before, after)
	}
}

// TestChunksThatCannotFit sends the beginning of filters that there is no memory for: others
// may still add.
func TestChunksThatCannotFit(t *testing.T) {
	env := newEnv(t, new(log.Memory))
	defer env.Partition.Close()
	env.MaxMemory = func() int64 { return 1 << 16 }
	s := NewSession(env, 1, "", "")
	header := rebloomtest.NewBloom(0.01, 100_000, 2, false).Dump().Header
	own := binary.LittleEndian.AppendUint64([]byte(dumpMagic), 1<<40)
	for _, c := range [][]any{
		{"BF.LOADCHUNK", "k", 1, header},
		{"BF.LOADCHUNK", "k", 1 + dumpHead, append(own, make([]byte, dumpHead-len(own))...)},
	} {
		if got := one(t, s, c...); got != "-"+outOfMemory+"\r\n" {
			t.Errorf("%q", got)
		}
		if got := one(t, s, "BF.LOADCHUNK", "k", 1+1<<16, make([]byte, 1<<16)); got != "-ERR not found\r\n" {
			t.Errorf("%q", got)
		}
	}
	if got := one(t, s, "BF.ADD", "other", "x"); got != ":1\r\n" {
		t.Errorf("%q", got)
	}
}
