package cluster_test

import (
	"context"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/cluster/clustertest"
	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/log/logtest"
)

// testContext ends long after everything should have happened.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestLog(t *testing.T) {
	w := clustertest.New(t, 3)
	w.StartAll()
	logtest.Run(t, func(t *testing.T) log.Log {
		t.Helper()
		l, err := w.Node(0).Log(testContext(t), 7)
		if err != nil {
			t.Fatal(err)
		}
		return l
	})
}
