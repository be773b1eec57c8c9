package command

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/rebloom/rebloomtest"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// vocabulary are the words that random commands are made of.
func vocabulary(t *Table) (names, args []string) {
	for _, cmd := range t.sorted {
		switch cmd.Name {
		case "shutdown", "save", "bgsave", "debug", "quit", "auth":
			continue // they need a whole server
		}
		for _, sub := range cmd.Subs {
			names = append(names, strings.Replace(sub.Name, "|", " ", 1))
		}
		if cmd.Run != nil {
			names = append(names, cmd.Name)
		}
	}
	args = strings.Fields(`k l m s t 0 1 2 -1 100 1000000 9223372036854775807 -9223372036854775808 0.01 1e-300 nan inf 1k 1% x
		ITEMS CAPACITY ERROR EXPANSION NOCREATE NONSCALING BUCKETSIZE MAXITERATIONS NX XX GT LT EX PX EXAT PXAT KEEPTTL GET REPLACE
		ABSTTL MATCH COUNT TYPE * ? [a-z] [^ \ ID ADDR SKIPME yes no ON OFF FPR DELETE KNOWNDELETES GROW MERGE SPARE fast total KIND
		bloom blocked scalable partition evergreen perennial dleft counting AUTH SETNAME 3 default FILTERBY PATTERN DB ASYNC SYNC
		MBbloom-- MBbloomCF string SAMPLES maxmemory timeout bf-kind scalable cf-kind`)
	return names, append(args, "", "\r\n", "\x00\xff", strings.Repeat("y", 300))
}

// TestRandomCommands runs commands of random words in pipelines and transactions: every
// command has one reply, and nothing panics. Then the log is read into another store.
func TestRandomCommands(t *testing.T) {
	l := new(log.Memory)
	env := newEnv(t, l)
	names, args := vocabulary(env.Table)
	for seed := range uint64(effort.PickVariant(5, 40, 2000)) {
		rng := rand.New(rand.NewPCG(seed, 6))
		s := NewSession(env, 1, "", "")
		for range 50 {
			s.Begin()
			for range 1 + rng.IntN(20) {
				var line [][]byte
				for w := range strings.FieldsSeq(names[rng.IntN(len(names))]) {
					line = append(line, []byte(w))
				}
				for range rng.IntN(7) {
					line = append(line, []byte(args[rng.IntN(len(args))]))
				}
				if strings.HasPrefix(string(line[0]), "client") && rng.IntN(10) > 0 {
					continue // CLIENT REPLY OFF makes the rest silent
				}
				if err := s.Take(line); err != nil {
					t.Fatalf("seed %d: %q: %v", seed, line, err)
				}
			}
			if err := s.Flush(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			s.End()
			s.w.Reset()
			if s.closing {
				break
			}
		}
	}
	env.Partition.Close()
	again := newEnv(t, l)
	defer again.Partition.Close()
	a, _ := env.Store.Len()
	if b, _ := again.Store.Len(); a != b {
		t.Errorf("%d entries, replayed %d", a, b)
	}
	env.Store.Scan(0, 1<<30, 0, func(name string, e *store.Entry) {
		o := again.Store.Lookup([]byte(name), 0)
		if o == nil || o.Number() != e.Number() || o.Items() != e.Items() || o.Version() != e.Version() || o.Expiry() != e.Expiry() {
			t.Errorf("%q is not the same when it is replayed: %v", name, fmt.Sprint(e.Number(), e.Items(), e.Version(), e.Expiry(), o != nil))
		}
	})
}

// FuzzRestore takes bytes from anywhere: a dump, or a file in chunks.
func FuzzRestore(f *testing.F) {
	l := new(log.Memory)
	env := newEnv(f, l)
	f.Cleanup(env.Partition.Close)
	s := NewSession(env, 1, "", "")
	for _, line := range []string{"BF.MADD bf a b c", "CF.ADD cf a", "EB.CREATE eb DELETE", "EB.ADD eb a b", "SET t hello", "BF.RESERVE r 0.01 100", "EB.CREATE copies DELETE", "CF.ADD copies a", "CF.ADD copies a"} {
		if _, err := ask(s, line); err != nil {
			f.Fatal(err)
		}
	}
	for _, name := range []string{"bf", "cf", "eb", "t", "r", "copies"} {
		b, err := dumpOf(env.Store.Lookup([]byte(name), 0))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	bloom, cuckoo := rebloomtest.NewBloom(0.1, 5, 2, false), rebloomtest.NewCuckoo(8, 2, 1)
	cuckoo.Add([]byte("item"))
	for kind, d := range map[store.Type]rebloomtest.Dump{store.Bloom: bloom.Dump(), store.Cuckoo: cuckoo.Dump()} {
		spec, content, err := env.Store.FromRedis(kind, d.Header, d.Data())
		if err != nil {
			f.Fatal(err)
		}
		e, err := env.Store.Adopt(99, "redis", spec, content)
		if err != nil {
			f.Fatal(err)
		}
		b, err := dumpOf(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := NewSession(env, 1, "", "")
		s.Begin()
		for _, args := range [][][]byte{
			{[]byte("RESTORE"), []byte("x"), []byte("0"), reseal(b), []byte("REPLACE")},
			{[]byte("EB.ADD"), []byte("x"), []byte("item")},
			{[]byte("EB.EXISTS"), []byte("x"), []byte("item")},
			{[]byte("EB.INFO"), []byte("x")},
			{[]byte("EB.IMPORT"), []byte("y"), fmt.Append(nil, len(b)+1), b},
			{[]byte("EB.IMPORT"), []byte("y"), []byte("0"), nil},
			{[]byte("DEL"), []byte("x"), []byte("y")},
		} {
			if err := s.Take(args); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
	})
}

// reseal gives bytes the length and the checksum of a dump, so that what is inside is
// looked at.
func reseal(b []byte) []byte {
	if len(b) < dumpHead+4 {
		return b
	}
	b = bytes.Clone(b)
	copy(b, dumpMagic)
	binary.LittleEndian.PutUint64(b[8:], uint64(len(b)-16))
	n := len(b) - 4
	binary.LittleEndian.PutUint32(b[n:], crc32.Checksum(b[:n], castagnoli))
	return b
}
