package router

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// spreadCommand returns a command about few sets, that may be spread.
func spreadCommand(rng *rand.Rand) string {
	key := func() string { return fmt.Sprintf("%c%d", "bc"[rng.IntN(2)], rng.IntN(3)) }
	items := func() (s string) {
		for range 1 + rng.IntN(6) {
			s += fmt.Sprintf(" item%d", rng.IntN(40))
		}
		return s
	}
	create := func() string {
		if rng.IntN(2) == 0 {
			return fmt.Sprintf("EB.CREATE b%d ITEMS 1000 FPR 0.0000001 NX SHARDS %d", rng.IntN(3), 1+rng.IntN(5))
		}
		return fmt.Sprintf("EB.CREATE c%d DELETE KIND evergreen EX 5000 SHARDS %d", rng.IntN(3), 1+rng.IntN(5))
	}
	if rng.IntN(6) == 0 {
		return create()
	}
	several := []string{
		"EB.ADD", "EB.EXISTS", "EB.CONTAINS", "EB.DEL", "BF.MADD", "BF.MEXISTS", "CF.MEXISTS",
	}
	single := []string{"BF.ADD", "BF.EXISTS", "CF.ADD", "CF.ADDNX", "CF.EXISTS", "CF.COUNT", "CF.DEL"}
	inserts := []string{"BF.INSERT %s NOCREATE ITEMS", "CF.INSERT %s NOCREATE CAPACITY 100 ITEMS", "CF.INSERTNX %s ITEMS", "BF.INSERT %s CAPACITY x ITEMS"}
	others := []string{
		"DEL %s", "TYPE %s", "PERSIST %s", "EXPIRE %s 700 NX", "EXPIRE %s -1", "PEXPIRE %s 900000 GT", "EXPIRE %s x", "BF.CARD %s", "GET %s", "EXISTS %s",
		"BF.RESERVE %s 0.1 10", "CF.COMPACT %s", "BF.INSERT %s ITEMS", "EB.ADD %s", "DBSIZE", "CLIENT REPLY SKIP", "HELLO 2", "HELLO 3", "EB.CREATE %s ITEMS 1000 NX",
	}
	fill := func(s string) string { return strings.ReplaceAll(s, "%s", key()) }
	switch rng.IntN(5) {
	case 0:
		return fill(others[rng.IntN(len(others))])
	case 1:
		return fill(single[rng.IntN(len(single))]+" %s item") + strconv.Itoa(rng.IntN(40))
	case 2:
		return fill(inserts[rng.IntN(len(inserts))]) + items()
	case 3:
		return []string{"DEL", "EXISTS", "UNLINK"}[rng.IntN(3)] + " " + key() + " " + key() + " " + key()
	}
	return fill(several[rng.IntN(len(several))]+" %s") + items()
}

var shardsOption = regexp.MustCompile(` SHARDS \d+`)

// TestSpreadSameAsWhole compares the replies about sets that are spread with those of a server
// that is alone, while leaders move. Two nodes take turns, so what each remembers is out of
// date.
func TestSpreadSameAsWhole(t *testing.T) {
	c := newCluster(t, 2, 5, nil)
	st, p := openPartition(t, new(log.Memory))
	defer p.Close()
	theirs := command.NewSession(newEnv(newHost(), st, p), 1, "", "")
	ours := []*Session{c.nodes[0].session(t), c.nodes[1].session(t)}
	rng := rand.New(rand.NewPCG(3, 3))
	spread := 0
	for range effort.PickVariant(150, 500, 10000) {
		lines := []string{fmt.Sprintf("HELLO %d", 2+rng.IntN(2))}
		for range 1 + rng.IntN(20) {
			lines = append(lines, spreadCommand(rng))
		}
		lines = append(lines, "CLIENT REPLY ON")
		got, err := run(ours[rng.IntN(2)], lines...)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range lines {
			lines[i] = shardsOption.ReplaceAllString(line, "")
		}
		want, err := run(theirs, lines...)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("%q: %q, want %q", lines, got, want)
		}
		for i, w := range want {
			if got[i] != w && !strings.Contains(w, "standalone") {
				t.Fatalf("%q:\nreply %d is %q, want %q\nall: %q", lines, i, got[i], w, got)
			}
		}
		c.move(rng.IntN(5), rng.IntN(2))
		if c.nodes[0].node.spread.view.Load() != nil {
			spread++
		}
	}
	if spread == 0 {
		t.Error("no set was spread")
	}
	cleared(t, c, ours[0], "b0 b1 b2 c0 c1 c2")
}

