package server

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/internal/effort"
)

var largeKeys = flag.Int("large-keys", effort.Pick(0, 2_000_000), "keys of the set in TestLargeSet; 0 means that it is skipped")

// TestLargeSet spreads one set over servers that hold only what they lead, and kills one of
// them. All keys stay, and each server holds its share.
func TestLargeSet(t *testing.T) {
	if *largeKeys == 0 {
		t.Skip("a set over three servers: run with -large-keys 2000000, or in the long form")
	}
	c := newTrial(t, 15, "copies", "1")
	c.ways = nil // proxies take time
	c.start(0, 1, 2)
	c.spread(5)
	l := largeSet{c, *largeKeys}
	c.must(0, "EB.CREATE", "big", "ITEMS", fmt.Sprint(l.keys), "FPR", "1%", "SHARDS", "15")
	started := time.Now()
	l.each(1, "BF.MADD", func(int, string) {})
	took := time.Since(started)
	t.Logf("%d keys in %v: %.0f/s", l.keys, took.Round(time.Second), float64(l.keys)/took.Seconds())
	l.shares()
	l.query()

	c.kill(2)
	started = time.Now()
	l.reach()
	t.Logf("a server is killed: all keys are there after %v", time.Since(started).Round(time.Millisecond))
	c.start(2)
	c.spread(5)
	l.shares()
	l.query()
}

// spread waits until all servers lead and hold so many partitions.
func (c *trial) spread(each int) {
	c.t.Helper()
	c.until("partitions are spread", func() error {
		s, err := c.status(0)
		if err != nil {
			return err
		}
		uneven, text := len(s.Nodes) != len(c.nodes), ""
		for _, o := range s.Nodes {
			uneven = uneven || o.Leading() != each || o.holding() != each
			text += fmt.Sprintf(" %s leads %d and holds %d,", o.Node, o.Leading(), o.holding())
		}
		if uneven {
			return errors.New(text)
		}
		return nil
	})
}

// A largeSet is the set of TestLargeSet. Its keys are numbers.
type largeSet struct {
	*trial
	keys int
}

// perCommand is how many keys a command has.
const perCommand = 10_000

// each sends all keys, or one block of them of so many, over connections to all servers, and
// reads what each command answers.
func (l largeSet) each(every int, verb string, reply func(first int, text string)) {
	l.t.Helper()
	blocks := make(chan int)
	var wg sync.WaitGroup
	for worker := range 6 {
		a, err := l.newAsker(worker % len(l.nodes))
		if err != nil {
			l.t.Fatal(err)
		}
		wg.Go(func() {
			defer a.conn.Close()
			words := []string{verb, "big"}
			for first := range blocks {
				words = words[:2]
				for k := first; k < first+perCommand; k++ {
					words = append(words, fmt.Sprint(k))
				}
				text, err := a.do(words...)
				if err != nil || strings.Contains(text, "-") {
					l.t.Errorf("%s of %d: %s %v", verb, first, text, err)
				}
				reply(first, text)
			}
		})
	}
	for first := 0; first < l.keys; first += perCommand * every {
		blocks <- first
		if first/perCommand%1000 == 0 && first > 0 {
			l.t.Logf("%s: %d keys", verb, first)
		}
	}
	close(blocks)
	wg.Wait()
}

// shares checks that each server has its share of the memory.
func (l largeSet) shares() {
	l.t.Helper()
	s, err := l.status(0)
	if err != nil {
		l.t.Fatal(err)
	}
	var total int64
	for _, o := range s.Nodes {
		total += o.Bytes()
	}
	for i, o := range s.Nodes {
		l.t.Logf("%s: %d bytes of %d, %.3f; %s", o.Node, o.Bytes(), total, float64(o.Bytes())/float64(total), l.nodes[i].resident())
		if o.Bytes()*3*10 > total*11 {
			l.t.Errorf("%s has more than a third and a tenth", o.Node)
		}
	}
}

// query asks for keys that are there, and for some that are not.
func (l largeSet) query() {
	l.t.Helper()
	every := max(1, l.keys/5_000_000)
	l.each(every, "BF.MEXISTS", func(first int, text string) {
		if strings.Contains(text, ":0") {
			l.t.Errorf("a key of %d… is lost", first)
		}
	})
	a, err := l.newAsker(0)
	if err != nil {
		l.t.Fatal(err)
	}
	defer a.conn.Close()
	const asked = 200_000
	found := 0
	for first := 0; first < asked; first += perCommand {
		words := []string{"BF.MEXISTS", "big"}
		for k := range perCommand {
			words = append(words, fmt.Sprint("absent", first+k))
		}
		text, err := a.do(words...)
		if err != nil {
			l.t.Fatal(err)
		}
		found += strings.Count(text, ":1")
	}
	l.t.Logf("%d of %d keys that were not added are found", found, asked)
	if found > asked*12/1000 {
		l.t.Error("more than 1 %")
	}
}

// reach waits until keys of all parts are there.
func (l largeSet) reach() {
	l.t.Helper()
	words := []string{"BF.MEXISTS", "big"}
	for k := range perCommand {
		words = append(words, fmt.Sprint(k))
	}
	l.until("all keys are there", func() error {
		text, err := l.ask(0, words...)
		switch {
		case err != nil:
			return err
		case strings.Contains(text, "-"):
			return fmt.Errorf("%s", text[:min(len(text), 200)])
		case strings.Contains(text, ":0"):
			l.t.Fatal("a key is lost")
		}
		return nil
	})
}

// resident returns the memory of a server's process as Linux tells it.
func (n *trialNode) resident() string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.run.(outsider).Pid))
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	line, _, _ := strings.Cut(rest, "\n")
	return "process " + strings.TrimSpace(line)
}
