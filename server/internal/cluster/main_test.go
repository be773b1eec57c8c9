package cluster_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain runs several tests at once: they wait for elections and disks most of the time.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