// cleared deletes sets and looks for parts that are left over.
func cleared(t *testing.T, c *testCluster, s *Session, names string) {
	t.Helper()
	if _, err := run(s, "DEL "+names); err != nil {
		t.Fatal(err)
	}
	for i, st := range c.stores {
		for name := range strings.FieldsSeq(names) {
			if e := st.Lookup([]byte(name), 0); e != nil {
				t.Errorf("partition %d has %+v of %s", i, e.Spec().Part, name)
			}
		}
		if n := st.Bytes(); n != 0 {
			t.Errorf("partition %d has %d bytes", i, n)
		}
	}
}

// TestPartsAreHidden has parts in all partitions, and one name.
func TestPartsAreHidden(t *testing.T) {
	c := newCluster(t, 2, 4, nil)
	s := c.nodes[0].session(t)
	want(t, s, "EB.CREATE a ITEMS 10000 SHARDS 4 EX 1000", "+OK", "EB.CREATE a SHARDS 2", "-ERR item exists", "EB.CREATE a NX SHARDS 3", ":0", "SET b 1", "+OK")
	want(t, s, "DBSIZE", ":2", "SCAN 0 COUNT 1000 MATCH a", "*2\r\n$1\r\n0\r\n*1\r\n$1\r\na", "CLUSTER COUNTKEYSINSLOT "+fmt.Sprint(Slot([]byte("a"))), ":1")
	replies, err := run(s, "KEYS a*", "DEL b", "RANDOMKEY", "INFO")
	if err != nil || replies[0] != "*1\r\n$1\r\na" || replies[2] != "$1\r\na" {
		t.Errorf("%q, %v", replies, err)
	}
	expiry := int64(0)
	for i, st := range c.stores {
		e := st.Lookup([]byte("a"), 0)
		index := (i + 4 - c.nodes[0].node.of([]byte("a"))) % 4
		if e == nil || e.Spec().Part.Count != 4 || int(e.Spec().Part.Index) != index || e.Spec().Capacity != 2650 {
			t.Fatalf("partition %d: %+v", i, e)
		}
		if expiry == 0 {
			expiry = e.Expiry()
		}
		if e.Expiry() != expiry || expiry == 0 {
			t.Errorf("partition %d ends at %d, another at %d", i, e.Expiry(), expiry)
		}
		if names, expiring := st.Len(); names != expiring || (names == 1) != (index == 0) {
			t.Errorf("partition %d has %d names, %d of them expire", i, names, expiring)
		}
	}
	want(t, s, "PERSIST a", ":1")
	for i, st := range c.stores {
		if e := st.Lookup([]byte("a"), 0); e.Expiry() != 0 {
			t.Errorf("partition %d ends at %d", i, e.Expiry())
		}
	}
	want(t, s, "PEXPIREAT a 1", ":1", "EXISTS a", ":0")
	cleared(t, c, s, "a")
}

