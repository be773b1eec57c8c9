package load

import (
	"bufio"
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

// echo answers each seventh line, with which a command of three words ends, or QUIT.
func echo(t *testing.T, line string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				r := bufio.NewReader(conn)
				for n := 1; ; n++ {
					got, err := r.ReadString('\n')
					if err != nil {
						return
					}
					if strings.HasPrefix(got, "QUIT") {
						conn.Write([]byte(line))
						conn.Close()
						return
					}
					if n%7 == 0 {
						conn.Write([]byte(line))
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

func TestRun(t *testing.T) {
	c := Config{Connections: 3, Pipeline: 4, Duration: 50 * time.Millisecond, Items: 10}
	r, err := Run(t.Context(), c, Target{Name: "echo", Addr: echo(t, ":1\r\n"), Command: "ADD k {item}"})
	if err != nil || r.Operations == 0 || r.Operations%4 != 0 || r.Latency(0.5) <= 0 || r.Rate() <= 0 || r.PerCPU() != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Run(t.Context(), c, Target{Name: "echo", Addr: echo(t, "-ERR no\r\n"), Command: "ADD k {item}"}); err == nil || !strings.Contains(err.Error(), "-ERR no") {
		t.Error("an error is taken for an answer:", err)
	}
	failing := Target{Name: "echo", Addr: echo(t, "-ERR no\r\n"), Prepare: "ADD k x"}
	if err := Prepare(t.Context(), c, failing); err == nil {
		t.Error("a server that refuses is taken to be prepared")
	}
	for _, prepare := range []string{"", "ADD k x", "ADD k {item}"} {
		if err := Prepare(t.Context(), c, Target{Name: "echo", Addr: echo(t, ":1\r\n"), Prepare: prepare}); err != nil {
			t.Errorf("%q: %v", prepare, err)
		}
	}
	if got := string(appendCommand(nil, []string{"A", "x{item}"}, 12)); got != "*2\r\n$1\r\nA\r\n$3\r\nx12\r\n" {
		t.Errorf("%q", got)
	}
}

// TestRunEnds has a server that answers nothing, and a caller that gives up.
func TestRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	c := Config{Connections: 2, Pipeline: 1, Duration: time.Hour}
	if _, err := Run(ctx, c, Target{Addr: echo(t, ""), Command: "ADD k x"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestInfoCPU(t *testing.T) {
	used, err := InfoCPU(echo(t, "used_cpu_sys:1.5\r\nused_cpu_user:2.25\r\n"))()
	if err != nil || used != 3750*time.Millisecond {
		t.Errorf("%v %v", used, err)
	}
}
