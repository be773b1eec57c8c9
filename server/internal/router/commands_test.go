package router

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/command"
)

// The keys of these tests: with 2 partitions, "a" and "d" are in the second, "b" and "c" in the
// first.

// TestSeveralPartitions has commands about several partitions, led by two nodes.
func TestSeveralPartitions(t *testing.T) {
	c := newCluster(t, 2, 2, nil)
	for _, n := range c.nodes {
		s := n.session(t)
		want(t, s,
			"SET a 1", "+OK", "SET b 2", "+OK", "SET d 3", "+OK", "EXISTS a b c d", ":3", "DBSIZE", ":3",
			"RENAME a b", "-"+crossSlot, "RENAME a d", "+OK", "DEL a b d", ":2", "RANDOMKEY", "$-1", "KEYS *", "*0",
			"SCAN x", "-ERR invalid cursor", "SCAN 0", "*2\r\n$1\r\n0\r\n*0", "DEL", "-ERR wrong number of arguments for 'del' command",
			"BF.ADD a 1", ":1", "BF.ADD b 1", ":1", "FLUSHALL", "+OK", "DBSIZE", ":0", "FLUSHALL x", "-ERR syntax error",
			"SAVE", "+OK", "EB.CREATE a DELETE", "+OK", "EB.ADD a x y", "*2\r\n:1\r\n:1", "EB.UNION d a", ":2", "EB.UNION b a", "-"+crossSlot, "DEL a d", ":2",
		)
		want(t, s,
			"MULTI", "+OK", "SET a 1", "+QUEUED", "SET b 1", "-"+crossSlot, "EXEC", "-EXECABORT Transaction discarded because of previous errors.",
			"MULTI", "+OK", "DBSIZE", "-ERR dbsize is not allowed in a transaction of a cluster: a transaction is about one partition", "DISCARD", "+OK",
			"MULTI", "+OK", "PING", "+QUEUED", "EXEC", "*1\r\n+PONG", "EXEC", "-ERR EXEC without MULTI",
			"WATCH a b", "-"+crossSlot, "WATCH a", "+OK", "WATCH b", "-"+crossSlot, "SET a 1", "+OK", "MULTI", "+OK", "SET b 1", "-"+crossSlot, "DISCARD", "+OK",
			"WATCH a", "+OK", "SET a 2", "+OK", "MULTI", "+OK", "PING", "+QUEUED", "EXEC", "*-1", "DEL a", ":1",
		)
		replies, err := run(s, "CLIENT REPLY OFF", "SET a 1", "GET b", "DBSIZE", "DEL a b", "CLIENT REPLY SKIP", "CLIENT REPLY ON", "GET a")
		if err != nil || fmt.Sprint(replies) != "[+OK $-1]" {
			t.Errorf("%q, %v", replies, err)
		}
		want(t, s, "HELLO 2 SETNAME me", helloReply(s), "CLIENT GETNAME", "$2\r\nme")
	}
}

func helloReply(s *Session) string {
	return fmt.Sprintf("*14\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.4.1\r\n$5\r\nproto\r\n:2\r\n$2\r\nid\r\n:%d\r\n$4\r\nmode\r\n$7\r\ncluster\r\n$4\r\nrole\r\n$6\r\nmaster\r\n"+
		"$7\r\nmodules\r\n*1\r\n*8\r\n$4\r\nname\r\n$2\r\nbf\r\n$3\r\nver\r\n:20800\r\n$4\r\npath\r\n$10\r\neverbloom \r\n$4\r\nargs\r\n*0", s.Home().ID)
}

