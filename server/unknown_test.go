package server

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/server/internal/log"
)

// TestUnknownIsNotRunAgain has a command be stored without an answer of the log: the client is told
// nothing, and the command was carried out once.
func TestUnknownIsNotRunAgain(t *testing.T) {
	s := start(t, "log", "memory", "cf-kind", "evergreen")
	c := dial(t, s.Addr().String())
	c.do("CF.ADD", "set", "before")
	faults := []log.Fault{log.StoredUnknown}
	s.first().log.(*log.Memory).Fault = func(uint64) (f log.Fault) {
		if len(faults) > 0 {
			f, faults = faults[0], faults[1:]
		}
		return f
	}
	if _, err := c.conn.Write(encode("CF.ADD", "set", "x")); err != nil {
		t.Fatal(err)
	}
	if reply, err := readReply(c.r); !errors.Is(err, io.EOF) {
		t.Fatal("it was answered:", reply, err)
	}
	c = dial(t, s.Addr().String())
	for strings.HasPrefix(c.do("CF.ADD", "set", "after"), "-") { // until the end of the log is read
	}
	if got := c.do("CF.COUNT", "set", "x") + c.do("CF.COUNT", "set", "after"); got != ":1:1" {
		t.Error(got)
	}
}