// TestSpreadInfo describes a set by all its parts.
func TestSpreadInfo(t *testing.T) {
	c := newCluster(t, 2, 4, nil)
	s := c.nodes[0].session(t)
	var items strings.Builder
	for i := range 1000 {
		fmt.Fprint(&items, " ", i)
	}
	for _, version := range []string{"2", "3"} {
		for _, line := range []string{"EB.CREATE big ITEMS 4000 FPR 0.00001 SHARDS 4", "EB.CREATE deletes DELETE KIND evergreen SHARDS 3", "EB.ADD big" + items.String(), "EB.ADD deletes" + items.String()} {
			if replies, err := run(s, "HELLO "+version, line); err != nil || strings.Contains(replies[1], "-ERR") {
				t.Fatal(replies, err)
			}
		}
		want(t, s, "BF.CARD big", ":1000", "BF.INFO big EXPANSION", map[string]string{"2": "*1\r\n:2", "3": "%1\r\n+Expansion rate\r\n:2"}[version],
			"BF.INFO big ITEMS", map[string]string{"2": "*1\r\n:1000", "3": "%1\r\n+Number of items inserted\r\n:1000"}[version], "BF.INFO big nonsense", "-Invalid information value")
		replies, err := run(s, "EB.INFO big", "EB.INFO deletes", "BF.INFO big", "CF.INFO deletes", "MEMORY USAGE big")
		if err != nil {
			t.Fatal(err)
		}
		head := map[string]string{"2": "*26\r\n", "3": "%13\r\n"}[version]
		for i, parts := range [][]string{
			{head, "capacity\r\n:4380\r\n", "items\r\n:1000\r\n", "ttl\r\n:-1\r\n", "shards\r\n:4"},
			{head, "keys\r\n:1000\r\n", "items\r\n:1000\r\n", "shards\r\n:3"},
			{"+Capacity\r\n:4380\r\n", "+Number of items inserted\r\n:1000\r\n", "+Expansion rate\r\n:2"},
			{"+Number of items inserted\r\n:1000\r\n", "+Bucket size\r\n:2\r\n"},
		} {
			for _, part := range parts {
				if !strings.Contains(replies[i], part) {
					t.Errorf("RESP%s: %q is not in %q", version, part, replies[i])
				}
			}
		}
		bytes := int64(0)
		for _, st := range c.stores {
			bytes += st.Lookup([]byte("big"), 0).Bytes()
		}
		if replies[4] != ":"+fmt.Sprint(bytes) {
			t.Errorf("%s of %d bytes", replies[4], bytes)
		}
		want(t, s, "DEL big deletes", ":2")
	}
}

// TestNotSpread has commands refused that are about one partition.
func TestNotSpread(t *testing.T) {
	c := newCluster(t, 2, 4, nil)
	for _, n := range c.nodes {
		s := n.session(t)
		refused := func(command string) string {
			return "-ERR " + command + " is not possible: the set is spread over 4 partitions"
		}
		want(t, s, "EB.CREATE {t}a DELETE KIND evergreen SHARDS 4", "+OK", "EB.CREATE {t}b DELETE KIND evergreen SHARDS 4", "+OK", "EB.CREATE {t}c DELETE KIND evergreen SHARDS 2", "+OK",
			"RENAME {t}a {t}x", refused("rename"), "COPY {t}a {t}x", refused("copy"), "DUMP {t}a", refused("dump"), "SET {t}a 1", refused("set"), "EB.EXPORT {t}a 0", refused("eb.export"),
			"CF.SCANDUMP {t}a 0", refused("cf.scandump"), "RESTORE {t}a 0 x REPLACE", refused("restore"), "WATCH {t}a", refused("watch"),
			"EB.CREATE x SHARDS 5", "-ERR SHARDS: at most 4, the number of partitions", "EB.CREATE x SHARDS 0", "-ERR SHARDS: a number from 1 to the number of partitions",
			"EB.CREATE x SHARDS", "-ERR syntax error near 'SHARDS'", "EB.CREATE x KIND nonsense SHARDS 2", "-ERR KIND: a server has no kind 'nonsense'", "EXISTS x", ":0",
			"MULTI", "+OK", "EB.ADD {t}a 1", "+QUEUED", "SET {t}x 1", "+QUEUED", "EB.CREATE {t}y SHARDS 2", "+QUEUED", "EXEC",
			"*3\r\n-ERR the set is spread over 4 partitions: a transaction is about one partition\r\n+OK\r\n-ERR SHARDS is not allowed in a transaction: a transaction is about one partition",
		)
		alike := "-ERR the sets are not spread alike: create all of them, the destination too, with the same SHARDS"
		want(t, s, "EB.ADD {t}a 1 2 3 4 5", "*5\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1", "EB.ADD {t}b 4 5 6", "*3\r\n:1\r\n:1\r\n:1",
			"EB.UNION {t}a {t}b", ":6", "EB.DIFF {t}b {t}c", alike, "EB.UNION {t}z {t}b", alike, "EB.INTERSECT {t}a {t}b", ":3", "EB.DIFF {t}a {t}b", ":0", "EB.CONTAINS {t}b 3 4 5 6", "*4\r\n:0\r\n:1\r\n:1\r\n:1",
			"FLUSHALL", "+OK", "EB.ADD {t}a 1", "-ERR not found", "BF.ADD {t}a 1", ":1", "DBSIZE", ":1")
		cleared(t, c, s, "{t}a")
	}
}