// TestRedirect has clients sent to the leader.
func TestRedirect(t *testing.T) {
	c := newCluster(t, 2, 2, func(c *Config) { c.Redirect = true })
	here, there := c.nodes[0], c.nodes[1]
	s := here.session(t)
	want(t, s,
		"SET b 1", "+OK", "SET a 1", "-MOVED 15495 "+there.address, "EXISTS a b", ":1", "DBSIZE", ":1",
		"MULTI", "+OK", "SET a 1", "-MOVED 15495 "+there.address, "EXEC", "-EXECABORT Transaction discarded because of previous errors.",
		"WATCH a", "-MOVED 15495 "+there.address, "UNWATCH", "+OK",
	)
	port := func(n *testNode) string { return strings.TrimPrefix(n.address, "127.0.0.1:") }
	node := func(n *testNode) string {
		return "*4\r\n$9\r\n127.0.0.1\r\n:" + port(n) + "\r\n$40\r\n" + nodeID(n.Self()) + "\r\n*0\r\n"
	}
	shard := func(n *testNode, slots string) string {
		return "*4\r\n$5\r\nslots\r\n*2\r\n" + slots + "$5\r\nnodes\r\n*1\r\n*14\r\n$2\r\nid\r\n$40\r\n" + nodeID(n.Self()) + "\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n$8\r\nendpoint\r\n$9\r\n127.0.0.1\r\n" +
			"$4\r\nrole\r\n$6\r\nmaster\r\n$6\r\nhealth\r\n$6\r\nonline\r\n$4\r\nport\r\n:" + port(n) + "\r\n$18\r\nreplication-offset\r\n:0\r\n"
	}
	want(t, s,
		"CLUSTER SLOTS", strings.TrimSuffix("*2\r\n*4\r\n:0\r\n:8191\r\n"+node(here)+node(there)+"*4\r\n:8192\r\n:16383\r\n"+node(there)+node(here), "\r\n"),
		"CLUSTER SHARDS", strings.TrimSuffix("*2\r\n"+shard(here, ":0\r\n:8191\r\n")+shard(there, ":8192\r\n:16383\r\n"), "\r\n"),
		"CLUSTER NODES", bulk(nodeID("n0")+" "+here.address+"@0 myself,master - 0 0 0 connected 0-8191\n"+nodeID("n1")+" "+there.address+"@0 master - 0 0 0 connected 8192-16383\n"),
		"CLUSTER INFO", bulk("cluster_state:ok\r\ncluster_slots_assigned:16384\r\ncluster_slots_ok:16384\r\ncluster_slots_pfail:0\r\ncluster_slots_fail:0\r\ncluster_known_nodes:2\r\ncluster_size:2\r\ncluster_current_epoch:1\r\ncluster_my_epoch:1\r\n"),
		"CLUSTER MYID", bulk("d8273e2f4a7c0a59554544c6605cdd8b117848aa"), "CLUSTER KEYSLOT foo", ":12182",
		"CLUSTER COUNTKEYSINSLOT 3300", ":1", "CLUSTER GETKEYSINSLOT 3300 10", "*1\r\n$1\r\nb", "CLUSTER COUNTKEYSINSLOT 15495", ":0", "CLUSTER COUNTKEYSINSLOT 16384", "-ERR Invalid slot",
		"CLUSTER RESET", "-ERR unknown subcommand 'RESET'. Try CLUSTER HELP.", "CLUSTER SLOTS x", "-ERR wrong number of arguments for 'cluster|slots' command",
	)
	there.without.Store(true)
	want(t, s, "CLUSTER SLOTS", strings.TrimSuffix("*2\r\n*3\r\n:0\r\n:8191\r\n"+node(here)+"*4\r\n:8192\r\n:16383\r\n"+node(there)+node(here), "\r\n"))
	there.without.Store(false)
	c.move(1, noLeader)
	if replies, err := run(s, "CLUSTER INFO"); err != nil || !strings.Contains(replies[0], "cluster_state:fail") || !strings.Contains(replies[0], "slots_fail:8192") {
		t.Errorf("%q, %v", replies, err)
	}
}

func bulk(s string) string { return fmt.Sprintf("$%d\r\n%s", len(s), s) }

// TestForwardingTellsOneNode has cluster clients of a node that forwards talk to it alone.
func TestForwardingTellsOneNode(t *testing.T) {
	c := newCluster(t, 2, 4, nil)
	replies, err := run(c.nodes[1].session(t), "CLUSTER SLOTS")
	if err != nil || !strings.HasPrefix(replies[0], "*1\r\n*3\r\n:0\r\n:16383\r\n") || !strings.Contains(replies[0], nodeID("n1")) {
		t.Errorf("%q, %v", replies, err)
	}
}

