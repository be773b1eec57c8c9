package server

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/cluster"
	"github.com/everbloom-go/everbloom/server/internal/cluster/clustertest"
	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/resp"
	"github.com/everbloom-go/everbloom/server/load"
)

// runBare serves nothing but the log of a cluster: the first member answers every command once
// a record with its last word is stored three times. Of that, a server can reach a share.
func runBare(config memberConfig) error {
	var peers []cluster.Peer
	for i, addr := range config.Bare {
		peers = append(peers, cluster.Peer{Name: clustertest.Name(i), Addr: addr})
	}
	ctx := context.Background()
	c, err := cluster.Start(ctx, cluster.Config{
		Name: config.Settings["member"], Dir: config.Settings["dir"], Cache: filepath.Join(config.Settings["dir"], "cache"),
		Peers: peers, Secret: localSecret, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	fmt.Println("open")
	if config.Settings["member"] != clustertest.Name(0) {
		select {}
	}
	l, err := c.Log(ctx, 0)
	if err != nil {
		return err
	}
	if err := c.Draw(ctx, 0); err != nil {
		return err
	}
	front, err := net.Listen("tcp", config.Settings["addr"])
	if err != nil {
		return err
	}
	waiting := make(chan bareCommand, 1<<16)
	go commitBare(ctx, l, waiting)
	for {
		conn, err := front.Accept()
		if err != nil {
			return err
		}
		go serveBare(conn, waiting)
	}
}

// A bareCommand is one that waits for its record.
type bareCommand struct {
	word []byte
	done chan struct{}
}

// commitBare appends what waits as one record, again and again.
func commitBare(ctx context.Context, l log.Shared, waiting <-chan bareCommand) {
	last, err := l.Last(ctx)
	var batch []bareCommand
	for err == nil {
		batch = append(batch[:0], <-waiting)
		for len(waiting) > 0 && len(batch) < 1<<14 {
			batch = append(batch, <-waiting)
		}
		var entry []byte
		for _, one := range batch {
			entry = append(entry, one.word...)
		}
		last, err = l.Append(ctx, last, entry)
		for _, one := range batch {
			one.done <- struct{}{}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// serveBare answers the commands of a connection.
func serveBare(conn net.Conn, waiting chan<- bareCommand) {
	defer conn.Close()
	r, done := resp.NewReader(conn, resp.Standard()), make(chan struct{}, 1)
	w := bufio.NewWriter(conn)
	for r.Fill() == nil {
		for {
			args, err := r.Next()
			if err != nil {
				return
			}
			if args == nil {
				break
			}
			waiting <- bareCommand{args[len(args)-1], done}
			<-done
			_, _ = w.WriteString(":1\r\n")
		}
		if w.Flush() != nil {
			return
		}
	}
}

// measureWriters compares 500 connections that add to one set with as many that write to the
// log alone.
func (c *trial) measureWriters() {
	c.t.Helper()
	bare := newTrial(c.t, 1)
	for _, n := range bare.nodes {
		bare.bare = append(bare.bare, n.peerAddr)
	}
	bare.start(0, 1, 2)
	leader := c.leader(0, 0)
	config := load.Config{Connections: 500, Pipeline: 1, Duration: 3 * time.Second, Items: 1 << 40}
	targets := []load.Target{
		{Name: "everbloom", Addr: c.nodes[leader].addr, Command: "BF.ADD " + c.key("many", 0) + " {item}"},
		{Name: "bare", Addr: bare.nodes[0].addr, Command: "BF.ADD many {item}"},
	}
	var rates [2]float64
	for round := range 8 {
		var now [2]float64
		for i, t := range targets {
			config.Seed++
			r, err := load.Run(c.t.Context(), config, t)
			if err != nil {
				c.t.Fatal(err)
			}
			now[i] = r.Rate()
			if round > 0 { // the first one fills caches
				rates[i] += r.Rate() / 7
			}
		}
		c.t.Logf("500 writers: %.0f/s, bare %.0f/s: %.2f", now[0], now[1], now[0]/now[1])
	}
	c.t.Logf("500 writers: %.0f/s, bare %.0f/s: %.2f", rates[0], rates[1], rates[0]/rates[1])
}
