package demo

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/gate/control"
	"github.com/everbloom-go/everbloom/internal/gate/keeper"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
	"github.com/everbloom-go/everbloom/internal/gate/traffic"
)

// The traffic of the gate.
const (
	sources        = 20_000
	evil           = 0.02
	packetsPerTick = 150
	banFor         = 2 * time.Minute
)

// Gate runs a gate behind a socket, which judges generated packets, until ctx ends.
func Gate(ctx context.Context, socket string) error {
	made, err := traffic.New(traffic.Config{Seed: 7, Packets: 1 << 62, Users: sources, Evil: evil, Skew: 1.2})
	if err != nil {
		return err
	}
	automaton, err := pattern.Compile(made.Patterns())
	if err != nil {
		return err
	}
	k, err := keeper.Open(keeper.Config{BanFor: banFor, Growth: 2}, gate.Config{Users: sources, Patterns: automaton, Blacklist: made.Blacklist()})
	if err != nil {
		return err
	}
	l, err := control.Listen(socket)
	if err != nil {
		return errors.Join(err, k.Close())
	}
	s := &control.Server{Keeper: k, Source: "made-up packets", Enforcer: "nothing", Done: ctx.Done()}
	h := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- h.Serve(l) }()
	go k.Tend(ctx, time.Hour, true, func(error) {}) // there is no state to be saved
	err = judge(ctx, k, made)
	_ = h.Close() // streams end with it
	<-served
	return errors.Join(err, k.Close())
}

// judge judges packets until ctx ends.
func judge(ctx context.Context, k *keeper.Keeper, made *traffic.Generator) error {
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	for {
		for range packetsPerTick {
			var p packets.Packet
			if err := made.Read(&p); err != nil {
				return err
			}
			p.At = time.Now().UnixNano()
			k.Judge(&p, "demo")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
	}
}
