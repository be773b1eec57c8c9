package cluster

import (
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/nats-io/nats.go"
)

// TestTwice has two nodes of one name that started at the same moment: a node that hears both
// knows, and one that was started again is not taken for two.
func TestTwice(t *testing.T) {
	c := newCluster(Config{Name: "n1", Logger: slog.New(slog.DiscardHandler)})
	c.nodes.heard = make(map[string]Node)
	for i, instance := range []string{"a", "a", "b", "b", "a"} {
		b, err := json.Marshal(announcement{Name: "n2", Instance: instance})
		if err != nil {
			t.Fatal(err)
		}
		c.hear(&nats.Msg{Data: b})
		if twice := !c.Members()[0].Twice.IsZero(); twice != (i == 4) {
			t.Errorf("announcement %d: two nodes: %t", i, twice)
		}
	}
}
