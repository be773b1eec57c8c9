package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/internal/quantity"
	"github.com/everbloom-go/everbloom/server"
	"github.com/everbloom-go/everbloom/server/transfer"
)

// importVerb copies the filters of a server.
type importVerb struct {
	*env
	transfer.Config
	dir string
}

func newImport(e *env) *cobra.Command {
	i := &importVerb{env: e}
	cmd := &cobra.Command{
		Use:     "import SOURCE (--to URL | --dir DIR)",
		GroupID: groupServe,
		Short:   "Copy all filters of a RedisBloom server",
		Long: `Copy all Bloom and cuckoo filters of a Redis server with RedisBloom, bit by bit
and with their time to live, into an everbloom server that runs, or into the
folder of one that does not. The source may be an everbloom server, too, a node
of a cluster, or the folder of a server that does not run. Keys of other types
are counted and not copied.

A URL is redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE], or rediss:// for TLS.
Stop the writers first: items that are added to a filter while it is copied may
be missing from the copy. An import that was interrupted goes on if it is run
again: filters that are there are kept.`,
		Example: `  everbloom import redis://10.0.0.7:6379 --to redis://127.0.0.1:6379
  everbloom import redis://10.0.0.7 --dir data
  everbloom import data --to redis://n1.example.org:6379
  everbloom import rediss://bob:secret@cache.example.org --dir data --replace`,
		Args: cobra.MatchAll(cobra.MaximumNArgs(1), atLeast(1, "the server to copy, such as redis://127.0.0.1:6379")),
		RunE: verb(i.run),
	}
	f := cmd.Flags()
	f.StringVar(&i.To, "to", "", "copy into the everbloom server at `URL`")
	f.StringVar(&i.dir, "dir", "", "copy into the folder `DIR`, which no server uses")
	f.BoolVar(&i.Replace, "replace", false, "replace keys that are there")
	cmd.MarkFlagsOneRequired("to", "dir")
	cmd.MarkFlagsMutuallyExclusive("to", "dir")
	return cmd
}

func (i *importVerb) run(ctx context.Context, args []string) (err error) {
	i.From = args[0]
	if !strings.Contains(i.From, "://") {
		if _, err := os.Stat(filepath.Join(i.From, "mode")); err != nil {
			return fmt.Errorf("%s is neither a URL such as redis://127.0.0.1:6379 nor the folder of a server", i.From)
		}
		stop, err := i.open(ctx, i.From, &i.From)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	if i.dir != "" {
		stop, err := i.open(ctx, i.dir, &i.To)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	return i.copyAll(ctx)
}

// copyAll copies the filters and says how many.
func (i *importVerb) copyAll(ctx context.Context) error {
	sum, err := transfer.Copy(ctx, i.Config)
	done := fmt.Sprintf("filters copied: %s, %s", quantity.Count(uint64(sum.Copied)), quantity.Bytes(float64(sum.Bytes)))
	switch {
	case errors.Is(err, context.Canceled):
		return &partial{err, done + ": run it again to go on"}
	case err != nil:
		return fmt.Errorf("%w (%s)", err, done)
	}
	if sum.Kept > 0 {
		i.say("kept, because the destination has them: %s; replace them with --replace", quantity.Keys(uint64(sum.Kept)))
	}
	if sum.Other > 0 {
		i.say("not copied, because they are no filters: %s", quantity.Keys(uint64(sum.Other)))
	}
	if _, err := fmt.Fprintln(i.stdout, done); err != nil {
		return err
	}
	if n := len(sum.Refused); n > 0 {
		return fmt.Errorf("not copied, because the destination cannot read them: %s: %q; their items must be added anew", quantity.Keys(uint64(n)), sum.Refused[:min(n, 10)])
	}
	return nil
}

// open serves a folder to the copy, and says where.
func (i *importVerb) open(ctx context.Context, dir string, url *string) (stop func() error, err error) {
	settings := server.NewSettings()
	for name, value := range map[string]string{"dir": dir, "addr": "127.0.0.1:0", "http": "off"} {
		if err := settings.Set(name, value); err != nil {
			return nil, err
		}
	}
	srv, err := server.Open(ctx, settings, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	*url = "redis://" + srv.Addr().String()
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() { done <- srv.Serve(serving) }()
	return func() error {
		cancel()
		return <-done
	}, nil
}