// part has a command reach one part of a set, as routers send it.
func part(t *testing.T, s *Session, line string, p store.Part) string {
	t.Helper()
	c := s.node.call(line)
	c.part = p
	reply, err := s.ask1(portion{call: c, partition: s.node.partitionOfPart(c.args[1], p)})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(reply), "\r\n")
}

// TestBrokenOff has sets of which parts are missing, or left over.
func TestBrokenOff(t *testing.T) {
	c := newCluster(t, 2, 4, func(c *Config) { c.Patience = 20 * time.Millisecond })
	s, other := c.nodes[0].session(t), c.nodes[1].session(t)
	const missing = "-ERR a part of the set is missing, of 4: it is being created or deleted; if that broke off, delete the set and create it again"
	item := func(index uint16) string { // an item of a part
		for i := 0; ; i++ {
			if s := fmt.Sprint(i); store.PartOf([]byte(s), 4) == index {
				return s
			}
		}
	}
	want(t, s, "EB.CREATE k DELETE KIND evergreen SHARDS 4", "+OK", "EB.ADD k "+item(0)+" "+item(2), "*2\r\n:1\r\n:1")
	want(t, other, "EB.EXISTS k "+item(2), "*1\r\n:1")
	set, _ := s.node.spread.view.Load().find([]byte("k"))
	at := func(index uint16) store.Part { return store.Part{Count: 4, Index: index, Set: set.Set} }

	// A deletion ended before the first part: it can be done again.
	if reply := part(t, s, "DEL k", at(2)); reply != ":1" {
		t.Fatal(reply)
	}
	want(t, other, "EB.ADD k "+item(0)+" "+item(2), missing, "BF.CARD k", "-WRONGTYPE Operation against a key holding the wrong kind of value", "EB.INFO k", missing, "EXISTS k", ":1", "DEL k", ":1")
	cleared(t, c, s, "k")

	// Parts without the first one are replaced, and nodes that remember the set ask again.
	want(t, s, "EB.CREATE k DELETE KIND evergreen SHARDS 4", "+OK", "EB.ADD k "+item(0)+" "+item(2), "*2\r\n:1\r\n:1")
	set, _ = s.node.spread.view.Load().find([]byte("k"))
	want(t, other, "EB.EXISTS k "+item(2), "*1\r\n:1")
	if reply := part(t, s, "DEL k", at(0)); reply != ":1" {
		t.Fatal(reply)
	}
	want(t, s, "EB.CREATE k DELETE KIND evergreen SHARDS 2", "+OK", "EB.EXISTS k "+item(0)+" "+item(2), "*2\r\n:0\r\n:0")
	want(t, other, "EB.ADD k "+item(2), "*1\r\n:1", "DEL k", ":1", "EB.CREATE k DELETE KIND evergreen SHARDS 4", "+OK", "EB.EXISTS k "+item(1)+" "+item(3), "*2\r\n:0\r\n:0")
	want(t, s, "EB.ADD k "+item(2), "*1\r\n:1")
	cleared(t, c, s, "k")

	// A part that an earlier command sends late does not replace that of a later set.
	want(t, s, "EB.CREATE k DELETE KIND evergreen SHARDS 4", "+OK", "EB.ADD k "+item(1), "*1\r\n:1")
	if reply := part(t, s, "EB.CREATE k DELETE KIND evergreen", store.Part{Count: 3, Index: 1, Set: 1}); reply != "+OK" {
		t.Fatal(reply)
	}
	want(t, s, "EB.EXISTS k "+item(1), "*1\r\n:1")
	cleared(t, c, s, "k")

	// A partition has no leader: nothing is left of the set.
	home := s.node.of([]byte("k"))
	c.move((home+1)%4, noLeader)
	down := fmt.Sprintf("-CLUSTERDOWN no leader for partition %d; try again later", (home+1)%4)
	want(t, s, "EB.CREATE k SHARDS 4", down, "EB.ADD k "+item(1), "-ERR not found", "EB.EXISTS k "+item(2), "*1\r\n:0")
	c.move((home+1)%4, 0)
	want(t, s, "DEL k", ":0")
	cleared(t, c, s, "k")
}

