package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/everbloom-go/everbloom/server"
	life "github.com/everbloom-go/everbloom/server/demo"
)

var errDemoUsers = errors.New("--demo: the server must have no users, since the demo has no token")

// demonstrate serves with made-up life: in memory if no folder is named, and with a gate of its
// own if none is.
func (s *serve) demonstrate(ctx context.Context, settings *server.Settings, logger *slog.Logger) error {
	if settings.Get("users") != "" {
		return errDemoUsers
	}
	var errs []error
	if settings.Get("dir") == "" {
		errs = append(errs, settings.Set("log", "memory"))
	}
	folder, err := os.MkdirTemp("", "everbloom-demo")
	if err != nil {
		return &failure{err}
	}
	defer func() { _ = os.RemoveAll(folder) }() // the system removes it some time
	ownGate := settings.Get("gate") == ""
	if ownGate {
		errs = append(errs, settings.Set("gate", filepath.Join(folder, "gate")))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var parts sync.WaitGroup
	defer parts.Wait()
	defer cancel()
	return s.serve(ctx, settings, logger, func(srv *server.Server) {
		run := func(part func(context.Context, string) error, where string) {
			parts.Go(func() {
				if err := part(ctx, where); err != nil && ctx.Err() == nil {
					logger.Warn("a part of the demo ended", "error", err)
				}
			})
		}
		run(life.Run, srv.Addr().String())
		if ownGate {
			run(life.Gate, settings.Get("gate"))
		}
	})
}