// TestReadOnly has reads answered by a copy, and by nothing else.
func TestReadOnly(t *testing.T) {
	c := newCluster(t, 2, 2, func(c *Config) { c.Patience = time.Millisecond })
	s := c.nodes[0].session(t)
	want(t, s, "SET a 1", "+OK")
	c.move(1, noLeader)
	down := "-CLUSTERDOWN no leader for partition 1; try again later"
	want(t, s, "GET a", down, "READONLY", "+OK", "GET a", "$1\r\n1", "BF.EXISTS a x", ":0", "SET b 1", "+OK")
	want(t, s, "SET a 2", down, "GET a", down)
	c.nodes[0].without.Store(true)
	want(t, s, "GET a", down)
	c.nodes[0].without.Store(false)
	want(t, s, "READWRITE", "+OK", "GET a", down, "READONLY", "+OK", "RESET", "+RESET", "GET a", down)
	c.move(1, 1)
	want(t, s, "READONLY", "+OK", "WATCH a", "+OK", "MULTI", "+OK", "GET a", "+QUEUED", "EXEC", "*1\r\n$1\r\n1")
}

// TestWait counts nodes.
func TestWait(t *testing.T) {
	c := newCluster(t, 3, 2, nil)
	s := c.nodes[0].session(t)
	want(t, s, "WAIT 2 1", ":2", "SET a 1", "+OK", "WAIT 0 0", ":0", "WAIT 1 2", ":0", "WAIT x 0", "-ERR value is not an integer or out of range", "WAIT 1 -1", "-ERR timeout is negative")
	go func() {
		time.Sleep(20 * time.Millisecond)
		c.applied.Store(2)
	}()
	want(t, s, "WAIT 2 0", ":2")
	if s.records[1] == 0 || s.records[0] != 0 {
		t.Errorf("records %d", s.records)
	}
	go func() {
		time.Sleep(20 * time.Millisecond)
		c.nodes[0].node.Close()
	}()
	if replies, err := run(s, "WAIT 3 0"); err == nil {
		t.Errorf("%q though the node ended", replies)
	}
}

