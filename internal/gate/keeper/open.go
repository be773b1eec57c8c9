package keeper

import (
	"cmp"
	"errors"
	"net/netip"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/fault"
	"github.com/everbloom-go/everbloom/internal/gate/event"
	"github.com/everbloom-go/everbloom/internal/gate/logs"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
	"github.com/everbloom-go/everbloom/internal/replace"
)

// Open makes a gate and takes in its state, if there is one.
func Open(c Config, g gate.Config) (*Keeper, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Growth = cmp.Or(c.Growth, 1)
	if !(c.Growth >= 1 && c.Growth <= 100) || c.BanFor < 0 || c.BanMax < 0 {
		return nil, fault.In("keeper", "bans last %v, growing by %g, at most %v: must not be negative, and grow by 1 to 100", c.BanFor, c.Growth, c.BanMax)
	}
	k := &Keeper{
		config: c, bans: map[netip.Prefix]*Ban{}, past: map[netip.Prefix]past{}, excepted: map[netip.Prefix]bool{}, positions: map[string]logs.Position{}, pruneAt: minPruned,
		black: &packets.List{}, white: &packets.List{}, listeners: map[chan event.Event]bool{}, started: c.Now(),
	}
	if g.Patterns != nil {
		for _, p := range g.Patterns.Patterns() {
			k.names = append(k.names, p.Name)
		}
	}
	if err := k.holdState(); err != nil {
		return nil, err
	}
	if err := k.load(g); err != nil {
		return nil, errors.Join(err, k.Close())
	}
	return k, nil
}

// holdState keeps other gates from the state until Close.
func (k *Keeper) holdState() (err error) {
	if k.config.State == "" {
		return nil
	}
	k.lock, err = replace.Hold(k.config.State + ".lock")
	switch {
	case errors.Is(err, replace.ErrHeld):
		return fault.In("keeper", "state %s: another gate keeps its state there: name another file", k.config.State)
	case errors.Is(err, replace.ErrNoLocks):
		return nil
	}
	return err
}

// load makes the gate and takes in its state.
func (k *Keeper) load(g gate.Config) error {
	saved, err := readState(k.config.State)
	if err != nil {
		return fault.In("keeper", "state %s: %w", k.config.State, err)
	}
	if saved != nil && g.Hash == (filter.Hash{}) {
		g.Hash = saved.hash
	}
	memory := g.Memory
	k.reserve(&g)
	if k.engine, err = gate.New(g); err != nil {
		return enough(err, memory)
	}
	if err := k.restore(saved); err != nil {
		return fault.In("keeper", "state %s: %w", k.config.State, err)
	}
	return k.openJournal()
}
