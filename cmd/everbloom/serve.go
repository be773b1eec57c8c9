package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/everbloom-go/everbloom/internal/fault"
	"github.com/everbloom-go/everbloom/internal/quantity"
	"github.com/everbloom-go/everbloom/server"
)

// serve runs a server.
type serve struct {
	*env
	config string
	check  bool
	demo   bool
	flags  *pflag.FlagSet
}

func newServe(e *env) *cobra.Command {
	s := &serve{env: e}
	cmd := &cobra.Command{
		Use:     "serve --dir DIR",
		GroupID: groupServe,
		Short:   "Serve sets over the Redis protocol",
		Long: `Serve sets to every client of Redis: BF.* and CF.* as RedisBloom has them, and
EB.*, everbloom's own. What the server has acknowledged is on disk.

Every setting is a flag, a variable such as EVERBLOOM_MAXMEMORY, and a line of
the file that --config names; flags win over variables and variables over the
file. Without --users the server can be reached from this machine only.`,
		Example: `  everbloom serve --dir data
  everbloom serve --dir data --addr 127.0.0.1:7000 --maxmemory 4GiB
  everbloom serve --dir data --addr :6379 --users users.txt
  everbloom serve --dir data --check
  everbloom serve --demo`,
		Args: noArguments("name the folder with --dir"),
		RunE: verb(s.run),
	}
	s.flags = cmd.Flags()
	s.flags.StringVar(&s.config, "config", "", "take settings from `FILE`, a name and a value on each line")
	s.flags.BoolVar(&s.check, "check", false, "read everything in the folder, which must be writable, say what is there, and end")
	s.flags.BoolVar(&s.demo, "demo", false, "fill sets and a gate with made-up life, to look at in the console; without --dir nothing is kept")
	for _, row := range server.SettingTable() {
		if !row.Fixed {
			s.flags.Var(&settingFlag{row, row.Default}, row.Name, row.Help)
			if choices := strings.Split(row.Type(), "|"); len(choices) > 1 {
				complete(cmd, row.Name, choices...)
			}
		}
	}
	return cmd
}

// settingFlag is a flag that is a setting.
type settingFlag struct {
	row  server.Setting
	text string
}

// Set implements pflag.Value.
func (f *settingFlag) Set(text string) error {
	f.text = text
	return f.row.Check(text)
}

// Type implements pflag.Value.
func (f *settingFlag) Type() string { return f.row.Type() }

func (f *settingFlag) String() string { return f.text }

// run serves until the process is told to end.
func (s *serve) run(ctx context.Context, _ []string) error {
	settings, err := s.settings()
	if err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(s.stderr, nil))
	if s.check {
		return s.verify(ctx, settings, logger)
	}
	if s.demo {
		return s.demonstrate(ctx, settings, logger)
	}
	return s.serve(ctx, settings, logger, func(*server.Server) {})
}

// serve opens a server, greets, and serves. before is called when it is open.
func (s *serve) serve(ctx context.Context, settings *server.Settings, logger *slog.Logger, before func(*server.Server)) error {
	srv, err := server.Open(ctx, settings, logger)
	if err != nil {
		return &failure{err}
	}
	s.greet(srv)
	before(srv)
	if err := srv.Serve(ctx); err != nil {
		return &failure{err}
	}
	return nil
}

// verify reads a folder and says what is there.
func (s *serve) verify(ctx context.Context, settings *server.Settings, logger *slog.Logger) error {
	found, err := server.Check(ctx, settings, logger)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.stdout, "%s: in order: %s keys, %s, %s records\n", settings.Get("dir"),
		quantity.Count(uint64(found.Keys)), quantity.Bytes(float64(found.Bytes)), quantity.Count(found.Records))
	return err
}

// settings puts the settings together.
func (s *serve) settings() (*server.Settings, error) {
	settings := server.NewSettings()
	if s.config != "" {
		f, err := os.Open(s.config)
		if err != nil {
			return nil, within(s.config, "%w", systemReason(err))
		}
		defer func() { _ = f.Close() }() // it was only read
		if err := settings.FromFile(f); err != nil {
			return nil, within(s.config, "%s", fault.Text(err))
		}
	}
	err := settings.FromEnvironment(os.LookupEnv)
	s.flags.Visit(func(f *pflag.Flag) {
		if f.Name != "config" && f.Name != "check" && f.Name != "demo" {
			err = errors.Join(err, settings.Set(f.Name, f.Value.String()))
		}
	})
	return settings, err
}

// greet says where the server listens and how to try it.
func (s *serve) greet(srv *server.Server) {
	host, port, err := net.SplitHostPort(srv.Addr().String())
	if err != nil {
		return
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	_, _ = fmt.Fprintf(s.stdout, "everbloom serves at %s. Try:\n  redis-cli -h %s -p %s BF.ADD visitors alice\n  redis-cli -h %s -p %s BF.EXISTS visitors alice\n",
		srv.Addr(), host, port, host, port)
	if addr := srv.WebAddr(); addr != nil {
		_, _ = fmt.Fprintf(s.stdout, "The console is at http://%s/console/, numbers are at http://%s/metrics.\n", addr, addr)
	}
}

// token makes a token for a user of a server.
type token struct {
	*env
	role, prefix string
}

func newToken(e *env) *cobra.Command {
	t := &token{env: e}
	cmd := &cobra.Command{
		Use:     "token NAME",
		GroupID: groupServe,
		Short:   "Make a token for a user of a server",
		Long: `Make a random token, and the line that a file of users needs for it. The token
is what the client gives as its password; the file has only its hash.`,
		Example: `  everbloom token alice --role write --prefix shop: >> users.txt
  everbloom token root --role admin >> users.txt`,
		Args: cobra.MatchAll(cobra.MaximumNArgs(1), atLeast(1, "the user")),
		RunE: verb(t.run),
	}
	cmd.Flags().StringVar(&t.role, "role", "write", "what the user may do, as `ROLE`: read, write or admin")
	cmd.Flags().StringVar(&t.prefix, "prefix", "*", "let the user see only keys that begin with `PREFIX`; * means all keys")
	complete(cmd, "role", "read", "write", "admin")
	return cmd
}

func (t *token) run(_ context.Context, args []string) error {
	secret, line, err := server.NewToken(args[0], t.role, t.prefix)
	if err != nil {
		return err
	}
	t.say("the token of %s, shown once: %s", args[0], secret)
	_, err = fmt.Fprintln(t.stdout, line)
	return err
}