// TestWaitsShareQuestions has many sessions wait at once.
func TestWaitsShareQuestions(t *testing.T) {
	c := newCluster(t, 3, 2, nil)
	n := c.nodes[0]
	var wg sync.WaitGroup
	for range 8 {
		s := n.session(t)
		want(t, s, "SET a 1", "+OK")
		wg.Go(func() {
			if replies, err := run(s, "WAIT 2 0"); err != nil || replies[0] != ":2" {
				t.Errorf("%q, %v", replies, err)
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	c.applied.Store(2)
	wg.Wait()
	if n.twice.Load() {
		t.Error("sessions ask at the same time")
	}
}

// TestWaitForSilentNodes has a node not answer how far it is: the others count, and no wait
// takes longer than it may.
func TestWaitForSilentNodes(t *testing.T) {
	c := newCluster(t, 3, 2, nil)
	s := c.nodes[0].session(t)
	c.applied.Store(1)
	c.nodes[0].silent.Store(true)
	want(t, s, "SET a 1", "+OK", "WAIT 1 1", ":0", "WAIT 1 0", ":1")
}

// TestRefusedWatch has a WATCH that is refused change nothing.
func TestRefusedWatch(t *testing.T) {
	c := newCluster(t, 2, 2, nil)
	const refused = "-ERR watch is not possible: the set is spread over 2 partitions"
	for _, n := range c.nodes {
		s := n.session(t)
		want(t, s, "EB.CREATE {a}x SHARDS 2", "+OK", "WATCH {a}x", refused, "WATCH b", "+OK", "MULTI", "+OK", "SET b 1", "+QUEUED", "EXEC", "*1\r\n+OK",
			"WATCH a", "+OK", "WATCH {a}x", refused, "WATCH b", "-"+crossSlot, "MULTI", "+OK", "SET a 1", "+QUEUED", "EXEC", "*1\r\n+OK",
			"WATCH a", "+OK", "WATCH {a}x", refused, "SET a 2", "+OK", "MULTI", "+OK", "SET a 3", "+QUEUED", "EXEC", "*-1", "DEL a b {a}x", ":3")
	}
}

// TestKeyIsMissing has a row of the table allow a command without its key.
func TestKeyIsMissing(t *testing.T) {
	n := newCluster(t, 1, 2, nil).nodes[0]
	ping, compact := n.node.call("PING").cmd, n.node.call("CF.COMPACT").cmd
	compact.Arity, compact.Run = -1, ping.Run
	want(t, n.session(t), "CF.COMPACT", "+PONG", "MULTI", "+OK", "CF.COMPACT", "+QUEUED", "EXEC", "*1\r\n+PONG")
}

// TestDo runs commands without a connection.
func TestDo(t *testing.T) {
	c := newCluster(t, 2, 2, nil)
	user, err := c.nodes[0].home.Named("default")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a", "b"} {
		reply, err := c.nodes[0].node.Do(user, "console", [][]byte{[]byte("SET"), []byte(key), []byte("1")})
		if err != nil || string(reply) != "+OK\r\n" {
			t.Errorf("%q, %v", reply, err)
		}
	}
	if reply, err := c.nodes[0].node.Do(user, "console", args("WAIT 9 0")); err != nil || string(reply) != ":1\r\n" {
		t.Errorf("%q, %v", reply, err)
	}
}

// TestUsers has permissions hold for all partitions, and a leader that does not know a user
// refuse it.
func TestUsers(t *testing.T) {
	token, ann, err := command.NewToken("ann", "write", "a*")
	_, bob, err2 := command.NewToken("bob", "write", "*")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	with := func(lines ...string) *testCluster {
		return newCluster(t, 2, 2, func(c *Config) {
			if c.Home.Users, err = command.ReadUsers(strings.NewReader(lines[0])); err != nil {
				t.Fatal(err)
			}
			lines = lines[1:]
		})
	}
	s := with(ann, ann).nodes[0].session(t)
	denied := "-NOPERM No permissions to access a key"
	want(t, s,
		"SET a 1", "-NOAUTH Authentication required.", "DBSIZE", "-NOAUTH Authentication required.", "CLUSTER SLOTS", "-NOAUTH Authentication required.",
		"AUTH ann "+token, "+OK", "SET a 1", "+OK", "SET b 1", denied, "DEL a b", denied, "EXISTS a", ":1", "FLUSHALL", "-NOPERM User ann has no permissions to run the 'flushall' command",
		"MULTI", "+OK", "SET b 1", denied, "DISCARD", "+OK",
	)
	s = with(ann, bob).nodes[0].session(t)
	want(t, s, "AUTH ann "+token, "+OK", "SET a 1", "-NOPERM the node that leads the partition has no user ann: give all nodes the same file of users")
}

// TestMemoryIsThatOfTheNode has a partition refuse what another one left no memory for.
func TestMemoryIsThatOfTheNode(t *testing.T) {
	c := newCluster(t, 1, 2, nil)
	s := c.nodes[0].session(t)
	want(t, s, "BF.RESERVE a 0.01 100000", "+OK")
	full := c.stores[1].Bytes()
	c.nodes[0].home.MaxMemory = func() int64 { return full - 1 }
	want(t, s, "BF.ADD b x", "-OOM command not allowed when used memory > 'maxmemory'.")
	replies, err := run(s, "INFO")
	if err != nil || !strings.Contains(replies[0], fmt.Sprint("used_memory:", full)) || !strings.Contains(replies[0], "keys=1,") || !strings.Contains(replies[0], "cluster_enabled:1") {
		t.Errorf("%q, %v", replies, err)
	}
	c.nodes[0].home.MaxMemory = func() int64 { return full + 1 }
	want(t, s, "BF.ADD b x", ":1")
}