// TestSpreadWithRedirects has a node that sends clients elsewhere carry out commands about all
// parts.
func TestSpreadWithRedirects(t *testing.T) {
	c := newCluster(t, 2, 2, func(c *Config) { c.Redirect = true })
	want(t, c.nodes[0].session(t), "EB.CREATE b SHARDS 2", "+OK", "EB.ADD b 1 2 3 4 5 6 7 8", "*8"+strings.Repeat("\r\n:1", 8), "SET a 1", "-MOVED 15495 "+c.nodes[1].address,
		"EB.EXISTS b 1 2 3 4 5 6 7 8", "*8"+strings.Repeat("\r\n:1", 8))
	want(t, c.nodes[1].session(t), "EB.EXISTS b 1", "-MOVED 3300 "+c.nodes[0].address)
}

// TestCreateAndDeleteAtOnce has the same set created and deleted by several clients: items that
// were added stay as long as the set, and no part is left over.
func TestCreateAndDeleteAtOnce(t *testing.T) {
	c := newCluster(t, 2, 4, nil)
	var wg sync.WaitGroup
	for client := range 4 {
		s := c.nodes[client%2].session(t)
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(client), 5))
			for range effort.PickVariant(100, 400, 4000) {
				lines := []string{
					fmt.Sprintf("EB.CREATE k ITEMS 1000 SHARDS %d", 1+rng.IntN(4)), "DEL k", "EB.ADD k 1 2 3 4 5 6", "EB.EXISTS k 1 2 3 4 5 6", "EB.INFO k", "EXPIRE k 1000",
				}
				line := lines[rng.IntN(len(lines))]
				replies, err := run(s, line)
				if err != nil || strings.Contains(replies[0], "missing") || strings.Contains(replies[0], command.Misrouted) {
					t.Errorf("%s: %q, %v", line, replies, err)
				}
			}
		})
	}
	wg.Wait()
	cleared(t, c, c.nodes[0].session(t), "k")
}

// TestSpreadElections is TestElections for sets that are spread.
func TestSpreadElections(t *testing.T) {
	nodes := newReal(t, 3, 3)
	s := nodes[0].session(t)
	for i := range 10 {
		want(t, s, fmt.Sprintf("EB.CREATE set%d DELETE KIND evergreen SHARDS %d", i, 2+i%2), "+OK")
	}
	stop := make(chan struct{})
	var movers, wg sync.WaitGroup
	movers.Go(func() { disturb(nodes, stop) })
	for client := range nodes {
		wg.Go(func() { addAndAsk(t, nodes, client) })
	}
	wg.Wait()
	close(stop)
	movers.Wait()
}

// TestMisrouted reads what leaders say, and refuses what they do not.
func TestMisrouted(t *testing.T) {
	c := call{args: args("EB.ADD k 1")}
	for reply, want := range map[string]string{
		"-MISROUTED 3 77 1\r\n": "{{3 0 77} 1} true <nil>", "-ERR no\r\n": "{{0 0 0} 0} false <nil>", "": "{{0 0 0} 0} false <nil>",
		"-MISROUTED 0 0 1\r\n": "{{0 0 0} 1} false " + errReply.Error(), "-MISROUTED 3 77 3\r\n": "{{3 0 77} 3} false " + errReply.Error(),
		"-MISROUTED 70000 1 1\r\n": "{{0 0 0} 1} false " + errReply.Error(), "-MISROUTED \r\n": "{{0 0 0} 0} false " + errReply.Error(),
	} {
		m, ok, err := c.strays([]byte(reply))
		if got := fmt.Sprint(m, ok, err); got != want {
			t.Errorf("%q: %s, want %s", reply, got, want)
		}
	}
}

// TestDirectoryIsBounded remembers few names, and none twice.
func TestDirectoryIsBounded(t *testing.T) {
	var d directory
	set := store.Part{Count: 2, Set: 1}
	for i := range 2*maxKnown + 10 {
		d.learn(fmt.Append(nil, i), set)
	}
	v := d.view.Load()
	d.learn(fmt.Append(nil, 2*maxKnown), set)
	d.forget([]byte("unknown"))
	if d.view.Load() != v || len(*v) != 10 {
		t.Errorf("%d names", len(*v))
	}
}
